import type { Awaitable } from '../base/common.types.js';
import type { FlagsSettings } from '../base/settings.types.js';
import type { EvaluationStatus } from '../evaluation/evaluation.types.js';
import type { DocumentReader, Documents, Versioned } from '../storage/document-reader.js';
import type { DocumentKey, FlagsStorage } from '../storage/port.js';
import type { UsageStorage } from '../storage/usage/port.js';
import type { OperationRegistry, Registry } from './registry.js';

export type * from './change.js';
export { actorOf, authorOf } from './change.js';

/** The dependencies of operations. Engines of different actors share them. */
export interface Engine extends DocumentReader {
  readonly settings: FlagsSettings;
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly operations: OperationRegistry;
  readonly usage: UsageStorage;
  readonly memory: DocumentsInMemory;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly isUser: (userId: number) => Awaitable<boolean>;
}

/** All documents of the kinds in memory, which follow the storage. Do not change them. */
export interface DocumentsInMemory {
  /** Returns the states of the documents of a kind, by id. */
  statesOf<State>(documents: Documents<State>): ReadonlyMap<string, State>;
  /** Returns a document. */
  get(key: DocumentKey): Versioned<unknown> | undefined;
  /** Applies all changes that other processes have committed before the call. Never rejects: the status holds the error. */
  refresh(): Promise<EvaluationStatus>;
  status(): EvaluationStatus;
  /** The position of the last event that was applied; undefined before the first. */
  position(): string | undefined;
  /** Whether this revision of a document is newer than the one in memory. */
  isNewer(key: DocumentKey, revision: number): boolean;
}
