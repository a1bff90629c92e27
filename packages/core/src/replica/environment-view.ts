import { compareCodePoints, lowerBound } from '../base/collections.js';
import { deepFreeze } from '../base/json.js';
import { paced, pause } from '../base/paced.js';
import type { SegmentDefinition } from '../evaluation/definitions.types.js';
import type { FlagConfiguration, Impression, SegmentConfiguration } from '../evaluation/evaluation.types.js';
import { NONE } from '../evaluation/problem.js';
import { compileSnapshot, type Snapshot } from '../evaluation/snapshot.js';
import type { SnapshotChange, SnapshotOptions } from '../evaluation/snapshot.types.js';
import { UsageCounters } from '../evaluation/usage.js';
import type { Dependency } from '../flags/dependency.types.js';
import { type FlagState, orderedEnvironmentOf } from '../flags/flag.js';
import type { SegmentState } from '../segments/segment.js';
import type { DocumentCache } from './document-cache.js';

/** Returns the configuration of a flag in one environment. */
export function toConfiguration(flag: FlagState, environment: string): FlagConfiguration {
  const { name, project, type, description, stale, impressionData, variants, dependencies = [] } = flag;
  const { enabled, strategies } = orderedEnvironmentOf(flag, environment);
  return {
    name,
    project,
    type,
    description,
    stale,
    labels: flag.labels,
    impressionData,
    enabled,
    strategies: strategies.length === 0 ? NONE : strategies,
    variants,
    dependencies: dependencies.length === 0 ? NONE : dependencies.map(toDependency),
  };
}

function toDependency({ flag, enabled, variants }: Dependency) {
  return { feature: flag, enabled, variants };
}

export function toSegmentConfiguration({ id, name, constraints }: SegmentState): SegmentConfiguration {
  return { id, name, constraints };
}

export function toSegmentDefinition({ id, constraints }: SegmentState): SegmentDefinition {
  return { id, constraints };
}

interface Named {
  readonly name: string;
}

/** A list in code-point order of names. It is sorted once, and later changes are inserted in place. */
export interface NameOrder<Item extends Named> {
  /** The caller must report every added, removed or replaced item. */
  changed(name: string): void;
  /** Returns a frozen list. The next call returns the same list unless an item has changed. */
  list(): readonly Item[];
  /** Sorts the items in slices, so that the first list is ready soon. */
  load(): Promise<void>;
}

/** The share of changed items above which sorting the whole list is faster than inserting each item. */
const RESORT_SHARE = 1 / 16;

/**
 * Creates a list that stays sorted by name.
 *
 * @param all returns all current items, in any order
 * @param find returns the current item of a name
 */
export function createNameOrder<Item extends Named>(
  all: () => readonly Item[],
  find: (name: string) => Item | undefined,
): NameOrder<Item> {
  let ordered: readonly Item[] | undefined;
  // The first sort takes all items, so that earlier changes need no record.
  let isRecording = false;
  const changed = new Set<string>();

  function current(): readonly Item[] {
    isRecording = true;
    if (!ordered || changed.size > ordered.length * RESORT_SHARE) return all().toSorted(byName);
    if (changed.size === 0) return ordered;
    // A spread is the fastest way to copy a frozen list.
    const next = [...ordered];
    for (const name of changed) place(next, name, find(name));
    return next;
  }

  return {
    changed(name) {
      if (isRecording) changed.add(name);
    },
    list() {
      ordered = Object.freeze(current());
      changed.clear();
      return ordered;
    },
    async load() {
      if (isRecording) return;
      isRecording = true;
      const sorted = [...all()].sort(byName);
      // Another caller may have listed meanwhile. Its list has the changes of that time.
      ordered ??= sorted;
    },
  };
}

function byName(one: Named, other: Named): number {
  return compareCodePoints(one.name, other.name);
}

function place<Item extends Named>(items: Item[], name: string, item: Item | undefined): void {
  const at = lowerBound(items, name, nameOf);
  const known = items[at]?.name === name ? 1 : 0;
  items.splice(at, known, ...(item ? [item] : []));
}

