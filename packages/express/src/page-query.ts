import type { Page, PageQuery } from '@flags/core';
import { jsonArray, jsonTexts } from './json-chunks.js';
import type { QueryValues } from './query-values.js';
import { partsOfTarget } from './request-target.js';
import type { NextPage, QueryParameter, Route } from './route.js';
import { propertyOf } from './schema-properties.js';
import { unchecked } from './unchecked.js';

/** The core takes no greater limit. */
const LARGEST_PAGE = 1000;

const PAGE_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'limit',
    description:
      'Only a page of the list, of at most so many; 100 when only after is given. The whole list without both.',
    schema: ({ pageQuery }) => propertyOf(pageQuery, 'limit'),
  },
  {
    name: 'after',
    description: 'Only a page of the list, from where the page before has ended: as its Link header names it.',
    schema: ({ pageQuery }) => propertyOf(pageQuery, 'after'),
  },
];

/** All documented parameters of a row. */
export function queryParametersOf({ query = [], paged }: Pick<Route, 'query' | 'paged'>): readonly QueryParameter[] {
  return paged === 'asked' ? [...query, ...PAGE_PARAMETERS] : query;
}

/** A list for {@link listPieces}. */
interface List<Item> {
  /** All items, as the contract shows them. */
  readonly whole: () => Promise<Iterable<Item> | AsyncIterable<Item>>;
  readonly page: (query: PageQuery) => Promise<Page<Item>>;
  /** What a page that begins after this item is asked for by. */
  readonly cursorOf: (item: Item) => string;
  readonly toWire: (item: Item) => unknown;
}

/** The JSON of a list, and where the next page begins. */
interface ListedPieces {
  readonly items: AsyncGenerator<string, void>;
  readonly next?: NextPage | undefined;
}

/** The page that the query asks for, cut where it gets large; or else all. */
export async function listPieces<Item>({ limit, after }: QueryValues, list: List<Item>): Promise<ListedPieces> {
  if (limit === undefined && after === undefined) return { items: jsonArray(await list.whole(), list.toWire) };
  const { items, next } = await list.page(unchecked<PageQuery>({ limit, after }));
  const texts = textsOfPage(items, list.toWire);
  const last = items[texts.length - 1];
  const cursor = texts.length < items.length && last !== undefined ? list.cursorOf(last) : next;
  return { items: jsonTexts(texts), next: cursor === undefined ? undefined : { after: cursor } };
}

/** Reads a list to its end, page by page. */
export async function* allPages<Item>(readPage: (query: PageQuery) => Promise<Page<Item>>): AsyncGenerator<Item> {
  let after: string | undefined;
  do {
    const page = await readPage({ limit: LARGEST_PAGE, after });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

/** In bytes; what stands around the items has room in 1 MiB too. */
const PAGE_SIZE = 1024 * 1024 - 1024;

/** The JSON of as many items as fit on a page, at least of one. */
export function textsOfPage<Item>(items: readonly Item[], toWire: (item: Item) => unknown): readonly string[] {
  const texts: string[] = [];
  let size = 0;
  for (const item of items) {
    const text = JSON.stringify(toWire(item));
    size += Buffer.byteLength(text) + 1;
    if (size > PAGE_SIZE && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}

/** The `Link` (RFC 8288) to the next page: the same address, mount path and other parameters. */
export function linkToNext(url: string, next: NextPage): string {
  const { path, query } = partsOfTarget(url);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(next)) parameters.set(name, value);
  return `<${inAngleBrackets(path)}?${parameters}>; rel="next"`;
}

/** Paths come as they were sent; what no URI may hold is escaped. */
function inAngleBrackets(path: string): string {
  return path.replaceAll(/[^\w\-.~:/@!$&'()*+,;=%]/g, (character) => encodeURIComponent(character));
}
