import type { ListPage, PageQuery, TokenChangeContext } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { tokenOperations as operations } from './token.operations.js';
import type {
  CreatedToken,
  ListedToken,
  NewToken,
  Token,
  TokenChanges,
  TokenRef,
  TokenRotation,
} from './token.types.js';

/** The secrets that admit callers to the HTTP API: `flags.tokens`. */
export class Tokens extends Namespace {
  /**
   * Creates an API token.
   *
   * If several callers create the same secret, or the same name and kind, concurrently, exactly one succeeds.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `environment_not_found`, `token_exists` (the name or the
   * given secret is in use), `token_deleted` (a token with the given secret was deleted, and stays deleted),
   * `revision_mismatch` (with any `ifRevision`)
   * @example
   * const { secret } = await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' });
   */
  create(input: NewToken, context?: TokenChangeContext): Promise<CreatedToken> {
    return run(this, operations.createToken, { input, context });
  }

  /**
   * Changes when a token expires. Name, kind, projects, environment and secret stay. A token that has expired is valid
   * again if the new time is in the future.
   *
   * @throws FlagsError `invalid_input` (also for a time beyond the option `maxTokenLifetime`), `token_not_found`,
   * `revision_mismatch`
   * @example
   * await flags.tokens.update({ token: id }, { expiresAt: '2027-01-01T00:00:00.000Z' });
   */
  update(ref: TokenRef, changes: TokenChanges, context?: TokenChangeContext): Promise<Token> {
    return run(this, operations.updateToken, { ref, input: changes, context });
  }

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
   * const { secret } = await flags.tokens.rotate({ token: id }, { overlap: 3_600_000 });
   */
  rotate(ref: TokenRef, rotation: TokenRotation = {}, context?: TokenChangeContext): Promise<CreatedToken> {
    return run(this, operations.rotateToken, { ref, input: rotation, context });
  }

  /**
   * Deletes a token. The token is rejected from the moment this promise resolves.
   *
   * @throws FlagsError `token_not_found`, `revision_mismatch`
   * @example
   * await flags.tokens.delete({ token: id });
   */
  delete(ref: TokenRef, context?: TokenChangeContext): Promise<void> {
    return run(this, operations.deleteToken, { ref, context });
  }

  /**
   * Lists tokens, including expired ones, oldest first.
   *
   * @example
   * const { items } = await flags.tokens.list();
   * const admins = items.filter((token) => token.kind === 'admin');
   */
  list(page?: PageQuery): Promise<ListPage<ListedToken>> {
    return run(this, operations.listTokens, { context: page });
  }
}