function nameOf({ name }: Named): string {
  return name;
}

/** Options that all environments share. */
export type ViewOptions = Omit<SnapshotOptions, 'flags' | 'segments' | 'counters' | 'onImpression'> & {
  readonly onImpression: (impression: Impression) => void;
};

/** One compiled environment. Every change replaces `snapshot`; an older snapshot keeps its results. */
export interface EnvironmentView {
  readonly snapshot: Snapshot;
  readonly counters: UsageCounters;
  /** Returns the flags in code-point order of names. Unchanged flags stay the same objects. */
  flags(): readonly FlagConfiguration[];
  /** Compiles a changed flag that was compiled before, or a changed segment and the flags that use it. */
  update(change: ViewChange): void;
  /** Adds the flags that are not in the snapshot yet. Each is compiled when it is first evaluated. */
  complete(): void;
  /** Completes the view and freezes all configurations, in slices. */
  load(): Promise<void>;
}

/** Flags per compile step. Every step also copies a list with one entry per 64 flags. */
const FLAGS_PER_STEP = 32;

export type ViewChange = { readonly flag: string } | { readonly segment: string };

/** Creates the view of an environment, without flags. `complete` or `load` adds them. */
export function createEnvironmentView(
  environment: string,
  documents: Pick<DocumentCache, 'flags' | 'segments'>,
  options: ViewOptions,
): EnvironmentView {
  const counters = new UsageCounters();
  const compiled = compileSnapshot({
    ...options,
    counters,
    flags: [],
    segments: [...documents.segments.values()].map(toSegmentDefinition),
    onImpression: (impression) => options.onImpression({ ...impression, environment }),
  });

  function configurationsOf(names: Iterable<string>): readonly FlagConfiguration[] {
    return [...names].flatMap((name) => {
      const flag = documents.flags.get(name);
      return flag ? [toConfiguration(flag, environment)] : [];
    });
  }

  function toSnapshotChange(change: ViewChange): SnapshotChange {
    if ('segment' in change) {
      const segment = documents.segments.get(change.segment);
      return segment ? { segments: [toSegmentDefinition(segment)] } : { removedSegments: [Number(change.segment)] };
    }
    const flags = configurationsOf([change.flag]);
    if (flags.length === 0) return { removedFlags: [change.flag] };
    return view.snapshot.isCompiled(change.flag) ? { flags } : { uncompiledFlags: flags };
  }

  function complete(names: Iterable<string> = documents.flags.keys()): void {
    const missing = [...names].filter((name) => view.snapshot.definition(name) === undefined);
    if (missing.length > 0) view.snapshot = view.snapshot.with({ uncompiledFlags: configurationsOf(missing) });
  }

  // `snapshot` is a property, not a getter, because every evaluation reads it.
  const view = {
    snapshot: compiled,
    counters,
    flags: () => order.list(),
    update(change: ViewChange) {
      view.snapshot = view.snapshot.with(toSnapshotChange(change));
      if ('flag' in change) order.changed(change.flag);
    },
    complete,
    async load() {
      const names = [...documents.flags.keys()];
      for (let first = 0; first < names.length; first += FLAGS_PER_STEP) {
        await pause();
        const some = names.slice(first, first + FLAGS_PER_STEP);
        complete(some);
        for (const name of some) find(name);
      }
      for await (const { constraints } of paced([...documents.segments.values()])) deepFreeze(constraints);
      await order.load();
    },
  };
  // Each configuration is frozen once: freezing the whole list after every change would cost more than the change.
  const find = (name: string) => deepFreeze(configurationOf(view.snapshot, name));
  const order = createNameOrder(() => [...view.snapshot.names()].flatMap((name) => find(name) ?? []), find);
  return view;
}

/** The cast is safe, because the view compiles its snapshots from configurations. */
function configurationOf(snapshot: Snapshot, name: string): FlagConfiguration | undefined {
  return snapshot.definition(name) as FlagConfiguration | undefined;
}
