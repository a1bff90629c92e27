import type { Awaitable, ChangeContext, FlagRef, ProjectRef } from '../../base/common.types.js';
import type { PartDifference } from '../../base/parts.js';
import type {
  ContextArgument,
  EnvironmentChoice,
  EvaluatedVariant,
  EvaluationOptions,
  FlagExplanation,
  VariantOptions,
} from '../../evaluation/evaluation.types.js';
import type { ChangeSet } from '../../kernel/changes/change-set.types.js';
import type { FlagDetail } from '../flags/flag.types.js';

/** Selects the history of a flag, of a project, or of the whole instance. */
export type HistoryRef = FlagRef | ProjectRef | Readonly<Record<string, never>>;

/** The actor, the reason and the check of an undo. */
export interface UndoOptions {
  /** The id of the undo, a UUID, which makes the call safe to repeat, as in {@link ChangeContext.id}. */
  readonly id?: string;
  /** The actor that the event log records. Default: the instance's default actor. */
  readonly actor?: string;
  /** The reason of the undo, at most 1000 characters. */
  readonly reason?: string;
  /** Why it does not wait for approval, as in {@link ChangeContext.bypassApproval}. */
  readonly bypassApproval?: string;
  /** Called with the set before anything is decided. Throws or rejects to refuse the undo. */
  readonly authorize?: (set: ChangeSet) => Awaitable<void>;
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
