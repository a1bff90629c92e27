import type { Round } from '../http/load.js';
import { table } from '../markdown.js';
import { median } from '../rounds.js';
import type { Contender } from './contender.js';
import type { Costs, Measured } from './measure.js';
import type { Memory } from './program.js';

export function speedTable(measured: Measured): string {
  return figureTable('requests/s', measured, ({ requestsPerSecond }) => requestsPerSecond);
}

/** How many times as many requests per second each server of this library answers as each of Unleash's. */
export function ratioTable({ costs, compared }: Measured): string {
  const numbers = (of: Contender['of']) => [...costs.keys()].filter((at) => costs[at]?.contender.of === of);
  const pairs = numbers('Unleash').flatMap((theirs) => numbers('this library').map((ours) => ({ ours, theirs })));
  const rows = compared.map(({ scenario, rounds }) => [
    scenario.name,
    ...pairs.map(({ ours, theirs }) => `× ${figure(ratio(rounds[ours], rounds[theirs]))}`),
  ]);
  const name = (at: number) => costs[at]?.contender.name.replace('@flags, ', '') ?? '';
  return table(['ratio', ...pairs.map(({ ours, theirs }) => `${name(ours)} : ${name(theirs)}`)], rows);
}

export function latencyTable(measured: Measured): string {
  return figureTable('p99, ms', measured, ({ p99 }) => p99);
}

/** Of the server's process alone. */
export function processorTable(measured: Measured): string {
  return figureTable('processor time, µs', measured, ({ processorTime }) => processorTime);
}

export function costTable({ costs, memories }: Measured): string {
  const row = (title: string, value: (costs: Costs, at: number) => number) => [
    title,
    ...costs.map((one, at) => figure(value(one, at))),
  ];
  const memoryRows = (when: string, memory: (costs: Costs, at: number) => Memory | undefined) => [
    row(`resident memory after ${when}, MB`, (one, at) => (memory(one, at)?.resident ?? Number.NaN) / 1e6),
    row(`live heap after ${when}, MB`, (one, at) => (memory(one, at)?.live ?? Number.NaN) / 1e6),
  ];
  return table(
    ['', ...costs.map(({ contender }) => contender.name)],
    [
      row('packages', ({ packages }) => packages),
      row('installed, MB', ({ bytes }) => bytes / 1e6),
      row('first start to first answer, ms', ({ firstStart }) => firstStart),
      row('start with 1,000 flags, ms', ({ start }) => start),
      row('resident memory after that start, MB', ({ memoryAtStart }) => memoryAtStart / 1e6),
      ...memoryRows('the same load', (_, at) => memories[at]),
      ...memoryRows('the comparison', ({ memoryAfterLoad }) => memoryAfterLoad),
    ],
  );
}

/** The medians of the rounds. */
function figureTable(title: string, { costs, compared }: Measured, of: (round: Round) => number): string {
  const rows = compared.map(({ scenario, rounds }) => [
    scenario.name,
    ...rounds.map((each) => figure(median(each.map(of)))),
  ]);
  return table([title, ...costs.map(({ contender }) => contender.name)], rows);
}

/** Round by round: neighbours have met the same machine. */
function ratio(ours: readonly Round[] = [], theirs: readonly Round[] = []): number {
  return median(
    ours.map(({ requestsPerSecond }, at) => requestsPerSecond / (theirs[at]?.requestsPerSecond ?? Number.NaN)),
  );
}

function figure(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
