/** The size limits of all response caches of a router. */
export interface ResponseCacheLimits {
  /** The total bytes of bodies, keys and bookkeeping. */
  readonly bytes: number;
  /** The maximum bytes of one response. Larger responses are not cached. */
  readonly entryBytes: number;
}

const LIMITS: ResponseCacheLimits = { bytes: 16 * 1024 * 1024, entryBytes: 2 * 1024 * 1024 };

/** The estimated bytes of an entry beside its body and key: headers and map entry. */
const ENTRY_OVERHEAD = 1024;

/** A cacheable response: a body, or only the metadata of a long one. */
export interface Cacheable {
  readonly bytes?: Uint8Array;
}

/** Responses by key, each valid for one data version. A newer version replaces the response. */
export interface ResponseCache<Response extends Cacheable> {
  get(key: string, version: string): Response | undefined;
  set(key: string, version: string, response: Response): void;
}

interface Entry {
  readonly version: string;
  readonly response: Cacheable;
  readonly size: number;
}

/**
 * Creates a factory for caches that share one size limit. Evicts the least recently used response across all of them.
 */
export function createResponseCaches(
  limits = LIMITS,
): <Response extends Cacheable>(name: string) => ResponseCache<Response> {
  const entries = new Map<string, Entry>();
  let size = 0;

  function remove(key: string): void {
    size -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  function add(key: string, entry: Entry): void {
    entries.set(key, entry);
    size += entry.size;
  }

  return <Response extends Cacheable>(name: string): ResponseCache<Response> => ({
    get(key, version) {
      const entryKey = `${name} ${key}`;
      const entry = entries.get(entryKey);
      if (entry === undefined || entry.version !== version) return undefined;
      // Reinserts the entry, because eviction starts with the oldest one.
      entries.delete(entryKey);
      entries.set(entryKey, entry);
      return entry.response as Response;
    },

    set(key, version, response) {
      const entryKey = `${name} ${key}`;
      const entry = { version, response, size: ENTRY_OVERHEAD + 2 * entryKey.length + (response.bytes?.length ?? 0) };
      remove(entryKey);
      if (entry.size > limits.entryBytes) return;
      add(entryKey, entry);
      for (const oldest of entries.keys()) {
        if (size <= limits.bytes) break;
        remove(oldest);
      }
    },
  });
}
