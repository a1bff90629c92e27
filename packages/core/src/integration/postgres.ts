/*
 * For `@flags/postgres`. Not part of the public API: it may change in any release.
 */

// Storages

export { isStorageFailure } from '../base/errors.js';
export { type PreparedCommit, type PreparedEvent, type PreparedWrite, prepareCommit } from '../storage/commit.js';

// Storages of usage

export { createUsageDeletion, usageRemovals } from '../storage/usage/deletion.js';
export type { ReadUsage, UsageDialect, UsageStatement, UsageValues } from '../storage/usage/dialect.js';
export {
  type ApplicationRegistration,
  type DroppedUsage,
  type UsageBatch,
  type UsageReport,
  type UsageStorage,
  usageOf,
} from '../storage/usage/port.js';
export { createUsageReader } from '../storage/usage/reading.js';
export {
  type Admission,
  addCount,
  addDropped,
  applicationsOf,
  type CountRow,
  decideAdmission,
  type InstanceRow,
  NOTHING_DROPPED,
  RESOLUTIONS,
  rowsOf,
} from '../storage/usage/rules.js';
