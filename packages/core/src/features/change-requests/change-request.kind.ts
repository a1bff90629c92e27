import type { FlagRef } from '../../base/common.types.js';
import type { DomainEvent } from '../../base/domain-event.js';
import { type ChangedPart, type EventDescriptions, memberParts, type RecordedKind } from '../../kernel/kind.js';
import {
  type ChangeRequestStatus,
  isOpen,
  type OpenStatus,
  type RequestState,
  type RequestSummary,
} from './change-request.js';

/** The data of every event of a request. Events do not contain the inputs of changes and the ids of people. */
interface Told<State extends ChangeRequestStatus> {
  readonly id: string;
  readonly state: State;
  /** The name of the author. */
  readonly author: string;
  /** The operations of the changes, each once: at most ten. */
  readonly ops: readonly string[];
  /** At most ten: `flagCount` is the number of all. */
  readonly flags: readonly FlagRef[];
  readonly flagCount: number;
  readonly environments: readonly string[];
  readonly at: string | null;
  /** Absent if the request is about one project, or the instance: that of the event. */
  readonly projects?: RequestSummary['projects'];
}

type End = Pick<RequestSummary, 'endedAt' | 'lateBy' | 'changeSet' | 'failure'>;
type Before = Pick<Told<OpenStatus>, 'id' | 'state' | 'at'>;

/** The decision of an event: the request was approved, or has got another time. */
export type RequestDecision = 'approved' | 'scheduled';

export type RequestEvent =
  | DomainEvent<'change-request-created', Told<OpenStatus>, null>
  | DomainEvent<'change-request-decided', Told<OpenStatus> & { readonly decision: RequestDecision }, Before>
  | DomainEvent<'change-request-ended', Told<Exclude<ChangeRequestStatus, OpenStatus>> & End, Before>;

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
