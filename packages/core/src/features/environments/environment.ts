import { compareCodePoints } from '../../base/collections.js';
import { isSameJson } from '../../base/json.js';
import { NONE } from '../../evaluation/convert.js';
import type { SegmentDefinition } from '../../evaluation/definitions.types.js';
import type {
  EnvironmentConfiguration,
  FlagConfiguration,
  Impression,
  SegmentConfiguration,
} from '../../evaluation/evaluation.types.js';
import { compileSnapshot, type Snapshot, type SnapshotOptions } from '../../evaluation/snapshot.js';
import { UsageCounters } from '../../evaluation/usage-counters.js';
import type { Dependency } from '../flags/dependency.types.js';
import { type FlagState, orderedEnvironmentOf } from '../flags/flag.js';
import type { SegmentState } from '../segments/segment.js';
import type { FlagDocuments } from './flag-documents.js';

/** Returns the frozen configuration of a flag in one environment. Its parts are those of the frozen state. */
export function toConfiguration(flag: FlagState, environment: string): FlagConfiguration {
  const { name, project, type, description, stale, impressionData, variants, dependencies } = flag;
  const { enabled, strategies } = orderedEnvironmentOf(flag, environment);
  return Object.freeze({
    name,
    project,
    type,
    description,
    stale,
    labels: flag.labels,
    impressionData,
    enabled,
    strategies: strategies.length === 0 ? NONE : Object.freeze(strategies),
    variants,
    dependencies: dependencies.length === 0 ? NONE : Object.freeze(dependencies.map(toDependency)),
  });
}

function toDependency({ flag, enabled, variants }: Dependency) {
  return Object.freeze({ flag, enabled, variants });
}

export function toSegmentConfiguration({ id, name, constraints }: SegmentState): SegmentConfiguration {
  return Object.freeze({ id, name, constraints });
}

/** Options that all environments share. */
export type EnvironmentOptions = Omit<SnapshotOptions, 'flags' | 'segments' | 'counters' | 'onImpression'> & {
  readonly onImpression: (impression: Impression) => void;
};

type EvaluatedDocuments = Pick<FlagDocuments, 'flags' | 'segments'>;

/** Documents that were created, changed or deleted. */
export interface ChangedDocuments {
  readonly flags: ReadonlySet<string>;
  /** Ids. */
  readonly segments: ReadonlySet<number>;
}

/** Prepares the flags of one environment: each is compiled when it is first evaluated. Evaluation does not know archived flags. */
export function compileEnvironment(
  environment: string,
  { flags, segments }: EvaluatedDocuments,
  { onImpression, ...options }: EnvironmentOptions & Pick<SnapshotOptions, 'counters'>,
): Snapshot {
  return compileSnapshot({
    ...options,
    flags: [...flags.values()].filter(isLive).map((flag) => toConfiguration(flag, environment)),
    segments: [...segments.values()].map(toSegmentConfiguration),
    onImpression: (impression) => onImpression({ ...impression, environment }),
  });
}

function isLive({ archived }: FlagState): boolean {
  return !archived;
}

/**
 * One environment. A flag is compiled when it is first evaluated, or when it changes. Every change of it replaces
 * `snapshot`; an older snapshot keeps its results.
 */
export class Environment {
  snapshot: Snapshot;
  readonly counters = new UsageCounters();

  constructor(
    readonly name: string,
    private readonly documents: EvaluatedDocuments,
    options: EnvironmentOptions,
  ) {
    this.snapshot = compileEnvironment(name, documents, { ...options, counters: this.counters });
  }

  /**
   * Compiles the flags that a change affects. Returns the names of the flags whose configuration differs from before.
   */
  update(changed: ChangedDocuments): readonly string[] {
    const flags: FlagConfiguration[] = [];
    const removedFlags: string[] = [];
    for (const name of changed.flags) {
      const state = this.documents.flags.get(name);
      const before = this.snapshot.definition(name);
      const after = state && !state.archived ? toConfiguration(state, this.name) : undefined;
      if (isSameJson(before, after)) continue;
      if (after) flags.push(after);
      else removedFlags.push(name);
    }
    const segments: SegmentDefinition[] = [];
    const removedSegments: number[] = [];
    for (const id of changed.segments) {
      const state = this.documents.segments.get(`${id}`);
      if (state) segments.push(toSegmentConfiguration(state));
      else removedSegments.push(id);
    }
    const names = [...flags.map(({ name }) => name), ...removedFlags];
    if (names.length + changed.segments.size > 0) {
      this.snapshot = this.snapshot.with({ flags, removedFlags, segments, removedSegments });
    }
    return names;
  }

  /** Returns the frozen configuration that clients of this environment evaluate. */
  configuration(version: number): EnvironmentConfiguration {
    // Sorting is short: the documents were loaded in name order, and only new flags follow them.
    const flags = [...this.documents.flags.keys()].flatMap((name) => this.configurationOf(name) ?? []).sort(byName);
    const segments = [...this.documents.segments.values()].sort((one, other) => one.id - other.id);
    return Object.freeze({
      version,
      flags: Object.freeze(flags),
      segments: Object.freeze(segments.map(toSegmentConfiguration)),
    });
  }

  /** The cast is safe, because this class compiles its snapshots from configurations. */
  private configurationOf(name: string): FlagConfiguration | undefined {
    return this.snapshot.definition(name) as FlagConfiguration | undefined;
  }
}

function byName(one: FlagConfiguration, other: FlagConfiguration): number {
  return compareCodePoints(one.name, other.name);
}
