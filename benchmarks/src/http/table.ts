import { table } from '../markdown.js';
import type { ComparedBuilds } from './builds.js';
import type { Compared } from './compare.js';
import type { Round } from './load.js';
import type { Scenario } from './scenarios.js';

/** What was measured of a route. */
export interface Measured extends Compared {
  readonly scenario: Scenario;
}

/** Beside the bare handler. */
export function limitTable(measured: readonly Measured[]): string {
  const header = ['route', 'requests/s', 'bare', 'ratio', 'aim', 'met', 'p99, ms', 'bare', 'processor time'];
  return table(header, measured.map(limitRow));
}

/** Beside another build. */
export function buildTable(compared: readonly ComparedBuilds[]): string {
  const header = ['route', 'requests/s', 'before', 'ratio', 'p99, ms', 'before', 'processor time'];
  return table(header, compared.map(buildRow));
}

export function buildRow({ scenario: { name }, now, before }: ComparedBuilds): readonly string[] {
  const ratio = median(ratios(now, before, ({ requestsPerSecond }) => requestsPerSecond));
  const time = median(ratios(now, before, ({ processorTime }) => processorTime));
  const rates = [perSecond(now), perSecond(before), ratio.toFixed(2)];
  return [name, ...rates, latency(now), latency(before), `× ${time.toFixed(2)}`];
}

/** Beside the bare handler that writes the same rows; empty where nothing was written. */
export function writingTable(measured: readonly Measured[]): string {
  const rows = measured.filter(({ writing }) => writing.length > 0).map(writingRow);
  return rows.length === 0
    ? ''
    : table(['route', 'requests/s', 'bare, writing', 'ratio', 'bare, writing, beside bare'], rows);
}

export function limitRow({ scenario: { name, aim }, flags, bare }: Measured): readonly string[] {
  const ratio = median(ratios(flags, bare, ({ requestsPerSecond }) => requestsPerSecond));
  const time = median(ratios(flags, bare, ({ processorTime }) => processorTime));
  const met = ratio >= (aim ?? 0) ? 'yes' : 'no';
  return [
    name,
    perSecond(flags),
    perSecond(bare),
    ratio.toFixed(2),
    aim?.toFixed(2) ?? '',
    aim === undefined ? '' : met,
    latency(flags),
    latency(bare),
    `× ${time.toFixed(2)}`,
  ];
}

function writingRow({ scenario, flags, bare, writing }: Measured): readonly string[] {
  const beside = (sides: readonly Round[], others: readonly Round[]) =>
    median(ratios(sides, others, ({ requestsPerSecond }) => requestsPerSecond)).toFixed(2);
  return [scenario.name, perSecond(flags), perSecond(writing), beside(flags, writing), beside(writing, bare)];
}

/** Round by round: neighbours have met the same machine. */
function ratios(ours: readonly Round[], theirs: readonly Round[], figure: (round: Round) => number): number[] {
  return ours.flatMap((round, number) => {
    const other = theirs[number];
    return other ? [figure(round) / figure(other)] : [];
  });
}

function perSecond(rounds: readonly Round[]): string {
  const figure = median(rounds.map(({ requestsPerSecond }) => requestsPerSecond));
  return Math.round(figure).toLocaleString('en');
}

function latency(rounds: readonly Round[]): string {
  return median(rounds.map(({ p99 }) => p99)).toFixed(0);
}

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}
