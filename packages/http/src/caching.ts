import { createHash, hash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Makes versions unique per process. Versions restart with the process, maybe on a restored storage. */
const PROCESS_ID = randomUUID();

/** Returns the tag of a long body, by the versions of its parts in this process. */
export function versionTag(versions: Iterable<string>, revision?: number): string {
  const digest = createHash('sha256').update(PROCESS_ID);
  for (const version of versions) digest.update(`\n${version}`);
  return toTag(digest.digest('hex'), revision);
}

/** `*`, or the opaque values of the tags; an empty list when the header is malformed. */
type TagCondition = '*' | readonly string[];

/**
 * Returns the tag of a body: `"<hash>"`, or `"<revision>-<hash>"` with a revision. {@link revisionsIn} extracts the
 * revision.
 */
export function entityTag(content: string | Uint8Array, revision: number | undefined): string {
  return toTag(hash('sha256', content, 'hex'), revision);
}

function toTag(hexadecimal: string, revision: number | undefined): string {
  const digest = hexadecimal.slice(0, 32);
  return revision === undefined ? `"${digest}"` : `"${revision}-${digest}"`;
}

/** Parses `If-Match` or `If-None-Match`. Ignores weak marks, because proxies weaken tags when they compress. */
export function parseTagCondition(header: string): TagCondition {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  const element = /[\s,]*(?:W\/)?"([^"]*)"\s*(?:,[\s,]*|$)/y;
  while (element.lastIndex < header.length) {
    const match = element.exec(header);
    if (!match) return [];
    tags.push(match[1] ?? '');
  }
  return tags;
}

/** Returns whether `If-None-Match` contains this tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const condition = parseTagCondition(header);
  return condition === '*' || condition.some((opaque) => `"${opaque}"` === tag);
}

/**
 * Returns the revisions in `If-Match`, or undefined when every revision matches. A tag without a revision matches none.
 */
export function revisionsIn(header: string): readonly number[] | undefined {
  const condition = parseTagCondition(header);
  if (condition === '*') return undefined;
  return condition.flatMap((opaque) => {
    const revision = /^(\d{1,15})(?:-|$)/.exec(opaque)?.[1];
    return revision === undefined ? [] : [Number(revision)];
  });
}

/** The size limits of all response caches of a router. */
interface ResponseCacheLimits {
  /** The total bytes of bodies, keys and bookkeeping. */
  readonly bytes: number;
  /** The maximum bytes of one response. Larger responses are not cached. */
  readonly entryBytes: number;
}

const LIMITS: ResponseCacheLimits = { bytes: 16 * 1024 * 1024, entryBytes: 5 * 1024 * 1024 };

/** The estimated bytes of an entry beside its body and key: headers and map entry. */
const ENTRY_OVERHEAD = 1024;

/** A cacheable response: a body, or only the metadata of a long one. */
interface Cacheable {
  readonly bytes?: Uint8Array;
  /** A sliced response can be sent only once, so it is not cached. */
  readonly slices?: unknown;
}

/** Responses by key, each valid for one data version. A newer version replaces the response. */
export interface ResponseCache<Response extends Cacheable> {
  get(key: string, version: string): Response | undefined;
  /** Returns the cached response, or makes and caches it. Simultaneous calls share one `make`. */
  fetch(key: string, version: string, make: () => Promise<Response>): Promise<Response>;
  /** Returns the bytes of the cached response of any version; undefined if there is none. */
  lastBytes(key: string): number | undefined;
  set(key: string, version: string, response: Response): void;
}

interface Entry {
  readonly version: string;
  readonly response: Cacheable;
}

/**
 * Creates a factory for caches that share one size limit. Evicts the least recently used response across all of them.
 */
export function createResponseCaches(
  limits = LIMITS,
): <Response extends Cacheable>(name: string) => ResponseCache<Response> {
  const entries = new LRUCache<string, Entry>({
    maxSize: limits.bytes,
    maxEntrySize: limits.entryBytes,
    sizeCalculation: ({ response }, key) => ENTRY_OVERHEAD + 2 * key.length + (response.bytes?.length ?? 0),
  });

  return <Response extends Cacheable>(name: string): ResponseCache<Response> => {
    const running = new Map<string, Promise<Response>>();

    function get(key: string, version: string): Response | undefined {
      const entry = entries.get(`${name} ${key}`);
      return entry?.version === version ? (entry.response as Response) : undefined;
    }

    function set(key: string, version: string, response: Response): void {
      if (response.slices) entries.delete(`${name} ${key}`);
      else entries.set(`${name} ${key}`, { version, response });
    }

    async function run(key: string, version: string, make: () => Promise<Response>): Promise<Response> {
      try {
        const response = await make();
        set(key, version, response);
        return response;
      } finally {
        running.delete(`${version} ${key}`);
      }
    }

    return {
      get,
      set,
      async fetch(key, version, make) {
        const known = get(key, version) ?? running.get(`${version} ${key}`);
        if (known) return known;
        const response = run(key, version, make);
        running.set(`${version} ${key}`, response);
        return response;
      },
      lastBytes: (key) => entries.peek(`${name} ${key}`)?.response.bytes?.length,
    };
  };
}
