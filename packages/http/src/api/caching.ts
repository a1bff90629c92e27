import { LRUCache } from 'lru-cache';
import { type FlagsReply, ownBytes } from '../messages/reply.js';

const LIMITS = {
  /** The total bytes of bodies, keys and bookkeeping. */
  bytes: 16 * 1024 * 1024,
  /** The maximum bytes of one entry. A larger reply is not cached. */
  entryBytes: 1024 * 1024 + 4096,
};

/** The estimated bytes of an entry beside its body and key: headers and map entry. */
const ENTRY_OVERHEAD = 1024;

/** The cached value for a reply that is too long to share. */
const LONG = { status: 200, headers: {} } satisfies FlagsReply;

/**
 * Returns the cached reply, or makes and caches it. Simultaneous calls share one `make`. The key has the version of the
 * data; replies of older versions are evicted as the least recently used ones. A long reply goes to the call that has
 * made it; the others get undefined.
 */
export type ReplyCache = (key: string, make: () => Promise<FlagsReply>) => Promise<FlagsReply | undefined>;

export function createReplyCache({ bytes, entryBytes } = LIMITS): ReplyCache {
  const cache = new LRUCache<string, FlagsReply, () => Promise<FlagsReply>>({
    maxSize: bytes,
    maxEntrySize: entryBytes,
    sizeCalculation: ({ body = '' }, key) => ENTRY_OVERHEAD + 2 * key.length + body.length,
    async fetchMethod(_key, _stale, { context: make }) {
      const { status, headers, body, stream } = await make();
      if (stream) return LONG;
      return { status, headers, ...(typeof body === 'string' && { body: ownBytes(body) }) };
    },
    // A reply whose entry is evicted before it is made is still sent.
    ignoreFetchAbort: true,
  });
  return async (key, make) => {
    let own: FlagsReply | undefined;
    const makeOwn = async () => {
      own = await make();
      return own;
    };
    const reply = cache.get(key) ?? (await cache.forceFetch(key, { context: makeOwn }));
    return reply === LONG ? own : reply;
  };
}
