import { randomBytes } from 'node:crypto';
import type { Person } from '../../base/common.types.js';
import type { Documents } from '../../storage/document-reader.js';
import type { Token } from './token.types.js';

/** The summary of a token in lists. */
export interface StoredToken extends Omit<Token, 'createdBy'> {
  /** Absent if the person is unknown. */
  readonly createdBy?: Person;
  /** The id of the successor after a rotation. */
  readonly replacedBy?: string;
}

/** The stored state of a token: one document. */
export interface TokenState extends StoredToken {
  /** SHA-256 of the secret in hexadecimal. The secret itself is not stored. */
  readonly hash: string;
}

/** Whether the token is for several projects, including this one. */
export function isSharedWith({ projects }: StoredToken, project: string): boolean {
  return projects.length > 1 && projects.includes(project);
}

/** 192 bits; at least 160 are required. */
const SECRET_BYTES = 24;

/** Creates a secret of the form `<project>:<environment>.<48 hexadecimal digits>`, with `[]` for several projects. */
export function createSecret(projects: readonly string[], environment: string): string {
  const scope = projects.length === 1 ? projects[0] : '[]';
  return `${scope}:${environment}.${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** Written by every creation of a token, so that concurrent creations with the same name conflict. */
export interface TokenRegistry {
  /** The id of the token that was created last. */
  readonly lastToken: string;
}

/** A single document with the id {@link TOKEN_REGISTRY}. */
export const tokenRegistries: Documents<TokenRegistry> = { kind: 'token-registry', parentOf: () => null };
export const TOKEN_REGISTRY = 'all';

/** What tokens add to the engine. */
export interface TokenParts {
  readonly findToken: FindToken;
  readonly tokenUse: TokenUseRecorder;
  /** The maximum lifetime of a new token in milliseconds; undefined: no limit. */
  readonly maxTokenLifetime: number | undefined;
}

/** The dependencies of `verifyToken`. */
export interface TokenVerifier extends Pick<TokenParts, 'findToken' | 'tokenUse'> {
  readonly now: () => Date;
}

/** Resolves to the token with this id, or to undefined. */
export type FindToken = (id: string) => Promise<TokenState | undefined>;

/** Records when tokens are used, accurate to the hour. */
export interface TokenUseRecorder {
  /** Remembers that a token was used now. Costs a lookup in memory. */
  record(token: string): void;
  /** Stops the timer and writes the pending uses. */
  close(): Promise<void>;
}
