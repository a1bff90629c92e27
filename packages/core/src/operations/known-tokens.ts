import type { TokenState } from '../domain/token.js';
import { tokenDocuments } from '../engine/aggregates.js';
import type { Engine } from '../engine/engine.js';
import { idOfHash, isSameHash } from './token-secret.js';

/** So many tokens are kept at hand. */
const KEPT = 1000;

/** The token whose secret has this hash; undefined when there is none. */
export type FindToken = (hash: string) => Promise<TokenState | undefined>;

/**
 * Finds tokens, which are looked for with every request of an application: where the storage tells a stamp, a token is
 * read again only when anything has changed since, by whomever. Hashes that name no token are looked for each time.
 */
export function createTokenFinder({ storage, read }: Pick<Engine, 'storage' | 'read'>): FindToken {
  const known = new Map<string, TokenState>();
  let latest: string | undefined;

  return async (hash) => {
    const stamp = await storage.stamp?.();
    if (stamp !== latest) known.clear();
    latest = stamp;
    const token = known.get(hash) ?? (await readToken(read, hash));
    // What was read after a stamp may be newer than that, not older: while the stamp is the last, it is still so.
    if (token && stamp !== undefined && stamp === latest && known.size < KEPT) known.set(hash, token);
    return token;
  };
}

async function readToken(read: Engine['read'], hash: string): Promise<TokenState | undefined> {
  const found = await read(tokenDocuments, idOfHash(hash));
  return found && isSameHash(found.state.hash, hash) ? found.state : undefined;
}
