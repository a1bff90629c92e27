import { signal } from '@preact/signals';
import { call } from '../api/call.js';
import type { UsageRow } from '../api/types.js';

/** So many hours, the current one among them. */
export const USAGE_HOURS = 24;
const PAGE = 1_000;
/** With more rows of usage than these pages hold, flags are asked for one by one as they come into view. */
const MAX_PAGES = 5;

interface Usage {
  readonly byFlag: ReadonlyMap<string, readonly UsageRow[]>;
  /** Whether a flag without rows has no usage. */
  readonly isComplete: boolean;
}

const usage = signal<Usage | undefined>(undefined);

/** Reads the usage of all flags at once, as far as it is small. */
export async function loadUsage(): Promise<void> {
  const byFlag = new Map<string, UsageRow[]>();
  let after: string | null | undefined;
  let last = '';
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { hours: USAGE_HOURS, limit: PAGE, ...(after && { after }) };
      const { data, next } = await call('listUsage', { query });
      for (const row of data.usage) {
        last = row.feature;
        const rows = byFlag.get(last);
        if (rows) rows.push(row);
        else byFlag.set(last, [row]);
      }
      after = next?.get('after');
      if (!after) break;
    }
    // The last flag of a list that goes on may have more rows.
    if (after) byFlag.delete(last);
    usage.value = { byFlag, isComplete: !after };
  } catch {
    usage.value = { byFlag: new Map(), isComplete: false };
  }
}

/** Returns the usage of a flag; `unknown` while the list loads, and `single` if it has to be asked for. */
export function usageOf(flag: string): readonly UsageRow[] | 'unknown' | 'single' {
  const all = usage.value;
  if (all === undefined) return 'unknown';
  return all.byFlag.get(flag) ?? (all.isComplete ? [] : 'single');
}
