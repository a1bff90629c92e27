import type { ListPage, PageQuery, TokenChangeContext, TokenKind } from '../base/common.types.js';

export { TOKEN_KINDS, type TokenKind } from '../base/common.types.js';

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

export interface TokenOperations {
  /**
   * Creates an API token.
   *
   * If several callers create the same secret, or the same name and kind, concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`, `token_exists` (the name or the
   * given secret is in use), `token_deleted` (a token with the given secret was deleted, and stays deleted),
   * `revision_mismatch` (with any `ifRevision`)
   * @example
   * const { secret } = await flags.createToken({ name: 'web', kind: 'client', environment: 'production' });
   */
  createToken(input: NewToken, context?: TokenChangeContext): Promise<CreatedToken>;

  /**
   * Lists tokens, including expired ones, oldest first.
   *
   * @example
   * const { items } = await flags.listTokens();
   * const admins = items.filter((token) => token.kind === 'admin');
   */
  listTokens(page?: PageQuery): Promise<ListPage<ListedToken>>;

  /**
   * Deletes a token. The token is rejected from the moment this promise resolves.
   *
   * @throws FlagsError `token_not_found`, `revision_mismatch`
   * @example
   * await flags.deleteToken({ token: id });
   */
  deleteToken(ref: TokenRef, context?: TokenChangeContext): Promise<void>;

  /**
   * Changes when a token expires. Name, kind, projects, environment and secret stay. A token that has expired is valid
   * again if the new time is in the future.
   *
   * @throws FlagsError `invalid_input` (also for a time beyond the option `maxTokenLifetime`), `token_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.updateToken({ token: id }, { expiresAt: '2027-01-01T00:00:00.000Z' });
   */
  updateToken(ref: TokenRef, changes: TokenChanges, context?: TokenChangeContext): Promise<Token>;

  /**
   * Replaces a token: creates one with a new secret, and lets the old one expire after an overlap. Name, kind, projects
   * and environment stay. Both tokens are valid during the overlap.
   *
   * If several callers rotate a token concurrently, exactly one succeeds. A token can be rotated once: rotate its
   * successor next.
   *
   * @param ref the id of the token, not its secret
   * @throws FlagsError `invalid_input`, `token_not_found`, `token_exists` (the token was rotated before)
   * @example
   * const { secret } = await flags.rotateToken({ token: id }, { overlap: 3_600_000 });
   */
  rotateToken(ref: TokenRef, rotation?: TokenRotation, context?: TokenChangeContext): Promise<CreatedToken>;

  /**
   * Finds the token with this secret. Returns undefined if it does not exist or has expired. Compares hashes in
   * constant time. Counts as a use of the token ({@link ListedToken.lastUsedAt}).
   *
   * @example
   * const token = await flags.verifyToken(secret);
   * if (token?.kind !== 'admin') throw new Error('Not an administrator.');
   */
  verifyToken(secret: string): Promise<Token | undefined>;

  /**
   * Finds the `client` and `frontend` tokens with these secrets, in the order of the secrets. Leaves out secrets of other
   * tokens, and those that do not exist or have expired. Counts as a use of each token, like
   * `verifyToken`: servers that check the tokens of their callers here ask for tokens in use.
   *
   * @param secrets at most 100
   * @throws FlagsError `invalid_input`
   * @example
   * const valid = new Set((await flags.verifyTokens(secrets)).map(({ secret }) => secret));
   */
  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]>;
}
