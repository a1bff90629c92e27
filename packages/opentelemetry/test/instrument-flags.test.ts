import { join } from 'node:path';
import { defineFlags, type Flags, FlagsError, type FlagsOptions, memoryStorage, openFlags } from '@flags/core';
import { type UsageBatch, type UsageStorage, usageOf } from '@flags/core/integration/postgres';
import { sqliteStorage } from '@flags/core/sqlite';
import { faultyStorage } from '@flags/core/testing';
import { DiagLogLevel, diag, metrics as globalMetrics } from '@opentelemetry/api';
import { AggregationTemporality, InMemoryMetricExporter } from '@opentelemetry/sdk-metrics';
import { until } from '../../../test/until.js';
import { temporaryDirectory } from '../../core/test/storage/temporary-directory.js';
import { createOn, endAll, follow, startRoot } from '../../follower/test/servers.js';
import { codeBlocks, read } from '../../http/test/docs/documents.js';
import { runProgram } from '../../http/test/docs/run-module.js';
import { type InstrumentFlagsOptions, instrumentFlags } from '../src/index.js';
import { brokenMetrics, type Metrics, type Point, startMetrics } from './metrics.js';

const DEFAULT = { project: 'default' };
const PRODUCTION = { ...DEFAULT, environment: 'production' };

let metrics: Metrics;
const opened: Flags[] = [];

beforeEach(() => {
  metrics = startMetrics();
});
afterEach(async () => {
  for (const flags of opened.splice(0)) await flags.close();
});

/** Flags that record their usage only when they close. */
async function open(options: Partial<FlagsOptions> = {}): Promise<Flags> {
  const flags = await openFlags({
    storage: memoryStorage(),
    usage: { interval: 0 },
    onProblem: () => undefined,
    ...options,
  });
  opened.push(flags);
  return flags;
}

function instrument(flags: Flags, options: InstrumentFlagsOptions = {}): () => void {
  return instrumentFlags(flags, { meterProvider: metrics.meterProvider, ...options });
}

/** The points by their attributes, without order. */
function valuesOf(points: readonly Point[]): Record<string, unknown> {
  return Object.fromEntries(points.map(({ attributes, value }) => [Object.values(attributes).join(' '), value]));
}

const evaluations = async () => valuesOf(await metrics.read('flags.evaluations'));

describe('flags.evaluations', () => {
  it('counts by flag, environment, result and variant, with the flush of usage', async () => {
    const flags = await open();
    await createOn(flags, 'checkout');
    await flags.createFlag(DEFAULT, { name: 'banner' });
    await flags.addStrategy({ ...PRODUCTION, flag: 'banner' }, { name: 'default' });
    await flags.setVariants({ ...DEFAULT, flag: 'banner' }, [{ name: 'blue' }]);
    await flags.enable({ ...PRODUCTION, flag: 'banner' });
    instrument(flags);
    for (let call = 0; call < 3; call++) flags.isEnabled('checkout');
    flags.isEnabled('checkout', {}, { environment: 'development' });
    flags.isEnabled('banner');
    flags.getVariant('banner');
    flags.getVariant('checkout');
    expect(await evaluations()).toEqual({});
    await flags.close();
    const points = await metrics.read('flags.evaluations');
    expect(points).toContainEqual({
      attributes: {
        'feature_flag.key': 'banner',
        'flags.environment': 'production',
        'flags.result': 'on',
        'feature_flag.result.variant': 'blue',
      },
      value: 1,
    });
    expect(valuesOf(points)).toEqual({
      'checkout production on': 4,
      'checkout development off': 1,
      'banner production on': 1,
      'banner production on blue': 1,
    });
  });

  it('adds every flush to the counts before', async () => {
    const flags = await open({ usage: { interval: 5 } });
    await createOn(flags, 'checkout');
    instrument(flags);
    flags.isEnabled('checkout');
    await until(async () => (await evaluations())['checkout production on'] === 1);
    flags.isEnabled('checkout');
    await until(async () => (await evaluations())['checkout production on'] === 2);
  });

  it('counts every evaluation once while usage cannot be recorded', async () => {
    const memory = memoryStorage();
    const { record } = usageOf(memory) as UsageStorage;
    let failures = 0;
    const usage = {
      ...memory.usage,
      async record(batch: UsageBatch) {
        failures += 1;
        if (failures < 20) throw new FlagsError('storage_unavailable', 'Away.');
        return record(batch);
      },
    };
    const flags = await open({ storage: { ...memory, usage }, usage: { interval: 5 }, onError: () => undefined });
    await createOn(flags, 'checkout');
    instrument(flags);
    flags.isEnabled('checkout');
    await until(async () => (await evaluations())['checkout production on'] === 1);
    flags.isEnabled('checkout');
    await until(async () => (await evaluations())['checkout production on'] === 2);
    expect(failures).toBeGreaterThanOrEqual(20);
    await flags.close();
    expect(await evaluations()).toEqual({ 'checkout production on': 2 });
  });

  it('counts flags that are not chosen, and names of no flag, as other', async () => {
    const flags = await open();
    for (const name of ['checkout', 'banner']) await createOn(flags, name);
    instrument(flags, { isCounted: (flag) => flag === 'checkout' });
    for (const name of ['checkout', 'banner', 'banner', 'chekout']) flags.isEnabled(name);
    await flags.close();
    const points = await metrics.read('flags.evaluations');
    expect(points).toContainEqual({ attributes: { 'feature_flag.key': 'other' }, value: 3 });
    expect(valuesOf(points)).toEqual({ 'checkout production on': 1, other: 3 });
  });

  it('has at most 500 series, and loses no evaluation', async () => {
    const flags = await open();
    const names = Array.from({ length: 700 }, (_, at) => `flag-${at}`);
    await flags.definitions.import({ version: 1, flags: names.map((name) => ({ name, project: 'default' })) });
    instrument(flags);
    for (const name of names) flags.isEnabled(name);
    await flags.close();
    const points = await metrics.read('flags.evaluations');
    expect(points).toHaveLength(500);
    expect(valuesOf(points)).toMatchObject({ 'flag-0 production off': 1, 'flag-498 production off': 1, other: 201 });
  });

  it('counts a flag as other if isCounted throws', async () => {
    const flags = await open();
    for (const name of ['checkout', 'banner']) await createOn(flags, name);
    instrument(flags, {
      isCounted(flag) {
        if (flag === 'banner') throw new Error('Not this one.');
        return true;
      },
    });
    for (const name of ['banner', 'checkout']) flags.isEnabled(name);
    await flags.close();
    expect(await evaluations()).toEqual({ 'checkout production on': 1, other: 1 });
  });
});

