import { join } from 'node:path';
import { FlagsError, type FlagsStorage, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { faultyStorage, storageConformance } from '@flags/core/testing';
import type { Histogram } from '@opentelemetry/sdk-metrics';
import { temporaryDirectory } from '../../core/test/storage/temporary-directory.js';
import { instrumentStorage } from '../src/index.js';
import { brokenMetrics, type Metrics, startMetrics } from './metrics.js';

const DURATION = 'flags.storage.operation.duration';
const KEY = { kind: 'note', id: 'a' };
const PUT = { key: KEY, expected: 0, parent: null, body: { text: 'hello' }, summary: {} };

let metrics: Metrics;
beforeEach(() => {
  metrics = startMetrics();
});

/** The number of calls, by operation and error. */
async function calls(): Promise<Record<string, number>> {
  const points = await metrics.read(DURATION);
  return Object.fromEntries(
    points.map(({ attributes, value }) => [Object.values(attributes).join(' '), (value as Histogram).count]),
  );
}

storageConformance('an instrumented memory storage', () => ({
  storage: instrumentStorage(memoryStorage(), { meterProvider: startMetrics().meterProvider }),
}));

storageConformance('an instrumented SQLite storage', async () => {
  const directory = temporaryDirectory();
  const { meterProvider } = startMetrics();
  const open = async () => instrumentStorage(await sqliteStorage(join(directory.path, 'flags.db')), { meterProvider });
  return { storage: await open(), again: open, dispose: directory.remove };
});

storageConformance('a storage with a meter that throws', () => ({
  storage: instrumentStorage(memoryStorage(), { meterProvider: brokenMetrics() }),
}));

it('measures calls by operation, with the code of the error, and conflicts', async () => {
  const storage = faultyStorage(memoryStorage());
  const measured = instrumentStorage<FlagsStorage>(storage, { meterProvider: metrics.meterProvider });
  await measured.commit({ writes: [PUT], events: [] });
  await measured.commit({ writes: [PUT], events: [] });
  await measured.get(KEY);
  await measured.list({ kind: 'note', part: 'body' });
  await measured.events({ order: 'newest-first', limit: 1 });
  await measured.dataVersion?.();
  storage.inject({ method: 'get', nth: 1 });
  await expect(measured.get(KEY)).rejects.toMatchObject({ code: 'storage_unavailable' });
  storage.inject({ method: 'commit', nth: 1, point: 'after' });
  await expect(measured.commit({ writes: [], events: [] })).rejects.toMatchObject({ code: 'outcome_unknown' });
  storage.inject({ method: 'list', nth: 1, error: new Error('A defect.') });
  await expect(measured.list({ kind: 'note', part: 'body' })).rejects.toThrow('A defect.');
  expect(await calls()).toEqual({
    commit: 1,
    'commit conflict': 1,
    'commit outcome_unknown': 1,
    get: 1,
    'get storage_unavailable': 1,
    list: 1,
    'list _OTHER': 1,
    events: 1,
    dataVersion: 1,
  });
  expect(await metrics.read(DURATION)).toContainEqual(
    expect.objectContaining({
      attributes: { 'flags.storage.operation': 'get', 'error.type': 'storage_unavailable' },
    }),
  );
});

it('measures in seconds, with buckets for reads of microseconds', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const storage = memoryStorage();
  const get: FlagsStorage['get'] = async (key) => {
    await jest.advanceTimersByTimeAsync(5);
    return storage.get(key);
  };
  const measured = instrumentStorage({ ...storage, get }, { meterProvider: metrics.meterProvider });
  for (let call = 0; call < 100; call++) await measured.get(KEY);
  jest.useRealTimers();
  const [{ value } = { value: undefined }] = await metrics.read(DURATION);
  const { buckets, sum = 0 } = value as Histogram;
  expect(buckets.boundaries.slice(0, 3)).toEqual([0.00005, 0.0001, 0.0005]);
  expect(sum).toBeCloseTo(0.5);
});

it('calls storages that answer at once or throw at once, and keeps their private members', async () => {
  const key = { kind: 'note', id: 'a' };
  class OwnStorage {
    #documents = new Map([['a', { key, parent: null, revision: 1, body: {} }]]);
    get({ id }: typeof key) {
      return this.#documents.get(id);
    }
    list() {
      return [...this.#documents.values()].map((document) => ({ ...document, content: document.body }));
    }
    commit(): never {
      throw new FlagsError('storage_busy', 'Locked.');
    }
    events() {
      return { events: [] };
    }
    close() {}
    own() {
      return this.#documents.size;
    }
  }
  const measured = instrumentStorage(Object.freeze(new OwnStorage()), { meterProvider: metrics.meterProvider });
  expect(measured.get(key)).toMatchObject({ revision: 1 });
  expect(measured.own()).toBe(1);
  expect(() => measured.commit()).toThrow(expect.objectContaining({ code: 'storage_busy' }));
  expect('watch' in measured).toBe(false);
  expect(await calls()).toEqual({ get: 1, 'commit storage_busy': 1 });
});

it('has every member of our storages, and the same values', async () => {
  const directory = temporaryDirectory();
  const sqlite = await sqliteStorage(join(directory.path, 'flags.db'));
  const measured = instrumentStorage(sqlite, { meterProvider: metrics.meterProvider });
  const memory = memoryStorage();
  const measuredMemory = instrumentStorage(memory, { meterProvider: metrics.meterProvider });
  expect(Object.keys(measured)).toEqual(Object.keys(sqlite));
  expect(Object.keys(measuredMemory)).toEqual(Object.keys(memory));
  expect(measured.usage).toBe(sqlite.usage);
  expect(measuredMemory.usage).toBe(memory.usage);

  const flags = await openFlags({ storage: measured });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  flags.isEnabled('checkout');
  expect(flags.status().walBytes).toBeGreaterThan(0);
  await measured.backup(join(directory.path, 'backup.db'));
  await flags.close();
  const again = await openFlags({ storage: sqliteStorage(join(directory.path, 'backup.db')) });
  expect((await again.listFlags({ project: 'default' })).items).toHaveLength(1);
  await again.close();

  directory.remove();
});

it.each([
  [sqliteStorage(':memory:'), 'instrumentStorage needs a storage, but got a promise: await sqliteStorage(…) first.'],
  [memoryStorage, 'instrumentStorage needs a storage, but got a function: call it, as in memoryStorage().'],
  [
    './flags.db',
    'instrumentStorage needs a storage as its first argument, such as memoryStorage() or await sqliteStorage(…).',
  ],
])('refuses what is not a storage: %#', async (storage, message) => {
  expect(() => instrumentStorage(storage as never)).toThrow(new TypeError(message));
  const { close } = Object(await storage) as Partial<FlagsStorage>;
  await close?.();
});

it('refuses wrong options', () => {
  const call = () => instrumentStorage(memoryStorage(), { meterProvidr: metrics.meterProvider } as never);
  expect(call).toThrow(new TypeError('instrumentStorage has no option meterProvidr; did you mean meterProvider?'));
});
