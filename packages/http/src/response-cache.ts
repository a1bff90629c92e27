/** How much all cached responses of a router may take. */
export interface ResponseCacheLimits {
  /** Bytes of bodies, keys and bookkeeping together. */
  readonly bytes: number;
  /** A larger response is not cached. */
  readonly entryBytes: number;
}

const LIMITS: ResponseCacheLimits = { bytes: 16 * 1024 * 1024, entryBytes: 2 * 1024 * 1024 };

/** What an entry costs beside its body and key: headers, and its place in the map. */
const ENTRY_OVERHEAD = 1024;

/** What can be cached: a body, or what is known of one that is too long. */
export interface Cacheable {
  readonly bytes?: Uint8Array;
}

/** Responses by key, each valid for one version of the data. A newer version replaces it. */
export interface ResponseCache<Response extends Cacheable> {
  get(key: string, version: string): Response | undefined;
  set(key: string, version: string, response: Response): void;
}

interface Entry {
  readonly version: string;
  readonly response: Cacheable;
  readonly size: number;
}

/** Makes caches that share one bound: the responses that were used least recently make room, whichever cache they are in. */
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
      const place = `${name} ${key}`;
      const entry = entries.get(place);
      if (entry === undefined || entry.version !== version) return undefined;
      // Moved to the end: the first ones were not used for the longest time.
      entries.delete(place);
      entries.set(place, entry);
      return entry.response as Response;
    },

    set(key, version, response) {
      const place = `${name} ${key}`;
      const entry = { version, response, size: ENTRY_OVERHEAD + 2 * place.length + (response.bytes?.length ?? 0) };
      remove(place);
      if (entry.size > limits.entryBytes) return;
      add(place, entry);
      for (const oldest of entries.keys()) {
        if (size <= limits.bytes) break;
        remove(oldest);
      }
    },
  });
}
