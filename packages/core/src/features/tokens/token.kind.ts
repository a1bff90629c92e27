import type { DomainEvent } from '../../base/domain-event.js';
import { isObject } from '../../base/json.js';
import { type EventDescriptions, type Kind, memberParts } from '../../kernel/kind.js';
import type { StoredToken, TokenState } from './token.js';

type TokenExpiry = Pick<TokenState, 'expiresAt' | 'replacedBy'>;

export type TokenEvent =
  | DomainEvent<'token-created', TokenState, null>
  | DomainEvent<'token-updated', TokenExpiry, TokenExpiry>
  | DomainEvent<'token-deleted', null, TokenState>;

/** Applies an event. Returns undefined for a deleted token. */
function evolveToken(token: TokenState | undefined, event: TokenEvent): TokenState | undefined {
  if (event.type === 'token-deleted') return undefined;
  if (event.type === 'token-created') return event.data;
  return token && { ...token, ...event.data };
}

/** Removes the hash, for lists. */
function withoutHash({ hash: _hash, ...token }: TokenState): StoredToken {
  return token;
}

/** Removes the hash from the state of a token, and the id of the person who created it: events name people. */
function show(state: unknown): unknown {
  if (!isObject(state)) return state;
  const { hash: _hash, createdBy, ...shown } = state as Partial<TokenState>;
  return createdBy ? { ...shown, createdBy: { name: createdBy.name } } : shown;
}

/** A token of several projects belongs to none of them. */
function projectOfToken({ project, projects }: StoredToken): string | null {
  return project === '*' || projects.length > 1 ? null : project;
}

const tokenEvents: EventDescriptions<TokenEvent, never> = {
  'token-created': { parts: memberParts, isAboutAccess: true, isWhole: true, show },
  'token-updated': { parts: memberParts, isAboutAccess: true, show },
  'token-deleted': { parts: memberParts, isAboutAccess: true, isWhole: true, show },
};

/** Without a history: an undo must not restore a deleted token. */
export const tokenDocuments: Kind<TokenState, TokenEvent, never> = {
  kind: 'token',
  events: tokenEvents,
  smaller: 'name fewer projects',
  isInProjects: true,
  cannotUndo: 'API tokens, which cannot be undone; create another token.',
  show,
  evolve: evolveToken,
  parentOf: projectOfToken,
  projectOf: projectOfToken,
  summarize: (token): StoredToken => withoutHash(token),
};
