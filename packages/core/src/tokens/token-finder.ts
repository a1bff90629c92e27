import type { Read } from '../changes/documents.js';
import type { Storage } from '../storage/port.js';
import { idOfHash, isSameHash, type TokenState, tokenDocuments } from './token.js';

/** The largest number of cached tokens. */
const CACHED_TOKENS = 1000;

/** Resolves to the token whose secret has this hash, or to undefined. */
export type FindToken = (hash: string) => Promise<TokenState | undefined>;

/**
 * Creates the token lookup for the authentication of requests. It caches tokens by hash until the storage's data
 * version changes. Without a data version it reads the token each time. It never caches unknown hashes.
 */
export function createTokenFinder({ storage, read }: { readonly storage: Storage; readonly read: Read }): FindToken {
  const cache = new Map<string, TokenState>();
  let latest: string | undefined;

  return async (hash) => {
    const version = await storage.dataVersion?.();
    if (version !== latest) cache.clear();
    latest = version;
    const token = cache.get(hash) ?? (await readToken(read, hash));
    // The version is read before the token, so a cached token is never older than its version.
    if (token && version !== undefined && version === latest && cache.size < CACHED_TOKENS) cache.set(hash, token);
    return token;
  };
}

async function readToken(read: Read, hash: string): Promise<TokenState | undefined> {
  const found = await read(tokenDocuments, idOfHash(hash));
  return found && isSameHash(found.state.hash, hash) ? found.state : undefined;
}
