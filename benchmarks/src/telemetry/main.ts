import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
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
const CALLS = 8_000_000;
const SLICE = 20_000;
const WARM_UP = 2;
/** Milliseconds between two flushes: a tenth of the default, so that a round has some. */
const INTERVAL = 1_000;
const MEBIBYTE = 2 ** 20;

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function createPopulated(flags: number): Promise<Flags> {
  const engine = await openFlags({
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
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const without: number[] = [];
  const withMetrics: number[] = [];
  const measureWithout = async () => without.push(await measureRound(flags, names, async () => undefined));
  const measureWith = async () => {
    const stop = instrumentFlags(flags, { meterProvider });
    withMetrics.push(await measureRound(flags, names, () => reader.collect()));
    stop();
  };
  for (let round = -WARM_UP; round < rounds; round++) {
    const pair = [measureWithout, measureWith];
    for (const measure of round % 2 === 0 ? pair : pair.reverse()) await measure();
  }
  await flags.close();
  const [off, on] = [without.slice(WARM_UP), withMetrics.slice(WARM_UP)];
  // Of each pair: what else the machine does changes within seconds.
  const ratios = on.map((time, round) => time / (off[round] ?? Number.NaN));
  return { without: median(off), withMetrics: median(on), ratio: median(ratios) };
}

/** Evaluates all flags with metrics. Returns their series, and the heap that is free again without them. */
async function measureSeries(count: number) {
  const flags = await createPopulated(count);
  const names = Array.from({ length: count }, (_, at) => placeAt(at).flag);
  // Compiles the flags.
  await observe(flags, names);
  const observed = await observe(flags, names);
  // The usage that the storage keeps grows meanwhile, so the heap is compared with the end, not with the start.
  const heap = (observed.heap - heapUsed()) / MEBIBYTE;
  await flags.close();
  return { ...observed, expected: 2 * count, heap };
}

/** Evaluates each flag twice, and waits until all is counted. Afterwards nothing of the metrics is reachable. */
async function observe(flags: Flags, names: readonly string[]) {
  const reader = new Reader();
  const stop = instrumentFlags(flags, { meterProvider: new MeterProvider({ readers: [reader] }) });
  for (const name of names) {
    flags.isEnabled(name, CONTEXT);
    flags.getVariant(name, CONTEXT);
  }
  let counted = 0;
  let series = 0;
  for (let second = 0; second < 60 && counted < 2 * names.length; second++) {
    await pause(1_000);
    const points = await pointsOf(reader);
    series = points.length;
    counted = points.reduce((sum, { value }) => sum + Number(value), 0);
  }
  const heap = heapUsed();
  stop();
  return { series, counted, heap };
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

const { without, withMetrics, ratio } = await compareEvaluation(Number(given.rounds));
const { series, counted, expected, heap } = await measureSeries(Number(given.flags));
publish(
  'Telemetry',
  [],
  [
    figure('an evaluation without metrics', `${without.toFixed(1)} ns`),
    figure('with metrics', `${withMetrics.toFixed(1)} ns`),
    {
      fact: `with metrics beside without, median of ${given.rounds} pairs of rounds`,
      figure: `${(100 * (ratio - 1)).toFixed(1)} %`,
      aim: '± 5 %',
      holds: Math.abs(ratio - 1) <= 0.05,
    },
    { fact: `series of ${given.flags} flags`, figure: `${series}`, aim: '500', holds: series <= 500 },
    { fact: 'heap that metrics add', figure: `${heap.toFixed(1)} MiB`, aim: '10 MiB', holds: heap <= 10 },
    { fact: 'evaluations counted', figure: `${counted}`, aim: `${expected}`, holds: counted === expected },
  ],
);
