import { type ChangedPart, type EventDescriptions, memberParts, type RecordedKind } from '../../kernel/kind.js';
import { isOpen, type RequestEvent, type RequestState, type RequestSummary } from './change-request.js';

/** The parents of requests: a poll reads only the open ones. */
export const [OPEN, ENDED] = ['open', 'ended'] as const;

export function toSummary({ v: _v, changes: _changes, hash: _hash, contents: _contents, ...summary }: RequestState) {
  return summary satisfies RequestSummary;
}

type NameOf<Data> = Data extends unknown ? keyof Data : never;

/** The members of events that a difference shows. The others never change. */
const IS_SHOWN: Readonly<Record<NameOf<RequestEvent['data']>, boolean>> = {
  id: true,
  state: true,
  author: false,
  ops: false,
  flags: false,
  flagCount: false,
  environments: false,
  at: true,
  projects: false,
  decision: true,
  endedAt: true,
  lateBy: true,
  changeSet: true,
  failure: true,
};

function requestParts(event: RequestEvent): readonly ChangedPart[] {
  return memberParts(event, (name) => IS_SHOWN[name as keyof typeof IS_SHOWN] !== false);
}

const requestEvents: EventDescriptions<RequestEvent, never> = {
  'change-request-created': { parts: requestParts, spans: true },
  'change-request-decided': { parts: requestParts, spans: true, shrinks: true },
  'change-request-ended': { parts: requestParts, spans: true, shrinks: true },
};

/** Without a history: an undo never restores a request. */
export const requestDocuments: RecordedKind<RequestState, RequestEvent, never> = {
  kind: 'change-request',
  events: requestEvents,
  smaller: 'make several requests of fewer changes',
  isInProjects: false,
  cannotUndo: 'change requests, which cannot be undone; withdraw the request, or make another one.',
  parentOf: ({ state }) => (isOpen(state) ? OPEN : ENDED),
  projectOf: ({ projects }) => (projects.length === 1 ? (projects[0] ?? null) : null),
  summarize: toSummary,
};
