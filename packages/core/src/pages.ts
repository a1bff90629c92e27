import { compareCodePoints } from './base/collections.js';
import type { Page, PageQuery } from './base/common.types.js';
import { LIMITS } from './base/limits.js';
import { paced } from './base/paced.js';
import { invalidInput } from './base/validator.js';
import type { Engine } from './changesets/engine.js';
import type { ListedDocument, ListQuery, Storage } from './storage/port.js';

const DEFAULT_LIMIT = 100;
/** Batch size while a filter drops most summaries. */
const BATCH = 1000;

/** A validated page query with its defaults. */
export interface PageBounds {
  readonly limit: number;
  readonly after?: string;
}

/** Validates a page query and adds the default limit. */
export function pageBounds({ validate }: Engine, query: PageQuery): PageBounds {
  const { limit = DEFAULT_LIMIT, after } = validate.pageQuery(query);
  return after === undefined ? { limit } : { limit, after };
}

/** Reads one page of the documents that `keep` accepts. Reads on until the page is full or the list ends. */
export async function readPage(
  storage: Storage,
  query: Omit<ListQuery, keyof PageBounds> & PageBounds,
  keep: (document: ListedDocument) => boolean = () => true,
): Promise<Page<ListedDocument>> {
  const { limit } = query;
  const found: ListedDocument[] = [];
  let bounds: PageBounds = { ...query, limit: limit + 1 };
  while (found.length <= limit) {
    const listed = await storage.list({ ...query, ...bounds });
    found.push(...listed.filter(keep));
    const last = listed.at(-1);
    if (!last || listed.length < bounds.limit) break;
    bounds = { after: last.key.id, limit: BATCH };
  }
  return pageOf(found, { limit, cursorOf: ({ key }) => key.id });
}

/** The cursors and the order of a list in memory. */
export interface Cursors<Item> {
  readonly cursorOf: (item: Item) => string;
  /** Code-point order when absent. */
  readonly compare?: (a: string, b: string) => number;
}

/** Returns one page of a list in memory. */
export function cutPage<Item>(
  items: readonly Item[],
  { limit, after }: PageBounds,
  { cursorOf, compare = compareCodePoints }: Cursors<Item>,
): Page<Item> {
  const start = after === undefined ? 0 : items.findIndex((item) => compare(cursorOf(item), after) > 0);
  return pageOf(start === -1 ? [] : items.slice(start, start + limit + 1), { limit, cursorOf });
}

/**
 * The cursors and item sizes of an iteration. A page has at least one item, and ends before it exceeds the page size.
 */
export interface Cuts<Item> {
  readonly cursorOf: (item: Item) => string;
  /** In characters. */
  readonly sizeOf: (item: Item) => number;
}

/** Reads one page from the start of an iteration. */
export async function takePage<Item>(
  items: AsyncIterable<Item>,
  { limit }: PageBounds,
  { cursorOf, sizeOf }: Cuts<Item>,
): Promise<Page<Item>> {
  const found: Item[] = [];
  let room: number = LIMITS.pageSize;
  for await (const item of items) {
    room -= sizeOf(item);
    if (found.length === limit || (found.length > 0 && room < 0)) {
      return pageOf([...found, item], { limit: found.length, cursorOf });
    }
    found.push(item);
  }
  return { items: found };
}

/** Parses a cursor that is a JSON array. Throws `invalid_input` if `toKey` returns undefined. */
export function parseCursor<Key>(cursor: string, toKey: (parts: readonly unknown[]) => Key | undefined): Key {
  const key = toKey(parseList(cursor));
  if (key === undefined) throw invalidInput([{ message: 'must be the next of the page before', path: '/after' }]);
  return key;
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** Collects an iteration into an array. */
export async function arrayOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of paced(items)) all.push(item);
  return all;
}

/** Makes a page of up to `limit + 1` items. The additional item only shows that there is a next page. */
function pageOf<Item>(
  found: readonly Item[],
  { limit, cursorOf }: { readonly limit: number; readonly cursorOf: (item: Item) => string },
): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
