import type { Engine } from './changes/engine.js';
import { compareCodePoints } from './collections.js';
import type { Page, PageQuery } from './common.types.js';
import type { ListedDocument, ListQuery, Storage } from './storage/port.js';
import { LIMITS } from './validation/limits.js';

const DEFAULT_LIMIT = 100;
/** So many summaries are read at once where most of them are left out. */
const BATCH = 1000;

/** A page query, checked and with its defaults. */
export interface PageBounds {
  readonly limit: number;
  readonly after?: string;
}

export function pageBounds({ validate }: Engine, query: PageQuery): PageBounds {
  const { limit = DEFAULT_LIMIT, after } = validate.pageQuery(query);
  return after === undefined ? { limit } : { limit, after };
}

/** One page of a storage's list, of those documents that are to be kept: it is full, however many are left out. */
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

/** How a list that is made whole is read in pages: in the order of its cursors. */
export interface Cursors<Item> {
  readonly cursorOf: (item: Item) => string;
  /** Code-point order when absent. */
  readonly compare?: (a: string, b: string) => number;
}

export function cutPage<Item>(
  items: readonly Item[],
  { limit, after }: PageBounds,
  { cursorOf, compare = compareCodePoints }: Cursors<Item>,
): Page<Item> {
  const start = after === undefined ? 0 : items.findIndex((item) => compare(cursorOf(item), after) > 0);
  return pageOf(start === -1 ? [] : items.slice(start, start + limit + 1), { limit, cursorOf });
}

/** How a list that is read in parts is cut: a page has at least one item, and ends before it has more than 1 MiB. */
export interface Cuts<Item> {
  readonly cursorOf: (item: Item) => string;
  /** In characters. */
  readonly sizeOf: (item: Item) => number;
}

/** The first page of what is iterated over. */
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

/** Everything that an iteration gives, in memory. */
export async function arrayOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Items beyond the limit only tell that there is a next page. */
function pageOf<Item>(
  found: readonly Item[],
  { limit, cursorOf }: { readonly limit: number; readonly cursorOf: (item: Item) => string },
): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
