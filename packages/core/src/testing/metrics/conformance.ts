import type { Awaitable } from '../../base/common.types.js';
import type { MetricsStorage } from '../../storage/metrics-port.js';
import { CASE_TIMEOUT, currentTestRunner, type MetricsRule, raiseMochaTimeout } from '../test-runner.js';
import { applicationRules, instanceRules, registrationRules } from './applications.js';
import { countRules, nameRules, usageRules, windowRules } from './counting.js';
import { counterLimitRules, limitRules, reporterRules, unknownNameRules } from './limits.js';
import { batchRules, concurrencyRules, readingRules } from './recording.js';
import { closingRules, copyRules, forgettingRules, lastSeenRules, pruningRules } from './retention.js';
import { timedUsageRules } from './timed-usage.js';

/** A metrics storage under test. The suite opens a new one for every rule. */
export interface MetricsUnderTest {
  /** An empty storage. The suite closes it. */
  readonly metrics: MetricsStorage;
  /**
   * Opens another instance on the same data, as a second process would. The suite closes it. Leave it out only if the data
   * cannot have a second instance, as in memory: the suite then uses the one instance for both.
   */
  readonly again?: () => Awaitable<MetricsStorage>;
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
 * Declares the tests that every `MetricsStorage` must pass, including concurrent reports. Call it at the top level of a test
 * file, with any test runner that has global `describe` and `it`.
 *
 * The suite passes all times as parameters: it neither waits nor depends on the clock.
 *
 * @param name the storage in the names of the tests
 * @param open opens an empty storage; called once per rule
 * @throws Error if there is no global `describe` and `it`
 *
 * @example
 * metricsConformance('our metrics', async () => {
 *   const schema = await createEmptySchema();
 *   return {
 *     metrics: await openOurMetrics(schema),
 *     again: () => openOurMetrics(schema),
 *     refuse: (flag) => addTriggerThatRaises(schema, flag),
 *     dispose: () => dropSchema(schema),
 *   };
 * });
 */
export function metricsConformance(name: string, open: () => Awaitable<MetricsUnderTest>): void {
  const { describe, it } = currentTestRunner();
  const rule: MetricsRule = (statement, body) => {
    it(
      statement,
      async function () {
        raiseMochaTimeout(this);
        await withMetrics(open, body);
      },
      CASE_TIMEOUT,
    );
  };
  describe(`${name} conforms to the metrics port`, () => {
    for (const [topic, declare] of TOPICS) describe(topic, () => declare(rule));
  });
}

const TOPICS: readonly (readonly [string, (rule: MetricsRule) => void])[] = [
  ['counts', countRules],
  ['a batch of reports', batchRules],
  ['windows', windowRules],
  ['last-seen times', lastSeenRules],
  ['usage', usageRules],
  ['timed usage', timedUsageRules],
  ['registrations', registrationRules],
  ['applications', applicationRules],
  ['instances', instanceRules],
  ['unknown names', unknownNameRules],
  ['reading', readingRules],
  ['limits', limitRules],
  ['limits of reporters', reporterRules],
  ['limits of counters', counterLimitRules],
  ['forgetting', forgettingRules],
  ['pruning', pruningRules],
  ['names', nameRules],
  ['concurrent callers', concurrencyRules],
  ['returned values', copyRules],
  ['closing', closingRules],
];

async function withMetrics(open: () => Awaitable<MetricsUnderTest>, body: Parameters<MetricsRule>[1]): Promise<void> {
  const { metrics, again, refuse, dispose } = await open();
  const opened = [metrics];
  const openAgain = async () => {
    const other = await again?.();
    if (other) opened.push(other);
    return other ?? metrics;
  };
  try {
    await body(metrics, openAgain, refuse);
  } finally {
    for (const instance of opened) await instance.close();
    await dispose?.();
  }
}
