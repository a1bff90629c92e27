import type { Engine } from '../changes/engine.js';
import type { FlagCount } from '../storage/metrics-port.js';
import type { EvaluationCounts, YesNo } from './metrics.types.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The tolerated skew of other processes' clocks, in milliseconds. */
const CLOCK_SKEW = MINUTE;
const NONE: YesNo = { yes: 0, no: 0 };

export async function countEvaluations({ metrics, now }: Engine): Promise<EvaluationCounts> {
  const time = now().getTime();
  const future = toCounts(await metrics.counts({ after: time + CLOCK_SKEW }));
  const lastHour = subtract(future, toCounts(await metrics.counts({ after: time - HOUR })));
  const lastMinute = subtract(future, toCounts(await metrics.counts({ after: time - MINUTE })));
  return {
    lastHour,
    lastMinute: new Map([...lastHour.keys()].map((flag) => [flag, lastMinute.get(flag) ?? NONE])),
  };
}

/** Subtracts counts from the future. A process whose clock was ahead recorded them. */
function subtract(future: ReadonlyMap<string, YesNo>, counts: ReadonlyMap<string, YesNo>): Map<string, YesNo> {
  const remaining = [...counts].map(([flag, { yes, no }]) => {
    const later = future.get(flag) ?? NONE;
    return [flag, { yes: yes - later.yes, no: no - later.no }] as const;
  });
  return new Map(remaining.filter(([flag, { yes, no }]) => yes + no > 0 || !future.has(flag)));
}

function toCounts(counts: readonly FlagCount[]): Map<string, YesNo> {
  return new Map(counts.map(({ flag, yes, no }) => [flag, { yes, no }]));
}
