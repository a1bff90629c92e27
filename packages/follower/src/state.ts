import type { ConfigurationChange, CustomStrategy, EvaluationProblem, Impression } from '@flags/core';
import {
  type ClientDocument,
  compareCodePoints,
  compileSnapshot,
  freezeJson,
  loadedPatterns,
  loadPatternsFor,
  type Snapshot,
  UsageCounters,
} from '@flags/core/integration/follower';
import type { EnvironmentConfiguration, FlagConfiguration, SegmentConfiguration } from '@flags/core/types';

/** The variant that SDKs count for a flag without one. */
const NO_VARIANT = 'disabled';

/** New states by name and id; undefined removes. */
export interface FollowedChange {
  readonly flags: ReadonlyMap<string, FlagConfiguration | undefined>;
  readonly segments: ReadonlyMap<number, SegmentConfiguration | undefined>;
}

export interface StateOptions {
  readonly strategies: readonly CustomStrategy[];
  readonly hostname: string;
  readonly now: () => number;
  readonly environment: () => string;
  readonly onProblem: (problem: EvaluationProblem) => void;
  readonly onImpression: (impression: Impression) => void;
  /** Called after a change. */
  readonly onChange: (change: ConfigurationChange) => void;
}

/** The one environment that a follower knows. Each message of the server makes one new snapshot. */
export class FollowedState {
  snapshot: Snapshot;
  readonly counters = new UsageCounters();
  /** Evaluation reads the snapshot of its default environment here. */
  readonly standard: { readonly snapshot: Snapshot } = this;
  private readonly segments = new Map<number, SegmentConfiguration>();
  private version = 1;
  private known: EnvironmentConfiguration | undefined;

  constructor(private readonly options: StateOptions) {
    this.snapshot = this.compile([], []);
  }

  get environment(): string {
    return this.options.environment();
  }

  snapshotOf(environment: string): Snapshot | undefined {
    return environment === this.environment ? this.snapshot : undefined;
  }

  /** Returns a frozen object, the same one until a change. */
  configurationOf(environment: string): EnvironmentConfiguration | undefined {
    if (environment !== this.environment) return undefined;
    this.known ??= Object.freeze({
      version: this.version,
      flags: Object.freeze([...this.snapshot.names()].sort(compareCodePoints).flatMap((name) => this.flag(name) ?? [])),
      segments: Object.freeze([...this.segments.values()].sort((one, other) => one.id - other.id)),
    });
    return this.known;
  }

  /** The cast is safe: this class compiles its snapshots from configurations. */
  flag(name: string): FlagConfiguration | undefined {
    return this.snapshot.definition(name) as FlagConfiguration | undefined;
  }

  /** Returns the project of a flag, and the names of the variants that it can result in. */
  variantsOf(name: string): { readonly project: string; readonly variants: ReadonlySet<string> } | undefined {
    const flag = this.flag(name);
    if (flag === undefined) return undefined;
    const variants = [...(flag.variants ?? []), ...flag.strategies.flatMap((strategy) => strategy.variants ?? [])];
    return { project: flag.project, variants: new Set([NO_VARIANT, ...variants.map((variant) => variant.name)]) };
  }

  /** Replaces all flags and segments. Keeps the objects of equal ones. The first pattern waits until RE2 is loaded. */
  async replace({ flags, segments }: ClientDocument): Promise<void> {
    await loadPatternsFor({ flags, segments });
    const change = {
      flags: new Map<string, FlagConfiguration | undefined>(flags.map((flag) => [flag.name, flag])),
      segments: new Map<number, SegmentConfiguration | undefined>(segments.map((segment) => [segment.id, segment])),
    };
    for (const name of this.snapshot.names()) if (!change.flags.has(name)) change.flags.set(name, undefined);
    for (const id of this.segments.keys()) if (!change.segments.has(id)) change.segments.set(id, undefined);
    this.install(change);
  }

  /** Applies the changes of one message at once: no evaluation sees some of them without the others. */
  async apply(change: FollowedChange): Promise<void> {
    await loadPatternsFor({ flags: definedValues(change.flags), segments: definedValues(change.segments) });
    this.install(change);
  }

  private install(change: FollowedChange): void {
    const flags: FlagConfiguration[] = [];
    const removedFlags: string[] = [];
    for (const [name, after] of change.flags) {
      const before = this.flag(name);
      // Returns the known flag if both are equal.
      const flag = freezeJson(after, before) as FlagConfiguration | undefined;
      if (flag === before) continue;
      if (flag) flags.push(flag);
      else removedFlags.push(name);
    }
    const segments = this.changeSegments(change.segments);
    if (flags.length + removedFlags.length + segments.length === 0) return;
    const present = segments.flatMap((id) => this.segments.get(id) ?? []);
    const removedSegments = segments.filter((id) => !this.segments.has(id));
    // The first flags are compiled when they are first evaluated: a start is short.
    this.snapshot = this.isEmpty()
      ? this.compile(flags, [...this.segments.values()])
      : this.snapshot.with({ flags, removedFlags, segments: present, removedSegments });
    this.version += 1;
    this.known = undefined;
    const names = [...flags.map(({ name }) => name), ...removedFlags];
    this.options.onChange({ environment: this.environment, flags: names, segments });
  }

  private isEmpty(): boolean {
    return this.snapshot.names().next().done === true;
  }

  private compile(flags: readonly FlagConfiguration[], segments: readonly SegmentConfiguration[]): Snapshot {
    const { onImpression } = this.options;
    return compileSnapshot({
      ...this.options,
      flags,
      segments,
      patterns: loadedPatterns,
      counters: this.counters,
      onImpression: (impression) => onImpression({ ...impression, environment: this.environment }),
    });
  }

  /** Returns the ids of the segments that differ. */
  private changeSegments(changed: FollowedChange['segments']): readonly number[] {
    const ids: number[] = [];
    for (const [id, after] of changed) {
      const before = this.segments.get(id);
      const segment = freezeJson(after, before) as SegmentConfiguration | undefined;
      if (segment === before) continue;
      if (segment) this.segments.set(id, segment);
      else this.segments.delete(id);
      ids.push(id);
    }
    return ids;
  }
}

export function definedValues<Item>(items: ReadonlyMap<unknown, Item | undefined>): readonly Item[] {
  return [...items.values()].filter((item) => item !== undefined);
}
