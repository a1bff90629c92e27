import type { Awaitable } from '@flags/core/integration';
import { LRUCache } from 'lru-cache';
import { type FlagsReply, ownBytes } from '../messages/reply.js';

const LIMITS = {
  /** The total bytes of bodies, keys and bookkeeping. */
  bytes: 16 * 1024 * 1024,
  /** The maximum bytes of one response. Larger responses are not cached. */
  entryBytes: 5 * 1024 * 1024,
};

/** The estimated bytes of an entry beside its body and key: headers and map entry. */
const ENTRY_OVERHEAD = 1024;

/**
 * Returns the cached reply, or makes and caches it. Simultaneous calls share one `make`. The key has the version of the
 * data; replies of older versions are evicted as the least recently used ones. A stream can be written only once: other
 * calls then get its status and headers, without a body.
 */
export type ResponseCache = (key: string, make: () => Promise<FlagsReply>) => Awaitable<FlagsReply>;

export function createResponseCache({ bytes, entryBytes } = LIMITS): ResponseCache {
  const cache = new LRUCache<string, FlagsReply, () => Promise<FlagsReply>>({
    maxSize: bytes,
    maxEntrySize: entryBytes,
    sizeCalculation: ({ body = '' }, key) => ENTRY_OVERHEAD + 2 * key.length + body.length,
    async fetchMethod(_key, _stale, { context: make }) {
      const { status, headers, body } = await make();
      return { status, headers, ...(typeof body === 'string' && { body: ownBytes(body) }) };
    },
    // A reply whose entry is evicted before it is made is still sent.
    ignoreFetchAbort: true,
  });
  async function fetch(key: string, make: () => Promise<FlagsReply>): Promise<FlagsReply> {
    let own: FlagsReply | undefined;
    const makeOwn = async () => {
      own = await make();
      return own;
    };
    const reply = await cache.forceFetch(key, { context: makeOwn });
    return own?.stream ? own : reply;
  }
  return (key, make) => cache.get(key) ?? fetch(key, make);
}
