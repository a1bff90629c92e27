import type { ListPage, PageQuery } from '@flags/core';
import { type InputSchemas, readPages } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { createValidator } from '@flags/core/integration/shared';
import { invalidInput } from '../messages/errors.js';
import { jsonArray, jsonTexts, type Pieces } from '../messages/json.js';
import type { QueryParameterName } from '../messages/request.js';
import { propertiesOf, propertyOf, type SchemaSource, schemaFrom, text } from '../messages/schema.js';
import { compiledOf } from './compiled.js';
import type { NextPage, QueryParameter, QueryValues, Route, RouteResult } from './route.js';

/**
 * Splits a request target into path and query. Drops a fragment, as Express does for the path. The query has no question
 * mark, and is empty when absent.
 */
export function partsOfTarget(url: string): { readonly path: string; readonly query: string } {
  const [target = ''] = url.split('#', 1);
  const queryStart = target.indexOf('?');
  return queryStart === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, queryStart), query: target.slice(queryStart + 1) };
}

export type QueryReader = (rawQuery: string) => QueryValues;

/**
 * Creates a function that parses the documented query parameters. It does not depend on the host's `query parser`.
 * Throws `invalid_input` with one detail per invalid parameter.
 */
export function createQueryReader(route: Route, inputs: InputSchemas): QueryReader {
  const schema = querySchema(route, inputs);
  if (schema === undefined) return () => ({});
  const properties = Object.entries(propertiesOf(schema));
  const validate = createValidator<QueryValues>(compiledOf('query', route));
  return (rawQuery) => {
    const searchParams = new URLSearchParams(rawQuery);
    return validate(
      Object.fromEntries(
        properties
          .map(([name, property]) => [name, valueIn(searchParams, name, property)] as const)
          .filter(([, value]) => value !== undefined),
      ),
    );
  };
}

