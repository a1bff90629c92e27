import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Aggregate, Documents } from '../changes/aggregate.js';
import { FlagsError } from '../errors.js';
import type { DomainEvent } from '../events/event.types.js';
import type { Token } from './token.types.js';

/** A token as lists store it. */
export interface StoredToken extends Omit<Token, 'projects'> {
  /** Only of a token for several projects. `project` is the first: release 0.1 reads that one alone. */
  readonly projects?: readonly string[];
}

/** A token as it is stored: one document. */
export interface TokenState extends StoredToken {
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

/** What a new token must not repeat. */
export interface TokenCreationContext {
  /** The token with the same secret. */
  readonly existing: TokenState | undefined;
  /** Whether a token with this secret was deleted before. */
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

export function deleteToken(token: TokenState): TokenEvent[] {
  return [{ type: 'token-deleted', data: null, before: token }];
}

/** Whether the token is accepted at a time; at the moment of its expiry it no longer is. */
export function isCurrent({ expiresAt }: Pick<Token, 'expiresAt'>, now: Date): boolean {
  return expiresAt === null || now.getTime() < Date.parse(expiresAt);
}

/** Whether the token names this project beside others. */
export function isSharedWith({ projects = [] }: StoredToken, project: string): boolean {
  return projects.includes(project);
}

/** What lists store of a token: not its hash. */
export function withoutHash({ hash: _hash, ...token }: TokenState): StoredToken {
  return token;
}

/** What may be shown of a token. */
export function toToken({ id, name, kind, project, projects, environment, createdAt, expiresAt }: StoredToken): Token {
  return { id, name, kind, project, projects: [...(projects ?? [project])], environment, createdAt, expiresAt };
}

/** 192 bits: more than the 160 that the decisions ask for. */
const SECRET_BYTES = 24;
/** As much of the hash as names a token: 128 bits. */
const ID_LENGTH = 32;

/** A new secret of the form `<project>:<environment>.<48 hexadecimal digits>`; `[]` stands for several projects. */
export function createSecret(projects: readonly string[], environment: string): string {
  const scope = projects.length === 1 ? projects[0] : '[]';
  return `${scope}:${environment}.${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** SHA-256 in hexadecimal; a secret has too many bits to be guessed from it, so it needs no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The id under which a token with this hash is stored. */
export function idOfHash(digest: string): string {
  return digest.slice(0, ID_LENGTH);
}

/** Compares in a time that does not tell where the difference is. */
export function isSameHash(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

export const tokenDocuments: Aggregate<TokenState, TokenEvent> = {
  kind: 'token',
  evolve: evolveToken,
  parentOf: projectOfToken,
  projectOf: projectOfToken,
  summarize: (token): StoredToken => withoutHash(token),
};

/** Every new token writes it: those who give out a name at the same moment do so one after the other. */
export interface TokenRegistry {
  /** The id of the token that was created last. */
  readonly lastToken: string;
}

/** There is one, with the id {@link TOKEN_REGISTRY}. */
export const tokenRegistries: Documents<TokenRegistry> = { kind: 'token-registry', parentOf: () => null };
export const TOKEN_REGISTRY = 'all';

/** A token of several projects belongs to none of them alone. */
function projectOfToken({ project, projects }: StoredToken): string | null {
  return project === '*' || projects !== undefined ? null : project;
}
