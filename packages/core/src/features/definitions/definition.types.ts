import type { ChangeContext, StrategyRef } from '../../base/common.types.js';
import type { PartDifference } from '../../base/parts.js';
import type { NeededApproval } from '../../kernel/changes/change-set.types.js';
import type { DependencyInput } from '../flags/dependency.types.js';
import type { FlagEffect } from '../flags/effect.decide.js';
import type { FlagMembers } from '../flags/flag.types.js';
import type { OwnStrategyInput } from '../flags/strategy.types.js';
import type { VariantInput } from '../flags/variant.types.js';
import type { Member } from '../projects/project.types.js';
import type { NewSegment } from '../segments/segment.types.js';

/**
 * Projects, segments and flags as one JSON document. In an import, absent members of an existing item stay unchanged,
 * and those of a new one get their defaults.
 */
export interface Definitions {
  readonly version: 1;
  readonly projects?: readonly DefinedProject[];
  readonly segments?: readonly DefinedSegment[];
  readonly flags?: readonly DefinedFlag[];
}

/** A project in {@link Definitions}. */
export interface DefinedProject {
  readonly id: string;
  /** Default: the id. */
  readonly name?: string;
  readonly description?: string;
  /** Used for a new project only. Default: the time of the import. */
  readonly createdAt?: string;
  /** Replaces all members. */
  readonly members?: readonly Member[];
}

/** A segment in {@link Definitions}. */
export interface DefinedSegment extends Partial<NewSegment> {
  /** The id of a new segment, unless another segment has it or it is beyond the limit. Default: the next free id. */
  readonly id?: number;
  /** Identifies the segment. */
  readonly name: string;
  readonly createdAt?: string;
  readonly createdBy?: string;
}

/** A flag in {@link Definitions}. */
export interface DefinedFlag extends Partial<FlagMembers> {
  /** Identifies the flag. */
  readonly name: string;
  /** Default: `default`. */
  readonly project?: string;
  /**
   * Default: false for a new flag, and for every flag of an import with `prune`. Other flags stay archived or live. An
   * import that revives a flag switches it off, unless the document says that it is on.
   */
  readonly archived?: boolean;
  /** Default: the time of the import. */
  readonly archivedAt?: string;
  readonly createdAt?: string;
  /** Replaces all variants. */
  readonly variants?: readonly VariantInput[];
  /** Replaces all dependencies. */
  readonly dependencies?: readonly DependencyInput[];
  /** By name. Environments that are not named stay unchanged. */
  readonly environments?: Readonly<Record<string, DefinedEnvironment>>;
}

/** A flag's configuration of one environment in {@link Definitions}. */
export interface DefinedEnvironment {
  readonly enabled?: boolean;
  /** Replaces all strategies. */
  readonly strategies?: readonly DefinedStrategy[];
}

/** A strategy in {@link Definitions}. */
export interface DefinedStrategy extends Omit<OwnStrategyInput<string>, 'segments'> {
  /** Default: the id of an equal strategy, or of one of the same name, or a new one. */
  readonly id?: string;
  /** Names of segments, or ids in the document or the store. */
  readonly segments?: readonly (string | number)[];
}

/** Selects the projects of an export. */
export interface ExportQuery {
  /** Only these projects, with their flags and segments, and the segments of the instance. Default: all. */
  readonly project?: string | readonly string[];
}

/** Whether an import archives, whether it is a dry run, its actor and its reason. */
export interface ImportOptions {
  /**
   * Archives the flags of the document's projects that it lacks, and revives archived flags that it has, unless it says
   * `archived: true`. Never deletes a flag. Default: false.
   */
  readonly prune?: boolean;
  /** Returns the differences without applying them. Default: false. */
  readonly dryRun?: boolean;
  /**
   * The id of the import's change set, a UUID, which makes the call safe to repeat, as in {@link ChangeContext.id}. A
   * repeated call returns the first result.
   */
  readonly id?: string;
  readonly actor?: string;
  /** Why the import does not wait for approval, as in {@link ChangeContext.bypassApproval}. */
  readonly bypassApproval?: string;
  /** The reason, at most 1000 characters. */
  readonly reason?: string;
}

/** The changes that an import has made, or would make. */
export interface ImportResult {
  readonly dryRun: boolean;
  /** The change set of the import; null if nothing changed, and in a dry run. */
  readonly changeSet: ImportedChangeSet | null;
  /** The differences, or those that a dry run found. */
  readonly differences: readonly ImportedDifference[];
  /** The strategies of the document that roll out: an import leaves their percentage alone. */
  readonly rollouts: readonly StrategyRef[];
  /** The changes that clients would see, as in the plan of a change set. Only in a dry run. */
  readonly effects?: readonly FlagEffect[];
  /** The approval that the import needs; null if it needs none. Only in a dry run. */
  readonly approval?: NeededApproval | null;
}

/** The change of one document in an import. */
export interface ImportedDifference {
  readonly kind: 'project' | 'segment' | 'flag';
  readonly id: string;
  readonly parts: readonly PartDifference[];
}

/** The change set of an import. */
export interface ImportedChangeSet {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}
