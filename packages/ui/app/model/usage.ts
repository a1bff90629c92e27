import type { UsageRow } from '../api/types.js';

/** Sums usage over environments and applications, hour by hour, the oldest first. Absent hours are zeros. */
export function sumByHour(rows: readonly UsageRow[], hours: number, now: number): { yes: number; no: number }[] {
  const latest = Math.floor(now / 3_600_000);
  const sums = Array.from({ length: hours }, () => ({ yes: 0, no: 0 }));
  for (const { hour, yes, no } of rows) {
    const sum = sums[hours - 1 - (latest - Math.floor(Date.parse(hour ?? '') / 3_600_000))];
    if (sum === undefined) continue;
    sum.yes += yes;
    sum.no += no;
  }
  return sums;
}
