/*
 * For authors of storages: the storage port, and the port for usage.
 */

export { memoryUsage } from './storage/memory/memory-usage.js';
export type {
  Commit,
  CommitResult,
  DocumentCheck,
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  DocumentWrite,
  EventFilter,
  EventPage,
  FlagsStorage,
  ListedDocument,
  ListQuery,
  NewEvent,
  StoredDocument,
  StoredEvent,
  StoredEventQuery,
  Vacancy,
} from './storage/port.js';
export type {
  ApplicationQuery,
  ApplicationRegistration,
  DroppedUsage,
  FlagCount,
  InstanceSighting,
  ReportedCount,
  Reporter,
  Resolution,
  StoredApplication,
  StoredInstance,
  SumQuery,
  UsageBatch,
  UsageKey,
  UsageKeys,
  UsageReport,
  UsageRetention,
  UsageStorage,
  UsageSubject,
  UsageSum,
  VariantCount,
} from './storage/usage-port.js';
