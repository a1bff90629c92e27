import type { Awaitable } from '../../common.types.js';
import type { Storage } from '../../storage/port.js';
import { CASE_TIMEOUT, currentTestRunner, type Rule, raiseMochaTimeout } from '../test-runner.js';
import { commitRules, stampRules, vacancyRules } from './commits.js';
import { contentRules, documentRules, instanceRules, tombstoneRules } from './documents.js';
import { eventFilterRules, eventRules } from './events.js';
import { listPageRules, listRules } from './lists.js';
import { raceRules } from './races.js';

/** A storage to be examined. Every rule opens one of its own. */
export interface StorageUnderTest {
  /** Empty. The suite closes it. */
  readonly storage: Storage;
  /**
   * Opens another instance on the same data, as a second process would; the suite closes it. Leave it out only when
   * the data can have no second instance, as with memory.
   */
  readonly again?: () => Awaitable<Storage>;
  /** Clears away, after all instances have been closed. */
  readonly dispose?: () => Awaitable<void>;
}

/**
 * Declares the tests that a {@link Storage} has to pass, races included. Call it at the top of a test file, under any
 * runner with global `describe` and `it`. There is nothing to switch off: an implementation passes all of it, or it will
 * lose somebody's change.
 *
 * Values must come back as `JSON.parse(JSON.stringify(value))` would give them, in texts also U+0000 and lone
 * surrogates; a database whose JSON type refuses those has to keep the JSON as text.
 *
 * @example
 * storageConformance('our storage', async () => {
 *   const schema = await createEmptySchema();
 *   return {
 *     storage: await openOurStorage(schema),
 *     again: () => openOurStorage(schema),
 *     dispose: () => dropSchema(schema),
 *   };
 * });
 */
export function storageConformance(name: string, open: () => Awaitable<StorageUnderTest>): void {
  const { describe, it } = currentTestRunner();
  const rule: Rule = (statement, body) => {
    it(
      statement,
      async function () {
        raiseMochaTimeout(this);
        await withStorage(open, body);
      },
      CASE_TIMEOUT,
    );
  };
  describe(`${name} conforms to the storage port`, () => {
    for (const [topic, declare] of TOPICS) describe(topic, () => declare(rule));
  });
}

const TOPICS: readonly (readonly [string, (rule: Rule) => void])[] = [
  ['documents', documentRules],
  ['lists', listRules],
  ['pages of lists', listPageRules],
  ['commits', commitRules],
  ['vacancies', vacancyRules],
  ['tombstones', tombstoneRules],
  ['contents', contentRules],
  ['events', eventRules],
  ['event filters', eventFilterRules],
  ['races', raceRules],
  ['instances', instanceRules],
  ['stamps', stampRules],
];

async function withStorage(open: () => Awaitable<StorageUnderTest>, body: Parameters<Rule>[1]): Promise<void> {
  const { storage, again, dispose } = await open();
  const opened = [storage];
  const openAgain = async () => {
    const other = await again?.();
    if (other) opened.push(other);
    return other;
  };
  try {
    await body(storage, openAgain);
  } finally {
    for (const instance of opened) await instance.close();
    await dispose?.();
  }
}
