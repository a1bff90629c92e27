import type { ChangeContext, Page, PageQuery } from '../common.types.js';

/** `admin` administers; `client` is for server-side SDKs, `frontend` for browsers. */
export const TOKEN_KINDS = ['admin', 'client', 'frontend'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** An API token, without its secret: only a hash of that is stored. */
export interface Token {
  /** Derived from the secret's hash; names the token in {@link TokenOperations.deleteToken}. */
  readonly id: string;
  /** What it is for; the actor of changes made with it. */
  readonly name: string;
  readonly kind: TokenKind;
  /** The first of {@link projects}. */
  readonly project: string;
  /** Ids of projects, or `*` alone for every project; `*` for admin. */
  readonly projects: readonly string[];
  /** An environment's name; `*` for admin. */
  readonly environment: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** From this moment on it is not accepted; null: never. */
  readonly expiresAt: string | null;
}

export interface NewToken {
  /** 1–100 characters, unique among the tokens of its kind; not `system`, the actor of the library itself. */
  readonly name: string;
  readonly kind: TokenKind;
  /** A project's id, or `*` (when absent). */
  readonly project?: string;
  /** 1–100 ids of projects, or `*`, for a token of several projects. Ignored when `project` is given. */
  readonly projects?: readonly string[];
  /**
   * The name of an environment. When absent, a `client` or `frontend` token gets the instance's environment
   * (`settings.environment`). Absent or `*` for `admin`.
   */
  readonly environment?: string;
  /** ISO 8601; absent or null: it does not expire. */
  readonly expiresAt?: string | null;
  /**
   * A secret of your own, for a token given by configuration; 32–255 printable characters without spaces. When absent,
   * the service creates `<project>:<environment>.<48 random hex digits>` (192 bits), with `[]` in place of the project
   * for several projects.
   */
  readonly secret?: string;
}

export interface CreatedToken {
  readonly token: Token;
  /** Shown once, here; it cannot be read again. */
  readonly secret: string;
}

export interface TokenOperations {
  /**
   * Creates an API token. Of simultaneous creations with one secret, or with one name and kind, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`, `token_exists` (the name or the
   * given secret is in use), `token_deleted` (a token with the given secret was deleted, and stays deleted),
   * `revision_mismatch` (with any `ifRevision`)
   * @example
   * const { secret } = await flags.createToken({ name: 'web', kind: 'client', environment: 'production' });
   */
  createToken(input: NewToken, context?: ChangeContext): Promise<CreatedToken>;

  /**
   * All tokens, expired ones included, oldest first.
   *
   * @example
   * const admins = (await flags.listTokens()).filter((token) => token.kind === 'admin');
   */
  listTokens(): Promise<readonly Token[]>;
  /** Returns one page. */
  listTokens(page: PageQuery): Promise<Page<Token>>;

  /**
   * Deletes a token, named by its id or by its secret; it is refused from the moment this resolves.
   *
   * @throws FlagsError `token_not_found`, `revision_mismatch`
   * @example
   * await flags.deleteToken({ token: id });
   */
  deleteToken(ref: { readonly token: string }, context?: ChangeContext): Promise<void>;

  /**
   * The token with this secret, or undefined when there is none or it has expired. Hashes are compared in constant time.
   *
   * @example
   * const token = await flags.verifyToken(secret);
   * if (token?.kind !== 'admin') throw new Error('Not an administrator.');
   */
  verifyToken(secret: string): Promise<Token | undefined>;
}
