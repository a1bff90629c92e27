import { randomBytes } from 'node:crypto';
import type { DomainEvent } from '../base/domain-event.js';
import { FlagsError } from '../errors.js';
import type { Aggregate, Documents } from '../storage/documents.js';
import type { Token } from './token.types.js';

/** The summary of a token in lists. */
export interface StoredToken extends Token {
  /** The id of the successor after a rotation. */
  readonly replacedBy?: string;
}

/** The stored state of a token: one document. */
export interface TokenState extends StoredToken {
  /** SHA-256 of the secret in hexadecimal. The secret itself is not stored. */
  readonly hash: string;
}

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

/** Returns the events of each token. Replaced tokens keep their name, so a rotation does not conflict with them. */
export function rotateToken({ old, token, end, tokens }: TokenReplacement) {
  const { name, expiresAt, replacedBy } = old;
  if (tokens.some(({ id }) => id === replacedBy)) {
    throw new FlagsError('token_exists', `The token ${name} was rotated before; rotate its successor ${replacedBy}.`);
  }
  const others = tokens.filter((other) => other.id !== old.id && other.replacedBy === undefined);
  const isEarlier = expiresAt !== null && Date.parse(expiresAt) <= end.getTime();
  const data = { expiresAt: isEarlier ? expiresAt : end.toISOString(), replacedBy: token.id };
  const replaced: TokenEvent[] = [{ type: 'token-updated', data, before: { expiresAt } }];
  return { created: createToken({ existing: undefined, wasDeleted: false, others }, token), replaced };
}

/** Changes when a token expires. */
export function updateToken({ expiresAt: before }: TokenState, expiresAt: string | null): TokenEvent[] {
  return expiresAt === before ? [] : [{ type: 'token-updated', data: { expiresAt }, before: { expiresAt: before } }];
}

export function deleteToken(token: TokenState): TokenEvent[] {
  return [{ type: 'token-deleted', data: null, before: token }];
}

/** Whether the token is for several projects, including this one. */
export function isSharedWith({ projects }: StoredToken, project: string): boolean {
  return projects.length > 1 && projects.includes(project);
}

/** Removes the hash, for lists. */
function withoutHash({ hash: _hash, ...token }: TokenState): StoredToken {
  return token;
}

/** 192 bits; at least 160 are required. */
const SECRET_BYTES = 24;

/** Creates a secret of the form `<project>:<environment>.<48 hexadecimal digits>`, with `[]` for several projects. */
export function createSecret(projects: readonly string[], environment: string): string {
  const scope = projects.length === 1 ? projects[0] : '[]';
  return `${scope}:${environment}.${randomBytes(SECRET_BYTES).toString('hex')}`;
}

export const tokenDocuments: Aggregate<TokenState, TokenEvent> = {
  kind: 'token',
  evolve: evolveToken,
  parentOf: projectOfToken,
  projectOf: projectOfToken,
  summarize: (token): StoredToken => withoutHash(token),
};

/** Written by every creation of a token, so that concurrent creations with the same name conflict. */
export interface TokenRegistry {
  /** The id of the token that was created last. */
  readonly lastToken: string;
}

/** A single document with the id {@link TOKEN_REGISTRY}. */
export const tokenRegistries: Documents<TokenRegistry> = { kind: 'token-registry', parentOf: () => null };
export const TOKEN_REGISTRY = 'all';

/** A token of several projects belongs to none of them. */
function projectOfToken({ project, projects }: StoredToken): string | null {
  return project === '*' || projects.length > 1 ? null : project;
}

/** The dependencies of `verifyToken`. */
export interface TokenVerifier {
  readonly findToken: FindToken;
  readonly tokenUse: TokenUseRecorder;
  readonly now: () => Date;
}

/** Resolves to the token whose secret has this hash, or to undefined. */
export type FindToken = (hash: string) => Promise<TokenState | undefined>;

/** Records when tokens are used, accurate to the hour. */
export interface TokenUseRecorder {
  /** Remembers that a token was used now. Costs a lookup in memory. */
  record(token: string): void;
  /** Stops the timer and writes the pending uses. */
  close(): Promise<void>;
}
