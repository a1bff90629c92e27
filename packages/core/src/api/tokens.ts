import type { Page, PageQuery } from './pages.js';
import type { ChangeContext } from './refs.js';

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
  /** A project's id, or `*`; `*` for admin. */
  readonly project: string;
  /** An environment's name; `*` for admin. */
  readonly environment: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** From this moment on it is not accepted; null: never. */
  readonly expiresAt: string | null;
}

export interface NewToken {
  /** 1–100 characters. */
  readonly name: string;
  readonly kind: TokenKind;
  /** A project's id, or `*` (when absent). */
  readonly project?: string;
  /** An environment's name; required for `client` and `frontend`, absent or `*` for `admin`. */
  readonly environment?: string;
  /** ISO 8601; absent or null: it does not expire. */
  readonly expiresAt?: string | null;
  /**
   * A secret of your own, for a token given by configuration; 1–255 printable characters without spaces. When absent a
   * secret `<project>:<environment>.<48 random hex digits>` is made (192 bits).
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
   * Creates an API token. Of simultaneous creations with one secret exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`, `token_exists` (the given secret is
   * in use), `revision_mismatch` (with any `ifRevision`)
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

  /**
   * The same tokens page by page.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items, next } = await flags.pageTokens({ limit: 20 });
   */
  pageTokens(query?: PageQuery): Promise<Page<Token>>;

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
