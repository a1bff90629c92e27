import type { Person, TokenKind } from '../../base/common.types.js';

export { TOKEN_KINDS, type TokenKind } from '../../base/common.types.js';

/** An API token without its secret. Only a hash of the secret is stored. */
export interface Token {
  /** Derived from the hash of the secret. Identifies the token in `deleteToken`. */
  readonly id: string;
  /** The purpose of the token, and the actor of changes made with it. */
  readonly name: string;
  readonly kind: TokenKind;
  /** The first of {@link Token.projects}. */
  readonly project: string;
  /** Ids of projects, or only `*` for every project. `*` for admin tokens. */
  readonly projects: readonly string[];
  /** The name of an environment; `*` for admin tokens. */
  readonly environment: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** When the token expires; null if it never does. ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string | null;
  /**
   * The person who created the token. A token that was created with another token has the person of that
   * one; rotation keeps the person. null if the instance itself created it, and if the person is unknown.
   */
  readonly createdBy: Person | null;
}

/** A token in a list. */
export interface ListedToken extends Token {
  /**
   * When the token was last used, accurate to the hour; null if never. ISO 8601, UTC, milliseconds. Each process
   * records a use some seconds later (the option `usage.interval`), and when it closes.
   */
  readonly lastUsedAt: string | null;
}

/** A token to create. */
export interface NewToken {
  /** 1–100 characters, unique among tokens of the same kind; not `system`, the actor of the library itself. */
  readonly name: string;
  readonly kind: TokenKind;
  /** The id of a project, or `*`. Default: `*`. */
  readonly project?: string;
  /** 1–100 ids of projects, or `*`, for a token of several projects. Ignored if `project` is given. */
  readonly projects?: readonly string[];
  /**
   * The name of an environment. Default: the instance's environment (`settings.environment`) for `client` and
   * `frontend` tokens. Must be absent or `*` for `admin`.
   */
  readonly environment?: string;
  /** ISO 8601. Absent or null: the token does not expire, or expires after the option `maxTokenLifetime`. */
  readonly expiresAt?: string | null;
  /**
   * A given secret, for example from configuration: 32–255 printable ASCII characters without spaces. Default:
   * `<project>:<environment>.<48 random hex digits>` (192 bits), with `[]` instead of the project for several projects.
   */
  readonly secret?: string;
}

/** Changes of a token. */
export interface TokenChanges {
  /**
   * ISO 8601. A time that has passed ends the token. null: the token does not expire, or expires after the option
   * `maxTokenLifetime`, counted from its creation.
   */
  readonly expiresAt: string | null;
}

/** The expiry of the new secret, and how long the old one stays valid. */
export interface TokenRotation {
  /** Milliseconds until the old token expires, at most 90 days. Default: one day. 0: at once. */
  readonly overlap?: number;
  /** When the new token expires; ISO 8601, or null. Default: after the lifetime that the old token was created with. */
  readonly expiresAt?: string | null;
}

/** A new token and its secret, which is shown only once. */
export interface CreatedToken {
  readonly token: Token;
  /** Returned only here; it cannot be read later. */
  readonly secret: string;
}

/** A token, and the secret that it was found by. */
export interface VerifiedToken {
  readonly secret: string;
  readonly token: Token;
}

/** Names a token. */
export interface TokenRef {
  /** The id or the secret of the token. */
  readonly token: string;
}
