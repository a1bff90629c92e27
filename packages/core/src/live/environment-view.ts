import type { FlagConfiguration, Impression } from '../api/evaluation.js';
import { compileSnapshot, type SnapshotOptions } from '../evaluation/compile-snapshot.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { SnapshotChange } from '../evaluation/snapshot-change.js';
import { UsageCounters } from '../evaluation/usage.js';
import { frozen } from '../frozen.js';
import { toConfiguration, toSegmentDefinition } from './configuration.js';
import type { LiveDocuments } from './live-documents.js';
import { createNameOrder } from './name-order.js';

/** What the views of all environments have in common. */
export type ViewOptions = Omit<SnapshotOptions, 'flags' | 'segments' | 'counters' | 'onImpression'> & {
  readonly onImpression: (impression: Impression) => void;
};

/** One environment, compiled. `snapshot` is replaced with every change; who keeps an older one keeps its answers. */
export interface EnvironmentView {
  readonly snapshot: Snapshot;
  readonly counters: UsageCounters;
  /** By name in code-point order; each the same object until that flag changes. */
  flags(): readonly FlagConfiguration[];
  /** Compiles a flag, or a segment and the flags that use it, anew. */
  update(change: ViewChange): void;
}

export type ViewChange = { readonly flag: string } | { readonly segment: string };

export function createEnvironmentView(
  environment: string,
  documents: LiveDocuments,
  options: ViewOptions,
): EnvironmentView {
  const counters = new UsageCounters();
  const compiled = compileSnapshot({
    ...options,
    counters,
    flags: [...documents.flags.values()].map((flag) => toConfiguration(flag, environment)),
    segments: [...documents.segments.values()].map(toSegmentDefinition),
    onImpression: (impression) => options.onImpression({ ...impression, environment }),
  });

  function toSnapshotChange(change: ViewChange): SnapshotChange {
    if ('segment' in change) {
      const segment = documents.segments.get(change.segment);
      return segment ? { segments: [toSegmentDefinition(segment)] } : { removedSegments: [Number(change.segment)] };
    }
    const flag = documents.flags.get(change.flag);
    return flag ? { flags: [toConfiguration(flag, environment)] } : { removedFlags: [change.flag] };
  }

  // A member, not a getter: it is read with every evaluation.
  const view = {
    snapshot: compiled,
    counters,
    flags: () => order.list(),
    update(change: ViewChange) {
      view.snapshot = view.snapshot.with(toSnapshotChange(change));
      if ('flag' in change) order.changed(change.flag);
    },
  };
  // Frozen one by one: freezing all with every change costs more than all the rest of it.
  const find = (name: string) => frozen(configurationOf(view.snapshot, name));
  const order = createNameOrder(() => [...view.snapshot.names()].flatMap((name) => find(name) ?? []), find);
  return view;
}

/** The view gives the snapshot configurations, so that is what it gives back. */
function configurationOf(snapshot: Snapshot, name: string): FlagConfiguration | undefined {
  return snapshot.definition(name) as FlagConfiguration | undefined;
}
