import { FlagsError } from '../../base/errors.js';
import type { StoredToken, TokenState } from './token.js';
import type { TokenEvent } from './token.kind.js';

/** The tokens that a new token may conflict with. */
export interface TokenCreationContext {
  /** The token with the same secret. */
  readonly existing: TokenState | undefined;
  /** Whether a token with this secret was deleted. */
  readonly wasDeleted: boolean;
  /** All other tokens. */
  readonly others: readonly StoredToken[];
}

export function createToken({ existing, wasDeleted, others }: TokenCreationContext, token: TokenState): TokenEvent[] {
  const { kind, name } = token;
  if (existing) throw new FlagsError('token_exists', 'A token with this secret exists; choose another secret.');
  if (wasDeleted) {
    throw new FlagsError('token_deleted', 'The token with this secret was deleted; choose another secret.');
  }
  if (others.some((other) => other.kind === kind && other.name === name)) {
    throw new FlagsError('token_exists', `A token of kind ${kind} named ${name} exists; choose another name.`);
  }
  return [{ type: 'token-created', data: token, before: null }];
}

/** A rotation: the token and its successor. */
export interface TokenReplacement {
  readonly old: TokenState;
  readonly token: TokenState;
  /** When the old token expires at the latest. */
  readonly end: Date;
  /** All tokens. */
  readonly tokens: readonly StoredToken[];
}

/** Returns the events of each token. The old token keeps its name until it is deleted, so no other token can have it. */
export function rotateToken({ old, token, end, tokens }: TokenReplacement) {
  const { name, expiresAt, replacedBy } = old;
  if (tokens.some(({ id }) => id === replacedBy)) {
    throw new FlagsError('token_exists', `The token ${name} was rotated before; rotate its successor ${replacedBy}.`);
  }
  const isLater = expiresAt === null || Date.parse(expiresAt) > end.getTime();
  const data = { expiresAt: isLater ? end.toISOString() : expiresAt, replacedBy: token.id };
  const replaced: TokenEvent[] = [{ type: 'token-updated', data, before: { expiresAt } }];
  const created: TokenEvent[] = [{ type: 'token-created', data: token, before: null }];
  return { created, replaced };
}

/** Changes when a token expires. */
export function updateToken({ expiresAt: before }: TokenState, expiresAt: string | null): TokenEvent[] {
  return expiresAt === before ? [] : [{ type: 'token-updated', data: { expiresAt }, before: { expiresAt: before } }];
}

export function deleteToken(token: TokenState): TokenEvent[] {
  return [{ type: 'token-deleted', data: null, before: token }];
}