describe('changes and losses', () => {
  it('counts events by type', async () => {
    const flags = await open();
    instrument(flags);
    expect(valuesOf(await metrics.read('flags.history.losses'))).toEqual({ '': 0 });
    await createOn(flags, 'checkout');
    await createOn(flags, 'banner');
    const expected = { 'flag-created': 2, 'environment-enabled': 2 };
    await until(async () => valuesOf(await metrics.read('flags.changes'))['environment-enabled'] === 2);
    expect(valuesOf(await metrics.read('flags.changes'))).toMatchObject(expected);
  });

  it('counts lost histories', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open({ storage, pollInterval: 5, onError: () => undefined });
    instrument(flags);
    await createOn(flags, 'checkout');
    await until(async () => valuesOf(await metrics.read('flags.changes'))['environment-enabled'] === 1);
    storage.inject({
      method: 'events',
      when: ({ input: [query] }) => 'order' in Object(query) && Object(query).order === 'oldest-first',
      error: new FlagsError('history_lost', 'The event is gone.'),
    });
    await until(async () => Number(valuesOf(await metrics.read('flags.history.losses'))['']) > 0);
    storage.heal();
  });
});

describe('the status', () => {
  it('shows staleness and dropped usage', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open({ storage, onError: () => undefined });
    instrument(flags);
    const read = async (name: string) => valuesOf(await metrics.read(name));
    expect(await read('flags.stale')).toEqual({ '': 0 });
    expect(await read('flags.dropped')).toEqual({ names: 0, reports: 0, usage: 0 });
    expect(await metrics.names()).not.toContain('flags.wal.size');
    expect(await metrics.names()).not.toContain('flags.follower.connected');
    storage.inject({ method: 'events' });
    await flags.refresh();
    expect(await read('flags.stale')).toEqual({ '': 1 });
    storage.heal();
    await flags.refresh();
    const names = Array.from({ length: 200 }, (_, at) => [`invented-${at}`, { yes: 1, no: 0 }]);
    await flags.reportMetrics({
      application: 'web',
      start: '2026-01-01T00:00:00Z',
      stop: new Date().toISOString(),
      counts: Object.fromEntries(names),
    });
    const { dropped } = flags.status();
    expect(dropped?.names).toBeGreaterThan(0);
    expect(await read('flags.dropped')).toMatchObject({ names: dropped?.names });
    expect(await read('flags.stale')).toEqual({ '': 0 });
  });

  it('shows the size of the log of SQLite', async () => {
    const directory = temporaryDirectory();
    const flags = await open({ storage: sqliteStorage(join(directory.path, 'flags.db')) });
    instrument(flags);
    await createOn(flags, 'checkout');
    expect(valuesOf(await metrics.read('flags.wal.size'))).toEqual({ '': flags.status().walBytes });
    await flags.close();
    directory.remove();
  });
});

