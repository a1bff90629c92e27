import type { FlagRef, ProjectRef } from '../base/common.types.js';
import type { PartDifference } from '../base/parts.js';
import type {
  ContextArgument,
  EnvironmentChoice,
  EvaluatedVariant,
  EvaluationOptions,
  FlagExplanation,
  VariantOptions,
} from '../evaluation/evaluation.types.js';
import type { FlagDetail } from '../flags/flag.types.js';
import type { FlagsEvent } from './event.types.js';

/** Selects the history of a flag, of a project, or of the whole instance. */
export type HistoryRef = FlagRef | ProjectRef | Readonly<Record<string, never>>;

/** Names a stored document: `flag/checkout`, `project/default`, `segment/7`. */
export type DocumentName = `${string}/${string}`;

/** The result of a change set. */
export interface ChangeSet {
  /** A UUID; null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  /** In the order of the changes. */
  readonly events: readonly FlagsEvent[];
  /** The new revision of every document that has events. */
  readonly revisions: Readonly<Record<DocumentName, number>>;
}

/** A change set with its differences. */
export interface HistoryEntry extends ChangeSet {
  readonly differences: readonly DocumentDifference[];
}

/** The differences of one document in a change set. */
export interface DocumentDifference {
  readonly kind: string;
  readonly id: string;
  readonly parts: readonly PartDifference[];
}

/**
 * A read-only view of the flags at an earlier time. Its methods return the results that the operations of the same
 * names had then. They do not count evaluations.
 */
export interface FlagsView {
  /** `lastSeenAt` is null, because the log has no metrics. `revision` is that of the last event. */
  getFlag(ref: FlagRef): Promise<FlagDetail>;
  isEnabled<Given>(flag: string, context?: ContextArgument<Given>, options?: EvaluationOptions): Promise<boolean>;
  getVariant<Given>(
    flag: string,
    context?: ContextArgument<Given>,
    options?: VariantOptions,
  ): Promise<EvaluatedVariant>;
  explain<Given>(flag: string, context?: ContextArgument<Given>, options?: EnvironmentChoice): Promise<FlagExplanation>;
}
