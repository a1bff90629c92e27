import { type EventDescriptions, type Kind, memberParts } from '../engine/kind.js';
import type { StoredToken, TokenEvent, TokenState } from './token.js';

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

/** A token of several projects belongs to none of them. */
function projectOfToken({ project, projects }: StoredToken): string | null {
  return project === '*' || projects.length > 1 ? null : project;
}

const tokenEvents: EventDescriptions<TokenEvent, never> = {
  'token-created': { parts: memberParts, isAboutAccess: true, isWhole: true },
  'token-updated': { parts: memberParts, isAboutAccess: true },
  'token-deleted': { parts: memberParts, isAboutAccess: true, isWhole: true },
};

/** Without a history: an undo must not restore a deleted token. */
export const tokenDocuments: Kind<TokenState, TokenEvent, never> = {
  kind: 'token',
  events: tokenEvents,
  smaller: 'name fewer projects',
  cannotUndo: 'API tokens, which cannot be undone; create another token.',
  evolve: evolveToken,
  parentOf: projectOfToken,
  projectOf: projectOfToken,
  summarize: (token): StoredToken => withoutHash(token),
};