describe('what is due', () => {
  it('is counted on nodes that do it', async () => {
    let ahead = 0;
    const now = () => new Date(Date.now() + ahead);
    const flags = await open({ due: { run: true, authorize: () => false }, pollInterval: 0, now });
    instrument(flags);
    const read = async (name: string) => valuesOf(await metrics.read(name));
    const at = new Date(Date.now() + 60_000).toISOString();
    const change = { op: 'createFlag', ref: { project: 'default' }, input: { name: 'later' } } as const;
    await flags.changeRequests.create([change], { at });
    await flags.runDue();
    expect([await read('flags.due.pending'), await read('flags.due.overdue')]).toEqual([{ '': 1 }, { '': 0 }]);
    expect(await read('flags.rollouts.unguarded')).toEqual({ '': 0 });
    ahead = 120_000;
    await flags.runDue();
    expect(await read('flags.due.pending')).toEqual({ '': 0 });
  });
});

describe('consumers', () => {
  it('shows their lag, and whether they fail', async () => {
    let time = Date.parse('2026-03-01T12:00:00Z');
    const flags = await open({ now: () => new Date(time), onError: () => undefined });
    instrument(flags);
    expect(await metrics.names()).not.toContain('flags.consumer.lag');
    const failing = await flags.consume('failing', () => Promise.reject(new Error('Not now.')));
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    time += 90_000;
    const points = await metrics.read('flags.consumer.lag');
    expect(points).toEqual([{ attributes: { 'flags.consumer': 'failing' }, value: 1 }]);
    expect(valuesOf(await metrics.read('flags.consumer.lag.time'))).toEqual({ failing: 90 });
    await until(async () => (await flags.consumers.list()).items[0]?.error === 'Not now.');
    expect(valuesOf(await metrics.read('flags.consumer.failing'))).toEqual({ failing: 1 });
    await failing();
  });

  it('leaves them out while the storage cannot be read, and reads the rest', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await open({ storage, onError: () => undefined });
    await flags.consume('audit', () => undefined);
    instrument(flags);
    storage.inject({ method: 'list' });
    expect(await metrics.names()).not.toContain('flags.consumer.lag');
    expect(await metrics.names()).toContain('flags.stale');
  });

  it('waits 5 seconds for a storage that hangs, and asks it once', async () => {
    const storage = faultyStorage(memoryStorage());
    // A poll would list change requests, and hang as well.
    const flags = await open({ storage, pollInterval: 0 });
    await flags.consume('audit', () => undefined);
    instrument(flags);
    const hanging = storage.inject({ method: 'list', hang: true });
    jest.useFakeTimers({ doNotFake: ['Date', 'performance', 'setImmediate', 'nextTick', 'queueMicrotask'] });
    const reads = [metrics.names(), metrics.names()];
    await jest.advanceTimersByTimeAsync(5_000);
    for (const names of await Promise.all(reads)) expect(names).not.toContain('flags.consumer.lag');
    jest.useRealTimers();
    expect(hanging.strikes()).toBe(1);
    storage.heal();
    await until(async () => (await metrics.names()).includes('flags.consumer.lag'));
  });
});

describe('the end', () => {
  it('ends everything with its function', async () => {
    const flags = await open();
    await createOn(flags, 'checkout');
    const stop = instrument(flags);
    stop();
    stop();
    flags.isEnabled('checkout');
    await flags.createFlag(DEFAULT, { name: 'banner' });
    expect(await metrics.names()).toEqual(['flags.history.losses']);
    await flags.close();
    expect(await metrics.names()).toEqual(['flags.history.losses']);
  });

  it('ends with the flags, and refuses closed ones', async () => {
    const flags = await open();
    instrument(flags);
    await flags.close();
    expect(await metrics.names()).toEqual(['flags.history.losses']);
    expect(() => instrument(flags)).toThrow(expect.objectContaining({ code: 'closed' }));
  });
});

