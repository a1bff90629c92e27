import { compareCodePoints } from './collections.js';
import type { ListPage, PageQuery } from './common.types.js';
import * as compiled from './compiled-schemas.js';
import { LIMITS } from './limits.js';
import { nextTurn, paced } from './paced.js';
import { createValidator, invalidInput } from './validator.js';

/** A validated page query. */
export interface PageBounds {
  /** Infinity for everything. */
  readonly limit: number;
  readonly after?: string;
}

/** Throws `invalid_input` unless a page query is valid. */
export const validatePageQuery = createValidator<PageQuery>(compiled.pageQuery);

/** Validates a page query. */
export function pageBounds(query: PageQuery = {}): PageBounds {
  return boundsOf(validatePageQuery(query));
}

/** Returns the bounds of a valid page query. */
export function boundsOf({ limit, after }: PageQuery): PageBounds {
  return { limit: limit ?? Number.POSITIVE_INFINITY, ...(after !== undefined && { after }) };
}

/**
 * Reads a list to its end, page by page, and yields its items. Other work runs between the pages.
 *
 * @param list reads one page
 * @example
 * for await (const flag of paginate((page) => flags.listFlags({ project: 'default' }, page))) console.log(flag.name);
 */
export async function* paginate<Item>(list: (page: PageQuery) => Promise<ListPage<Item>>): AsyncGenerator<Item> {
  for await (const items of readPages(list)) yield* items;
}

/** Reads a list to its end and yields its pages. Other work runs between the pages. */
export async function* readPages<Item>(
  list: (page: PageQuery) => Promise<ListPage<Item>>,
): AsyncGenerator<readonly Item[]> {
  let after: string | undefined;
  do {
    const page = await list({ limit: LIMITS.itemsPerPage, after });
    yield page.items;
    after = page.next;
    if (after !== undefined) await nextTurn();
  } while (after !== undefined);
}

interface Cursors<Item> {
  readonly cursorOf: (item: Item) => string;
}

/** Returns one page of a list in memory, which is in the code-point order of its cursors. */
export function cutPage<Item>(
  items: readonly Item[],
  { limit, after }: PageBounds,
  { cursorOf }: Cursors<Item>,
): ListPage<Item> {
  const start = after === undefined ? 0 : items.findIndex((item) => compareCodePoints(cursorOf(item), after) > 0);
  return pageOf(start === -1 ? [] : items.slice(start, start + limit + 1), { limit, cursorOf });
}

/**
 * Reads one page from the start of an iteration. With a limit it has at least one item, and ends before it exceeds the page
 * size. Without a limit it is everything.
 *
 * @param sizeOf returns the characters of an item
 */
export async function takePage<Item>(
  items: AsyncIterable<Item>,
  { limit }: PageBounds,
  { cursorOf, sizeOf }: Cursors<Item> & { readonly sizeOf: (item: Item) => number },
): Promise<ListPage<Item>> {
  const found: Item[] = [];
  let room = limit === Number.POSITIVE_INFINITY ? limit : LIMITS.pageSize;
  for await (const item of paced(items)) {
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
  if (key === undefined) throw invalidInput([{ message: 'must be `next` of the previous page', path: '/after' }]);
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

/** Makes a page of up to `limit + 1` items. The additional item only shows that there is a next page. */
export function pageOf<Item>(
  found: readonly Item[],
  { limit, cursorOf }: Cursors<Item> & { readonly limit: number },
): ListPage<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
