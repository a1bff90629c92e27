import type { Awaitable } from '../../base/common.types.js';
import type { FlagsStorage } from '../../storage/port.js';
import { declareSuite, type Topics, withInstances } from '../test-runner.js';
import { commitRules, dataVersionRules, vacancyRules } from './commit-rules.js';
import { contentRules, deletionRules, documentRules, instanceRules } from './document-rules.js';
import { eventFilterRules } from './event-filter-rules.js';
import { eventRules } from './event-rules.js';
import { listPageRules, listRules } from './list-rules.js';
import { raceRules } from './race-rules.js';
import type { StorageRule } from './samples.js';

/** A storage under test. The suite opens a new one for every rule. */
export interface StorageUnderTest {
  /** An empty storage. The suite closes it. */
  readonly storage: FlagsStorage;
  /**
   * Opens another instance on the same data, as a second process would. The suite closes it. Leave it out only if the data
   * cannot have a second instance, as in memory.
   */
  readonly again?: () => Awaitable<FlagsStorage>;
  /** Deletes the data. Called after all instances have been closed. */
  readonly dispose?: () => Awaitable<void>;
}

/**
 * Declares the tests that every `FlagsStorage` must pass, including races. Call it at the top level of a test file, with any test
 * runner that has global `describe` and `it`.
 *
 * No rule can be switched off: a storage that breaks one loses changes. Values must come back as
 * `JSON.parse(JSON.stringify(value))` returns them, including U+0000 and lone surrogates. If the JSON type of a database
 * refuses those, store the JSON as text.
 *
 * @param name the storage in the names of the tests
 * @param open opens an empty storage; called once per rule
 * @throws Error if there is no global `describe` and `it`
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
  declareSuite(`${name} conforms to the storage port`, TOPICS, async (body) => {
    const { storage, again, dispose } = await open();
    await withInstances<FlagsStorage>({ first: storage, again, dispose }, (openAgain) => body(storage, openAgain));
  });
}

const TOPICS: Topics<Parameters<StorageRule>[1]> = [
  ['documents', documentRules],
  ['lists', listRules],
  ['pages of lists', listPageRules],
  ['commits', commitRules],
  ['vacancies', vacancyRules],
  ['deletions', deletionRules],
  ['contents', contentRules],
  ['events', eventRules],
  ['event filters', eventFilterRules],
  ['races', raceRules],
  ['instances', instanceRules],
  ['data version', dataVersionRules],
];
