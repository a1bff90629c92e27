import type { Token } from '../api/tokens.js';
import { FlagsError } from '../errors.js';
import type { DomainEvent } from './domain-event.js';

/** A token as it is stored: one document. */
export interface TokenState extends Token {
  /** SHA-256 of the secret, in hexadecimal. The secret itself is stored nowhere. */
  readonly hash: string;
}

export type TokenEvent =
  | DomainEvent<'token-created', TokenState, null>
  | DomainEvent<'token-deleted', null, TokenState>;

/** The token after an event; undefined once it is deleted. */
export function evolveToken(_token: TokenState | undefined, event: TokenEvent): TokenState | undefined {
  return event.type === 'token-created' ? event.data : undefined;
}

export function createToken(existing: TokenState | undefined, token: TokenState): TokenEvent[] {
  if (existing) throw new FlagsError('token_exists', 'A token with this secret exists; choose another secret.');
  return [{ type: 'token-created', data: token, before: null }];
}

export function deleteToken(token: TokenState): TokenEvent[] {
  return [{ type: 'token-deleted', data: null, before: token }];
}

/** Whether the token is accepted at a time; at the moment of its expiry it no longer is. */
export function isCurrent(token: Token, now: Date): boolean {
  return token.expiresAt === null || now.getTime() < Date.parse(token.expiresAt);
}

/** What may be shown of a token: not its hash. */
export function withoutHash({ hash: _hash, ...token }: TokenState): Token {
  return token;
}