it('counts the evaluations of a follower, and shows its connection', async () => {
  const root = await startRoot();
  await createOn(root.flags, 'checkout');
  const follower = await follow(root);
  instrumentFlags(follower, { meterProvider: metrics.meterProvider });
  follower.isEnabled('checkout');
  expect(valuesOf(await metrics.read('flags.follower.connected'))).toEqual({ '': 1 });
  expect(await metrics.names()).toEqual(['flags.dropped', 'flags.follower.connected', 'flags.stale']);
  await root.stop();
  await until(async () => valuesOf(await metrics.read('flags.follower.connected'))[''] === 0);
  expect(valuesOf(await metrics.read('flags.stale'))).toEqual({ '': 1 });
  await follower.close();
  expect(await evaluations()).toEqual({ 'checkout production on': 1 });
  await endAll();
  await root.end();
});

it('accepts typed flags', async () => {
  const schema = defineFlags({ checkout: {} });
  const flags = await openFlags({ storage: memoryStorage(), schema, declare: 'create' });
  instrumentFlags(flags, { meterProvider: metrics.meterProvider });
  flags.isEnabled('checkout');
  await flags.close();
  expect(await evaluations()).toEqual({ 'checkout production off': 1 });
});

it('breaks nothing with a meter that throws, and tells the logger of OpenTelemetry', async () => {
  const told: unknown[] = [];
  const ignore = () => undefined;
  const logger = { error: (_: string, error: unknown) => told.push(error), warn: ignore, info: ignore };
  diag.setLogger({ ...logger, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR);
  const errors: unknown[] = [];
  const flags = await open({ onError: (error) => errors.push(error) });
  const stop = instrument(flags, { meterProvider: brokenMetrics() });
  const { items: before } = await flags.usage.listSeenFlags();
  await createOn(flags, 'checkout');
  expect(flags.isEnabled('checkout')).toBe(true);
  await flags.close();
  stop();
  diag.disable();
  expect(before).toEqual([]);
  expect(errors).toEqual([]);
  expect(told.length).toBeGreaterThan(3);
});

it('refuses what is not flags', async () => {
  const promise = openFlags({ storage: memoryStorage() });
  const ofPromise = () => instrumentFlags(promise as never);
  expect(ofPromise).toThrow(TypeError);
  expect(ofPromise).toThrow(/^instrumentFlags needs flags, but got a promise: await openFlags/);
  expect(() => instrumentFlags({} as never)).toThrow(/^instrumentFlags needs flags as its first argument/);
  await (await promise).close();
});

it.each([
  [{ isCountd: () => true }, 'instrumentFlags has no option isCountd; did you mean isCounted?'],
  [{ isCounted: ['checkout'] }, 'instrumentFlags option isCounted must be a function.'],
  [
    { meterProvider: {} },
    'instrumentFlags option meterProvider must be a MeterProvider of OpenTelemetry: an object with getMeter.',
  ],
  [null, 'instrumentFlags needs an object as its options.'],
])('refuses wrong options: %j', async (options, message) => {
  const flags = await open();
  expect(() => instrumentFlags(flags, options as never)).toThrow(new TypeError(message));
});

describe('the guide and the README', () => {
  /** The packages of the program, with an exporter that keeps what it would send. */
  function packagesWith(exporter: InMemoryMetricExporter) {
    const exporters = {
      OTLPMetricExporter: function keep() {
        return exporter;
      },
    };
    return (name: string) => (name === '@opentelemetry/exporter-metrics-otlp-http' ? exporters : require(name));
  }

  it('have code that sends the metrics of a service until it ends', async () => {
    const directory = temporaryDirectory();
    const [start = '', end = '', choose = ''] = codeBlocks(read('docs/telemetry.md'), 'js');
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const program = start.replace('./flags.db', join(directory.path, 'flags.db'));
    const scope = { require: packagesWith(exporter) };
    const result = '{ flags, meterProvider, storage }';
    const service = (await runProgram(program, { result, scope })) as { readonly flags: Flags };
    await createOn(service.flags, 'checkout');
    service.flags.isEnabled('checkout');
    await runProgram(end, { result: 'undefined', scope: { ...service } });
    const sent = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    expect(sent.map(({ descriptor }) => descriptor.name)).toEqual(
      expect.arrayContaining(['flags.evaluations', 'flags.changes', 'flags.storage.operation.duration']),
    );
    globalMetrics.disable();
    directory.remove();
    const flags = await open();
    expect(choose).toContain('isCounted');
    await runProgram(choose, { result: 'undefined', scope: { instrumentFlags, flags } });
  });

  it('have code that measures', async () => {
    const code = codeBlocks(read('packages/opentelemetry/README.md'), 'js').join('\n');
    const program = (await runProgram(code, { result: '{ flags, stop }', scope: { require } })) as {
      readonly flags: Flags;
      readonly stop: () => void;
    };
    program.stop();
    await program.flags.close();
  });
});
