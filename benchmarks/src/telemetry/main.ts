import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { instrumentFlags } from '@flags/opentelemetry';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { figure, publish } from '../followers/verdict.js';
import { median } from '../median.js';
import { placeAt, populate } from '../population.js';

const { values: given } = parseArgs({
  options: {
    /** Flags of the memory and the series. */
    flags: { type: 'string', default: '100000' },
    /** Rounds with metrics, and as many without. */
    rounds: { type: 'string', default: '15' },
  },
});

/** The flags of the comparison, and the calls of a round. */
const EVALUATED = 1_000;
const CALLS = 1_000_000;
const SLICE = 20_000;
/** Milliseconds between two flushes: a hundredth of the default, so that a round has several. */
const INTERVAL = 100;
const MEBIBYTE = 2 ** 20;

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function createPopulated(flags: number): Promise<Flags> {
  const engine = await createFlags({
    storage: memoryStorage(),
    environments: [{ name: 'development' }, { name: 'production' }],
    usage: { interval: INTERVAL },
  });
  await populate(engine, { flags, projects: 1 });
  return engine;
}

const CONTEXT = { userId: '7', properties: { country: 'no' } };

/** Nanoseconds of processor time per evaluation, with the flushes and one collection. */
async function measureRound(flags: Flags, names: readonly string[], collect: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  for (let done = 0; done < CALLS; done += SLICE) {
    for (let call = 0; call < SLICE; call++) flags.isEnabled(names[call % names.length] ?? '', CONTEXT);
    await setImmediate();
  }
  await collect();
  const { user, system } = process.cpuUsage(begun);
  return ((user + system) * 1000) / CALLS;
}

/** The same engine with metrics and without, in alternating rounds. */
async function compareEvaluation(rounds: number) {
  const flags = await createPopulated(EVALUATED);
  const names = Array.from({ length: EVALUATED }, (_, at) => placeAt(at).flag);
  const without: number[] = [];
  const withMetrics: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const before = await measureRound(flags, names, async () => undefined);
    const reader = new Reader();
    const stop = instrumentFlags(flags, { meterProvider: new MeterProvider({ readers: [reader] }) });
    const after = await measureRound(flags, names, () => reader.collect());
    stop();
    if (round < 0) continue;
    without.push(before);
    withMetrics.push(after);
  }
  await flags.close();
  return { without: median(without), withMetrics: median(withMetrics) };
}

/** Evaluates all flags with metrics. Returns their series, and the heap that metrics have added. */
async function measureSeries(count: number) {
  const flags = await createPopulated(count);
  const names = Array.from({ length: count }, (_, at) => placeAt(at).flag);
  await evaluateAll(flags, names);
  const before = heapUsed();
  const reader = new Reader();
  const stop = instrumentFlags(flags, { meterProvider: new MeterProvider({ readers: [reader] }) });
  for (let round = 0; round < 3; round++) await evaluateAll(flags, names);
  const points = await pointsOf(reader);
  const heap = (heapUsed() - before) / MEBIBYTE;
  const counted = points.reduce((sum, { value }) => sum + Number(value), 0);
  stop();
  await flags.close();
  return { series: points.length, counted, expected: 6 * count, heap };
}

/** Evaluates each flag twice, and waits until the counts are flushed. */
async function evaluateAll(flags: Flags, names: readonly string[]): Promise<void> {
  for (const name of names) {
    flags.isEnabled(name, CONTEXT);
    flags.getVariant(name, CONTEXT);
  }
  await pause(30 * INTERVAL);
}

async function pointsOf(reader: Reader) {
  const { resourceMetrics } = await reader.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics.find(({ descriptor }) => descriptor.name === 'flags.evaluations')?.dataPoints ?? [];
}

function heapUsed(): number {
  for (let time = 0; time < 4; time++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const { without, withMetrics } = await compareEvaluation(Number(given.rounds));
const { series, counted, expected, heap } = await measureSeries(Number(given.flags));
const ratio = withMetrics / without;
publish(
  'Telemetry',
  [],
  [
    figure('an evaluation without metrics', `${without.toFixed(1)} ns`),
    figure('with metrics', `${withMetrics.toFixed(1)} ns`),
    {
      fact: `with metrics beside without, median of ${given.rounds} rounds each`,
      figure: `${(100 * (ratio - 1)).toFixed(1)} %`,
      aim: '± 5 %',
      holds: Math.abs(ratio - 1) <= 0.05,
    },
    { fact: `series of ${given.flags} flags`, figure: `${series}`, aim: '500', holds: series <= 500 },
    { fact: 'heap that metrics add', figure: `${heap.toFixed(1)} MiB`, aim: '10 MiB', holds: heap <= 10 },
    { fact: 'evaluations counted', figure: `${counted}`, aim: `${expected}`, holds: counted === expected },
  ],
);
