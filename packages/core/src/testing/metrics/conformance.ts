import type { Awaitable } from '../../common.types.js';
import type { MetricsStorage } from '../../storage/metrics-port.js';
import { CASE_TIMEOUT, currentTestRunner, type MetricsRule, raiseMochaTimeout } from '../test-runner.js';
import { applicationRules, instanceRules, registrationRules } from './applications.js';
import { countRules, nameRules, usageRules, windowRules } from './counting.js';
import { limitRules, unknownNameRules } from './limits.js';
import { readingRules } from './reading.js';
import { batchRules, simultaneousRules } from './recording.js';
import { closingRules, copyRules, forgettingRules, pruningRules, sightingRules } from './retention.js';

/** A metrics storage to be examined. Every rule opens one of its own. */
export interface MetricsUnderTest {
  /** Empty. The suite closes it. */
  readonly metrics: MetricsStorage;
  /**
   * Opens another instance on the same data, as a second process would; the suite closes it. Leave it out only when
   * the data can have no second instance, as with memory: the one instance then plays both parts.
   */
  readonly again?: () => Awaitable<MetricsStorage>;
  /**
   * From now on has the database fail on a write that counts this flag, as by a trigger that raises an error: whether a
   * batch that fails in its middle leaves something. Leave it out only when no write can fail, as with memory.
   */
  readonly refuse?: (flag: string) => Awaitable<void>;
  /** Clears away, after all instances have been closed. */
  readonly dispose?: () => Awaitable<void>;
}

/**
 * Declares the tests that a {@link MetricsStorage} has to pass, simultaneous reports included. Call it at the top of a
 * test file, under any runner with global `describe` and `it`. Nothing depends on the time of day or waits for time to
 * pass: all times are passed in.
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
  ['a batch', batchRules],
  ['windows', windowRules],
  ['last-seen times', sightingRules],
  ['usage', usageRules],
  ['registrations', registrationRules],
  ['applications', applicationRules],
  ['instances', instanceRules],
  ['unknown names', unknownNameRules],
  ['reading', readingRules],
  ['limits', limitRules],
  ['forgetting', forgettingRules],
  ['pruning', pruningRules],
  ['names', nameRules],
  ['simultaneous callers', simultaneousRules],
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
