import { table } from '../markdown.js';
import type { LoadOutcome } from './load.js';
import type { Observation } from './observation.js';
import type { Finding } from './verdict.js';

export interface SoakReport {
  readonly minutes: number;
  readonly machine: string;
  /** Requests per second. */
  readonly maximum: number;
  readonly outcome: LoadOutcome;
  readonly observations: readonly Observation[];
  readonly verdict: readonly Finding[];
}

const MEBIBYTE = 2 ** 20;
const ROWS = 10;

/** The results of the soak test, in Markdown. */
export function describe({ minutes, machine, maximum, outcome, observations, verdict }: SoakReport): string {
  const { answered, statuses, streams } = outcome;
  const counted = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
  const step = Math.max(1, Math.floor(observations.length / ROWS));
  const shown = observations.filter((_, at) => at % step === step - 1);
  const last = observations.at(-1);
  return [
    `${minutes} minutes, ${answered} requests at half of the maximum of ${maximum.toFixed(0)} per second (${counted.join(', ')}), ` +
      `${last?.evaluations ?? 0} evaluations, ${streams.begun} streams with ${streams.messages} messages. ${machine}.`,
    table(
      ['Level over the last half', 'Mean and rise', 'Holds'],
      verdict.map(({ fact, figure, holds }) => [fact, figure, holds ? 'yes' : 'NO']),
    ),
    table(
      [
        'Minute',
        'Heap MiB',
        'RSS MiB',
        'Handles',
        'Loop p50 ms',
        'p99 ms',
        'WAL MiB',
        'File MiB',
        'Events',
        'Counters',
        'Applications',
      ],
      shown.map((one) => [
        ((minutes * (observations.indexOf(one) + 1)) / observations.length).toFixed(1),
        (one.heap / MEBIBYTE).toFixed(1),
        (one.resident / MEBIBYTE).toFixed(0),
        `${one.handles}`,
        one.delayMedian.toFixed(1),
        one.delayP99.toFixed(1),
        (one.log / MEBIBYTE).toFixed(1),
        (one.file / MEBIBYTE).toFixed(1),
        `${one.events}`,
        `${one.counters}`,
        `${one.applications}`,
      ]),
    ),
  ].join('\n\n');
}
