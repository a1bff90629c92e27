import type { Page, PageQuery } from '@flags/core';
import type { QueryValues } from './query-values.js';
import { partsOfTarget } from './request-target.js';
import type { QueryParameter, Route } from './route.js';
import { propertyOf } from './schema-properties.js';
import { unchecked } from './unchecked.js';

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
  return paged ? [...query, ...PAGE_PARAMETERS] : query;
}

/** How a list is had whole, as the contract shows it, and how page by page. */
interface List<Item> {
  readonly whole: () => Promise<readonly Item[]>;
  readonly page: (query: PageQuery) => Promise<Page<Item>>;
}

/** The page that the query asks for, or else all. */
export async function readList<Item>({ limit, after }: QueryValues, { whole, page }: List<Item>): Promise<Page<Item>> {
  if (limit === undefined && after === undefined) return { items: await whole() };
  return page(unchecked<PageQuery>({ limit, after }));
}

/** The `Link` (RFC 8288) to the page that begins after the cursor: the same address, mount path and other parameters. */
export function linkToNext(url: string, cursor: string): string {
  const { path, query } = partsOfTarget(url);
  const parameters = new URLSearchParams(query);
  parameters.set('after', cursor);
  return `<${inAngleBrackets(path)}?${parameters}>; rel="next"`;
}

/** Paths come as they were sent; what no URI may hold is escaped. */
function inAngleBrackets(path: string): string {
  return path.replaceAll(/[^\w\-.~:/@!$&'()*+,;=%]/g, (character) => encodeURIComponent(character));
}