/** Returns an object schema that validates all parameters together; undefined without parameters. */
export function querySchema(route: Route, inputs: InputSchemas): JsonSchema | undefined {
  const parameters = queryParametersOf(route);
  if (parameters.length === 0) return undefined;
  const properties = parameters.map(({ name, schema }) => [name, schemaFrom(schema, inputs)] as const);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function valueIn(given: URLSearchParams, name: string, property: JsonSchema): unknown {
  if (property.type === 'object') return membersIn(given, name);
  // Clients of Unleash 4.x repeat a parameter under its name or with brackets.
  const texts = [...given.getAll(name), ...(property.type === 'array' ? given.getAll(`${name}[]`) : [])];
  return texts.length > 0 ? convert(texts, property) : undefined;
}

/** Returns the object that `name[member]=value` parameters form; undefined when there are none. */
function membersIn(given: URLSearchParams, name: string): Readonly<Record<string, string>> | undefined {
  const members = [...given].flatMap(([key, value]) =>
    key.startsWith(`${name}[`) && key.endsWith(']') ? [[key.slice(name.length + 1, -1), value] as const] : [],
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Returns the parameters in a query that a route does not document. The texts of a repeated one are joined by commas. */
export function otherParametersIn(
  rawQuery: string,
  documented: readonly QueryParameter[],
): Readonly<Record<string, string>> {
  const known = new Set<string>(documented.map(({ name }) => name));
  const others = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQuery)) {
    if (known.has(name) || (name.endsWith(']') && known.has(name.slice(0, name.indexOf('['))))) continue;
    const before = others.get(name);
    others.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(others);
}

/** Converts text to the type of the schema. Leaves other text unchanged, so that validation reports it. */
function convert(texts: readonly string[], { type }: JsonSchema): unknown {
  if (type === 'array') return texts;
  const [text = '', ...more] = texts;
  if (more.length > 0) return texts;
  if (type === 'integer') return /^\d+$/.test(text) ? Number(text) : text;
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Returns a query parameter. Default schema: text. */
export function parameter(name: QueryParameterName, description: string, schema: SchemaSource = text): QueryParameter {
  return { name, description, schema };
}

/** Returns query parameters that are members of an input of the engine, by their descriptions. */
export function inputParameters(
  input: keyof InputSchemas,
  descriptions: { readonly [Name in QueryParameterName]?: string },
): readonly QueryParameter[] {
  return Object.entries(descriptions).map(([name, description]) =>
    parameter(name as QueryParameterName, description, (inputs) => propertyOf(inputs[input], name)),
  );
}

const PAGE_PARAMETERS = inputParameters('pageQuery', {
  limit: 'Maximum number of items on the page. Default: 100 with `after`; without both, the whole list.',
  after: 'Position after which the page starts, from the `Link` header of the previous page.',
});

/** Returns all documented parameters of a route. */
export function queryParametersOf({ query = [], paged }: Pick<Route, 'query' | 'paged'>): readonly QueryParameter[] {
  return paged === 'optional' ? [...query, ...PAGE_PARAMETERS] : query;
}

/** Parses a positive integer in a path. Returns undefined for leading zeros and unsafe integers. */
export function positiveIntegerIn(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Parses the id of a segment in a path, or throws `invalid_input`. */
export function segmentIdIn(text: string): number {
  const segment = positiveIntegerIn(text);
  if (segment === undefined) throw invalidInput([{ message: 'must be a positive integer', path: '/segmentId' }]);
  return segment;
}

/** Whether the query asks for a page. A whole list may be long. */
function isPaged({ query: { limit, after } }: { readonly query: QueryValues }): boolean {
  return limit !== undefined || after !== undefined;
}

/** Whole lists wait for a place. */
export const WHOLE_LIST = { kind: 'read', isShort: isPaged } as const;
/** Long replies wait for a place. */
export const LONG_READ = { kind: 'read' } as const;

/** The list of a route, for {@link listReply}. */
interface List<Item, Page extends ListPage<Item>> {
  readonly page: (query: PageQuery) => Promise<Page>;
  /** Reads the whole list at once. Default: page by page, so that the list is not a consistent snapshot. */
  readonly isWhole?: true;
  /** Default: the item itself. */
  readonly toWire?: (item: Item) => unknown;
  /** Returns the reply's body for the JSON of the items. The page is absent if the list is read page by page. */
  readonly body: (items: Pieces, page: Partial<Page>) => unknown;
}

/** Items of a page without a limit. The engine would return everything. */
const DEFAULT_LIMIT = 100;

/** Returns the requested page, truncated when it exceeds the page size. Without page parameters, returns all items. */
export async function listReply<Item, Page extends ListPage<Item>>(
  { limit, after }: QueryValues,
  list: List<Item, Page>,
): Promise<RouteResult> {
  const { page, isWhole, toWire, body } = list;
  if (limit === undefined && after === undefined) {
    if (!isWhole) return { body: body(jsonArray(readPages(page), toWire), {}) };
    const whole = await page({});
    return { body: body(jsonArray(whole.items, toWire), whole) };
  }
  const read = await page({ limit: limit ?? DEFAULT_LIMIT, after } as PageQuery);
  const { items, next } = read;
  const texts = textsOfPage(items, toWire);
  // The page was cut: ask again with the smaller limit to get its cursor.
  if (texts.length < items.length) return listReply({ limit: texts.length, after }, list);
  return { body: body(jsonTexts(texts), read), next: next === undefined ? undefined : { after: next } };
}

/** The maximum size of the items on a page, in bytes. The rest of 1 MiB is for the enclosing object. */
const PAGE_SIZE = 1024 * 1024 - 1024;

/** Returns the JSON of as many items as fit on a page, and at least one. */
export function textsOfPage<Item>(
  items: readonly Item[],
  toWire: (item: Item) => unknown = (item) => item,
): readonly string[] {
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

/**
 * Returns a `Link` header (RFC 8288) to the next page. Keeps the other parameters. The target is relative to the address
 * that the client has asked: a proxy may have stripped a prefix of its path.
 */
export function linkToNext(url: string, next: NextPage): string {
  const parameters = new URLSearchParams(partsOfTarget(url).query);
  for (const [name, value] of Object.entries(next)) parameters.set(name, value);
  return `<?${parameters}>; rel="next"`;
}
