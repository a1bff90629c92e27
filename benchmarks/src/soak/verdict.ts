import { median } from '../median.js';
import type { LoadOutcome } from './load.js';
import type { Observation } from './observation.js';

/** One condition. */
export interface Finding {
  readonly fact: string;
  readonly figure: string;
  readonly holds: boolean;
}

interface Plateau {
  readonly figure: (observation: Observation) => number;
  readonly fact: string;
  readonly unit: number;
  readonly name: string;
  /** Growth that counts as noise, in absolute numbers. */
  readonly noise: number;
}

const MEBIBYTE = 2 ** 20;
/** The maximum rise of the fitted line over the last half, as a share of its mean. */
const SHARE = 0.1;

const PLATEAUS: readonly Plateau[] = [
  { fact: 'heap after collection', figure: ({ heap }) => heap, unit: MEBIBYTE, name: 'MiB', noise: MEBIBYTE },
  { fact: 'buffers', figure: ({ buffers }) => buffers, unit: MEBIBYTE, name: 'MiB', noise: MEBIBYTE },
  { fact: 'resident memory', figure: ({ resident }) => resident, unit: MEBIBYTE, name: 'MiB', noise: 4 * MEBIBYTE },
  { fact: 'handles', figure: ({ handles }) => handles, unit: 1, name: '', noise: 8 },
  // The file keeps its maximum size.
  { fact: 'write-ahead log', figure: ({ log }) => log, unit: MEBIBYTE, name: 'MiB', noise: 16 * MEBIBYTE },
];

/** Three hours of the fast clock until they are dropped, which are real minutes, and one minute for the sample. */
const KEPT = [
  {
    fact: 'rows of counters',
    rows: ({ counters }: Observation) => counters,
    perRequest: 2 * 5 * 0.3 * 1.2,
    minutes: 3,
  },
  { fact: 'applications', rows: ({ applications }: Observation) => applications, perRequest: 1.2 / 200, minutes: 4 },
];

/** Over the last half of the time, only the event log may grow, and no request may fail. */
export function verdictOn(observations: readonly Observation[], outcome: LoadOutcome): readonly Finding[] {
  const half = observations.slice(observations.length / 2);
  return [
    ...PLATEAUS.map((plateau) => levelOf(plateau, half)),
    ...retentionIn(observations),
    delayIn(half),
    workIn(half),
    answersIn(outcome),
  ];
}

function levelOf({ fact, figure, unit, name, noise }: Plateau, observations: readonly Observation[]): Finding {
  const { mean, rise } = fit(observations.map(figure));
  const shown = (value: number) => (value / unit).toFixed(1);
  return {
    fact,
    figure: `${shown(mean)} ${name} (${rise < 0 ? '' : '+'}${shown(rise)} over the last half)`.replace('  ', ' '),
    holds: rise <= Math.max(noise, mean * SHARE),
  };
}

/** Stored metrics may not exceed the reports within their retention. */
function retentionIn(observations: readonly Observation[]): readonly Finding[] {
  return KEPT.map(({ fact, rows, perRequest, minutes }) => {
    const shares = observations.map((one) => {
      const since = observations.findLast(({ at }) => at <= one.at - minutes * 60_000);
      return rows(one) / (perRequest * (one.answered - (since?.answered ?? 0)));
    });
    const highest = Math.max(...shares);
    return { fact, figure: `at most ${(100 * highest).toFixed(0)} % of what may be kept`, holds: highest <= 1 };
  });
}

/** By medians, because other work of the machine affects some samples. */
function delayIn(observations: readonly Observation[]): Finding {
  const [early, late] = halvesOf(observations).map((half) => median(half.map(({ delayMedian }) => delayMedian)));
  const [before = 0, after = 0] = [early, late];
  const figure = `${before.toFixed(1)} ms, then ${after.toFixed(1)} ms`;
  return { fact: 'median delay of the event loop', figure, holds: after <= Math.max(10, 2 * before) };
}

/** Processor time per request and its evaluations: growing state costs more. */
function workIn(observations: readonly Observation[]): Finding {
  const [before = 0, after = 0] = halvesOf(observations).map((half) => {
    const [first, last] = [half[0], half.at(-1)];
    if (!first || !last) return 0;
    return (last.processorTime - first.processorTime) / (last.answered - first.answered);
  });
  const figure = `${before.toFixed(0)} µs, then ${after.toFixed(0)} µs`;
  return { fact: 'processor time per request', figure, holds: after <= before * 1.5 };
}

function halvesOf<T>(values: readonly T[]): readonly (readonly T[])[] {
  return [values.slice(0, values.length / 2), values.slice(values.length / 2)];
}

function answersIn({ answered, statuses }: LoadOutcome): Finding {
  const failed = [...statuses].filter(([status]) => status === 0 || status >= 500);
  const figure = failed.map(([status, count]) => `${count} × ${status}`).join(', ') || 'none';
  return { fact: `failures among ${answered} requests`, figure, holds: failed.length === 0 };
}

/** The line through the values by least squares: their mean, and its rise from the first to the last. */
function fit(values: readonly number[]): { readonly mean: number; readonly rise: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = (values.length - 1) / 2;
  const above = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0);
  const below = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return { mean, rise: below === 0 ? 0 : (above / below) * (values.length - 1) };
}
