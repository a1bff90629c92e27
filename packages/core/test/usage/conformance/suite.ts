import type { Awaitable } from '../../../src/base/common.types.js';
import type { UsageStorage } from '../../../src/storage/usage/port.js';
import { declareSuite, type Topics, withInstances } from '../../../src/testing/test-runner.js';
import { applicationRules, instanceRules, registrationRules } from './applications.js';
import { countRules, lastSeenRules, nameRules, pairRules, windowRules } from './counting.js';
import { limitRules, reporterRules, rowRules, unknownNameRules } from './limits.js';
import { usageOverTimeRules } from './over-time.js';
import { batchRules, concurrencyRules, readingRules } from './recording.js';
import { closingRules, copyRules, forgettingRules, pruningRules } from './retention.js';
import type { UsageRule } from './samples.js';

/** A usage storage under test. The suite opens a new one for every rule. */
export interface UsageUnderTest {
  /** An empty storage. The suite closes it. */
  readonly usage: UsageStorage;
  /**
   * Opens another instance on the same data, as a second process would. The suite closes it. Leave it out only if the data
   * cannot have a second instance, as in memory: the suite then uses the one instance for both.
   */
  readonly again?: () => Awaitable<UsageStorage>;
  /**
   * Makes the database fail on every later write of a count of this flag, for example with a trigger that raises an error.
   * The suite then proves that a batch that fails in the middle records nothing. Leave it out only if no write can fail,
   * as in memory.
   */
  readonly refuse?: (flag: string) => Awaitable<void>;
  /** Deletes the data. Called after all instances have been closed. */
  readonly dispose?: () => Awaitable<void>;
}

/**
 * Declares the tests that each of our storages of usage must pass, including concurrent reports. The suite passes all times
 * as parameters: it neither waits nor depends on the clock.
 *
 * @param name the storage in the names of the tests
 * @param open opens an empty storage; called once per rule
 */
export function usageConformance(name: string, open: () => Awaitable<UsageUnderTest>): void {
  declareSuite(`${name} conforms to the usage port`, TOPICS, async (body) => {
    const { usage, again, refuse, dispose } = await open();
    await withInstances<UsageStorage>({ first: usage, again, dispose }, (openAgain) =>
      body(usage, async () => (await openAgain()) ?? usage, refuse),
    );
  });
}

const TOPICS: Topics<Parameters<UsageRule>[1]> = [
  ['counts', countRules],
  ['a batch', batchRules],
  ['windows', windowRules],
  ['last-seen times', lastSeenRules],
  ['flags of applications', pairRules],
  ['usage over time', usageOverTimeRules],
  ['registrations', registrationRules],
  ['applications', applicationRules],
  ['instances', instanceRules],
  ['unknown names', unknownNameRules],
  ['reading', readingRules],
  ['limits', limitRules],
  ['limits of reporters', reporterRules],
  ['bounds of rows', rowRules],
  ['forgetting', forgettingRules],
  ['pruning', pruningRules],
  ['names', nameRules],
  ['concurrent callers', concurrencyRules],
  ['returned values', copyRules],
  ['closing', closingRules],
];
