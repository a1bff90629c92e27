import { call } from '../api/call.js';
import { type Query, useQuery } from '../api/resource.js';
import type { UsageRow } from '../api/types.js';

/** The number of hours, including the current one. */
export const USAGE_HOURS = 24;
const PAGE = 1_000;
/** If usage has more rows than these pages, each flag's usage is requested when the flag becomes visible. */
const MAX_PAGES = 5;

interface Usage {
  readonly byFlag: ReadonlyMap<string, readonly UsageRow[]>;
  /** Whether all rows are loaded, so that a flag without rows has no usage. */
  readonly isComplete: boolean;
}

/** The usage of a flag; `unknown` while the list loads, and `single` if it needs a request of its own. */
export type FlagUsage = readonly UsageRow[] | 'unknown' | 'single';

/** Reads the usage of all flags, and returns a function that finds a flag's. */
export function useUsage(isOffered: boolean): (flag: string) => FlagUsage {
  const { data, error } = useQuery(isOffered ? USAGE : undefined);
  return (flag) => {
    if (data === undefined) return error ? 'single' : 'unknown';
    return data.byFlag.get(flag) ?? (data.isComplete ? UNUSED : 'single');
  };
}

const UNUSED: readonly UsageRow[] = [];

/** The usage of all flags, up to a number of pages. */
const USAGE: Query<Usage> = {
  action: 'listUsage',
  parameters: { hours: USAGE_HOURS },
  async read({ signal }) {
    const byFlag = new Map<string, UsageRow[]>();
    let after: string | null | undefined;
    let last = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { hours: USAGE_HOURS, limit: PAGE, ...(after && { after }) };
      const { data, next } = await call('listUsage', { query, signal });
      for (const row of data.usage) {
        last = row.feature;
        const rows = byFlag.get(last);
        if (rows) rows.push(row);
        else byFlag.set(last, [row]);
      }
      after = next?.get('after');
      if (!after) break;
    }
    // The last flag may have more rows on the next page.
    if (after) byFlag.delete(last);
    return { data: { byFlag, isComplete: !after } };
  },
};
