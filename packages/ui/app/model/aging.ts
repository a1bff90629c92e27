import type { ListedFlag, Session } from '../api/types.js';
import { DAY } from './usage-sums.js';

/** Days without an evaluation after which a flag counts as unused. */
export const UNUSED_DAYS = 60;

type Aging = Pick<ListedFlag, 'type' | 'stale' | 'createdAt' | 'lastSeenAt'>;
type Types = NonNullable<Session['types']>;

/** Returns the lifetime in days that a flag has outlived: it is potentially stale. */
export function outlivedDays({ type, stale, createdAt }: Aging, types: Types, now = Date.now()): number | undefined {
  const lifetime = types.find(({ name }) => name === type)?.lifetimeDays ?? undefined;
  if (stale || lifetime === undefined) return undefined;
  return now - Date.parse(createdAt) > lifetime * DAY ? lifetime : undefined;
}

/** Returns the days since the last evaluation of a flag; undefined below {@link UNUSED_DAYS}. */
export function unusedDays({ createdAt, lastSeenAt }: Aging, now = Date.now()): number | undefined {
  const days = Math.floor((now - Date.parse(lastSeenAt ?? createdAt)) / DAY);
  return days < UNUSED_DAYS ? undefined : days;
}

/** Says why a flag may be due for removal: "potentially stale: older than 40 days", "unused for 60 days". */
export function agingOf(flag: Aging, types: Types, now = Date.now()): readonly string[] {
  const outlived = outlivedDays(flag, types, now);
  const unused = unusedDays(flag, now);
  return [
    ...(outlived === undefined ? [] : [`potentially stale: older than ${outlived} days`]),
    ...(unused === undefined ? [] : [`unused for ${unused} days`]),
  ];
}
