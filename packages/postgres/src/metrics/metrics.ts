import { isFlagsError, type MetricsStorage, type UsageReport } from '@flags/core';
import type { Database } from '../database.js';
import { type Place, tableNames } from '../tables.js';
import { createAdmission, createDroppedCount } from './admission.js';
import { applicationReader } from './applications.js';
import { countReader, dropping } from './counts.js';
import { createMetricsLock } from './metrics-lock.js';
import { recording, registering } from './record.js';
import { createTrimming } from './trimming.js';

/** Items that wait for each other, to be written together. */
export interface Batches<Item> {
  /** Resolves when the item has been written; rejects when it has not been, or when nobody knows. */
  add(item: Item): Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bound how long a statement becomes, and how long it takes to make it. */
const LARGEST_BATCH = 256;
const LARGEST_SIZE = 2000;

/**
 * Writes one batch at a time; what arrives meanwhile makes the next one. `write` writes all of a batch or nothing. An item
 * that the database refuses does not take the others of its batch with it.
 *
 * @param sizeOf how many rows an item is, about
 */
export function createBatches<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  sizeOf: (item: Item) => number = () => 1,
): Batches<Item> {
  const waiting: Waiting<Item>[] = [];
  let isDraining = false;

  async function drain(): Promise<void> {
    if (isDraining) return;
    isDraining = true;
    // What arrives in the same turn of the event loop is of the first batch too.
    await undefined;
    while (waiting.length > 0) await settle(waiting.splice(0, lengthOfNext()));
    isDraining = false;
  }

  /** How many of those that wait are in the next batch: at least one. */
  function lengthOfNext(): number {
    let size = 0;
    const end = waiting.findIndex(({ item }, index) => {
      const isFull = index === LARGEST_BATCH || size >= LARGEST_SIZE;
      size += sizeOf(item);
      return isFull;
    });
    return end === -1 ? waiting.length : end;
  }

  async function settle(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length > 1 && !isFlagsError(error)) {
        for (const one of batch) await settle([one]);
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        void drain();
      }),
  };
}

export interface PostgresMetricsOptions {
  readonly database: Database;
  readonly place: Place;
  /** Runs what is asked while the storage is open, and fails when it is closed. */
  readonly whileOpen: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Metrics in the tables of a PostgreSQL storage, on its connections, which stay open when the metrics are closed. Reports
 * that arrive together are added up here first and written by one statement. A call that writes resolves once that is
 * durable; when it rejects, nothing of it was written, unless the code is `outcome_unknown`.
 */
export function postgresMetrics({ database, place, whileOpen }: PostgresMetricsOptions): MetricsStorage {
  const names = tableNames(place);
  const lock = createMetricsLock(database, place);
  const parts = { database, names, lock };
  const admission = createAdmission(database, names);
  const limiting = { admission, trimming: createTrimming(database, names, lock) };
  const { dropped, add } = createDroppedCount();
  const { record } = recording({ ...parts, ...limiting });
  const batches = createBatches<readonly UsageReport[]>(async (calls) => add(await record(calls.flat())), sizeOf);
  const register = registering({ ...parts, ...limiting });
  const { prune, forget, forgetApplication } = dropping(parts);
  const forgotten = createBatches<string>(forget);
  const counters = countReader(database, names);
  const known = applicationReader(database, names);

  return {
    record: (reports, registrations = []) =>
      whileOpen(async () => {
        if (registrations.length > 0) return add(await record(reports, registrations));
        if (reports.length > 0) return batches.add(reports);
      }),
    register: (registration) => whileOpen(async () => add(await register(registration))),
    forget: (flag) => whileOpen(() => forgotten.add(flag)),
    forgetApplication: (name) =>
      whileOpen(async () => {
        admission.clear();
        return forgetApplication(name);
      }),
    prune: (retention) =>
      whileOpen(async () => {
        admission.clear();
        return prune(retention);
      }),
    counts: (query) => whileOpen(() => counters.counts(query)),
    usage: (query) => whileOpen(() => counters.usage(query)),
    lastSeen: (flags) => whileOpen(() => counters.lastSeen(flags)),
    applications: (query) => whileOpen(() => known.applications(query)),
    application: (name) => whileOpen(() => known.application(name)),
    dropped,
    close: () => undefined,
  };
}

function sizeOf(reports: readonly UsageReport[]): number {
  return reports.reduce((sum, { counts, unknown = [] }) => sum + counts.length + unknown.length, 0);
}
