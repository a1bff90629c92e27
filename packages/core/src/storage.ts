/*
 * For authors of storages: the storage port.
 */

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
