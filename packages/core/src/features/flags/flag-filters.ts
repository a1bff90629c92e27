import { LIMITS } from '../../base/limits.js';
import type { JsonSchema } from '../../base/primitives.js';
import { type FlagState, isTextInMembers } from './flag.js';
import type { FlagQuery } from './flag-search.types.js';

type IsMatch = (flag: FlagState) => boolean;

interface FlagFilter<Value> {
  readonly schema: JsonSchema;
  readonly matches: (value: Value) => IsMatch;
}

type FilterName = Exclude<keyof FlagQuery, 'sort'>;

/** One text or several. */
function oneOrMore(maxItems: number): JsonSchema {
  return { type: ['string', 'array'], maxItems, items: { type: 'string' } };
}

/** The members of a query that select flags. */
const FILTERS: { readonly [Name in FilterName]-?: FlagFilter<NonNullable<FlagQuery[Name]>> } = {
  query: {
    schema: { type: 'string', maxLength: LIMITS.searchText },
    matches(query) {
      const text = query.toLowerCase();
      return (flag) => flag.name.toLowerCase().includes(text) || isTextInMembers(flag, text);
    },
  },
  namePrefix: {
    schema: { type: 'string', maxLength: LIMITS.name },
    matches: (prefix) => (flag) => flag.name.startsWith(prefix),
  },
  project: {
    schema: oneOrMore(LIMITS.projectsPerQuery),
    matches(project) {
      const projects = new Set([project].flat());
      return (flag) => projects.has(flag.project);
    },
  },
  type: { schema: { type: 'string' }, matches: (type) => (flag) => flag.type === type },
  label: {
    schema: oneOrMore(LIMITS.labelsPerFlag),
    matches(label) {
      const labels = new Set([label].flat());
      return (flag) => flag.labels.some((one) => labels.has(one));
    },
  },
  owner: { schema: { type: 'string' }, matches: (owner) => (flag) => flag.owner === owner },
  stale: { schema: { type: 'boolean' }, matches: (stale) => (flag) => flag.stale === stale },
  archived: { schema: { type: 'boolean' }, matches: (archived) => (flag) => flag.archived === archived },
  enabledIn: {
    schema: { type: 'string' },
    matches: (environment) => (flag) => flag.environments.some(({ name, enabled }) => enabled && name === environment),
  },
};

export function filterSchemas(): Readonly<Record<FilterName, JsonSchema>> {
  const schemas = Object.entries(FILTERS).map(([name, { schema }]) => [name, schema] as const);
  return Object.fromEntries(schemas) as Record<FilterName, JsonSchema>;
}

/** Returns a function that decides whether a flag matches all members of a query. */
export function createFlagMatcher({ archived = false, query, ...others }: FlagQuery): IsMatch {
  // Cheap conditions first; the text search last.
  const given = { archived, ...others, query };
  const names = Object.keys(given).filter((name): name is FilterName => Object.hasOwn(FILTERS, name));
  const conditions = names.flatMap((name) => conditionOf(name, given[name]));
  return (flag) => conditions.every((isMatch) => isMatch(flag));
}

function conditionOf(name: FilterName, value: unknown): readonly IsMatch[] {
  return value === undefined ? [] : [(FILTERS[name] as FlagFilter<unknown>).matches(value)];
}
