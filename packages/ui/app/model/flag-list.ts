import type { ListedFlag, Session } from '../api/types.js';
import { outlivedDays, unusedDays } from './aging.js';

/** The filters and the order of the list, from the query of the URL. */
export interface FlagFilter {
  readonly text: string;
  readonly type: string | undefined;
  /** `on`, `off`, or `on:production` and `off:production` for one environment. */
  readonly state: string | undefined;
  /** `true`, `false`, `potentially` or `unused`. */
  readonly stale: string | undefined;
  readonly label: string | undefined;
  readonly owner: string | undefined;
  readonly sort: SortKey;
  readonly isDescending: boolean;
}

export const SORT_KEYS = ['name', 'type', 'createdAt', 'lastSeenAt'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export function filterFromQuery(query: URLSearchParams): FlagFilter {
  const sort = query.get('sort') ?? 'name';
  const key = sort.replace(/^-/, '') as SortKey;
  return {
    text: query.get('q') ?? '',
    type: query.get('type') ?? undefined,
    state: query.get('state') ?? undefined,
    stale: query.get('stale') ?? undefined,
    label: query.get('label') ?? undefined,
    owner: query.get('owner') ?? undefined,
    sort: SORT_KEYS.includes(key) ? key : 'name',
    isDescending: sort.startsWith('-'),
  };
}

/** The searched text of each flag, created once per flag. */
const texts = new WeakMap<ListedFlag, string>();

function textOf(flag: ListedFlag): string {
  const known = texts.get(flag);
  if (known !== undefined) return known;
  const { name, description, labels, owner } = flag;
  const text = [name, description ?? '', ...(labels ?? []), owner ?? ''].join('\n').toLowerCase();
  texts.set(flag, text);
  return text;
}

/** Returns the flags that match every word of the search and every filter, in the chosen order. */
export function selectFlags(
  flags: readonly ListedFlag[],
  filter: FlagFilter,
  types: NonNullable<Session['types']> = [],
): readonly ListedFlag[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const selected = flags.filter((flag) => {
    if (filter.type !== undefined && flag.type !== filter.type) return false;
    if (filter.stale === 'potentially' && outlivedDays(flag, types) === undefined) return false;
    if (filter.stale === 'unused' && unusedDays(flag) === undefined) return false;
    if (/^(true|false)$/.test(filter.stale ?? '') && String(flag.stale) !== filter.stale) return false;
    if (filter.label !== undefined && !flag.labels.includes(filter.label)) return false;
    if (filter.owner !== undefined && flag.owner !== filter.owner) return false;
    if (filter.state !== undefined && !hasState(flag, filter.state)) return false;
    return words.length === 0 || words.every((word) => textOf(flag).includes(word));
  });
  return sortFlags(selected, filter);
}

function hasState({ environments }: ListedFlag, state: string): boolean {
  const [word, name] = state.split(':', 2);
  const isOn = environments.some(
    (one) => one.enabled && one.offBecauseOf === null && (name === undefined || one.name === name),
  );
  return (word === 'on') === isOn;
}

function sortFlags(flags: readonly ListedFlag[], { sort, isDescending }: FlagFilter): readonly ListedFlag[] {
  const sign = isDescending ? -1 : 1;
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return flags.toSorted(
    (one, other) => sign * compare(one[sort] ?? '', other[sort] ?? '') || compare(one.name, other.name),
  );
}
