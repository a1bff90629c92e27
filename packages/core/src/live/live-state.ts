import type { Settings } from '../api/engine.js';
import type { Configuration, SegmentConfiguration } from '../api/evaluation.js';
import type { DocumentNews, Versioned } from '../engine/aggregate.js';
import { flagDocuments, segmentDocuments } from '../engine/aggregates.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import { frozen } from '../frozen.js';
import { groupBy } from '../group-by.js';
import type { FlagCount } from '../metrics/port.js';
import type { DocumentKey } from '../storage/port.js';
import { toSegmentConfiguration } from './configuration.js';
import { copiedJson, type Known } from './copied-json.js';
import { createEnvironmentView, type EnvironmentView, type ViewChange, type ViewOptions } from './environment-view.js';
import type { LiveDocuments } from './live-documents.js';

/** All environments, ready to be evaluated, always as current as the documents in memory. */
export interface LiveState {
  /** The default environment. */
  readonly standard: EnvironmentView;
  /** Compiled when first asked for; undefined when there is no such environment. */
  snapshotOf(environment: string): Snapshot | undefined;
  /** Frozen, and the same object until something changes; undefined when there is no such environment. */
  configurationOf(environment: string): Configuration | undefined;
  /** Takes a document as it has become; what is known already changes nothing. */
  take(key: DocumentKey, news: DocumentNews): void;
  /** What was counted in all environments since the last time, each flag once. */
  drain(): readonly FlagCount[];
}

export interface LiveStateOptions {
  readonly settings: Settings;
  readonly documents: LiveDocuments;
  readonly view: ViewOptions;
  /** Called after every change. */
  readonly onChange: () => void;
  /** Called when a flag is deleted: what waits to be told of it must not be told of a later one of its name. */
  readonly onDeleted: (flag: string) => void;
}

export function createLiveState(options: LiveStateOptions): LiveState {
  const { settings, documents, view, onChange, onDeleted } = options;
  const names = new Set(settings.environments.map(({ name }) => name));
  const views = new Map<string, EnvironmentView>();
  const configurations = new Map<string, Configuration>();
  const standard = viewOf(settings.environment);
  let stamp = 1;

  function viewOf(environment: string): EnvironmentView {
    const known = views.get(environment);
    if (known) return known;
    const created = createEnvironmentView(environment, documents, view);
    views.set(environment, created);
    return created;
  }

  /** What was counted of a flag that is gone for good is not told of a later one of its name. */
  function forget(change: ViewChange): void {
    if (!('flag' in change)) return;
    for (const { counters } of views.values()) counters.forget(change.flag);
    onDeleted(change.flag);
  }

  function configurationOf(environment: string): Configuration {
    const known = configurations.get(environment);
    if (known) return known;
    const configuration = frozen({ stamp, flags: viewOf(environment).flags(), segments: segmentsIn(documents) });
    configurations.set(environment, configuration);
    return configuration;
  }

  return {
    standard,
    snapshotOf: (environment) => (names.has(environment) ? viewOf(environment).snapshot : undefined),
    configurationOf: (environment) => (names.has(environment) ? configurationOf(environment) : undefined),
    take(key, { revision, state, before }) {
      const change = toViewChange(key);
      if (!change || !documents.isNews(key, revision)) return;
      if (state === undefined) forget(change);
      // The caller of a change is given parts of what was written: what happens to them does not happen to evaluation.
      if (!documents.take(key, revision, copiedJson(state, knownOf(key, documents, before)))) return;
      for (const one of views.values()) one.update(change);
      configurations.clear();
      stamp += 1;
      onChange();
    },
    drain: () => sum([...views.values()].flatMap(({ counters }) => counters.drain())),
  };
}

function knownOf(key: DocumentKey, documents: LiveDocuments, before: Versioned<unknown> | undefined): Known {
  const known = documents.known(key);
  return { known: known?.state, ...(known && known.revision === before?.revision && { twin: before.state }) };
}

/** By id. */
function segmentsIn({ segments }: LiveDocuments): readonly SegmentConfiguration[] {
  return [...segments.values()].sort((one, other) => one.id - other.id).map(toSegmentConfiguration);
}

function toViewChange({ kind, id }: DocumentKey): ViewChange | undefined {
  if (kind === flagDocuments.kind) return { flag: id };
  return kind === segmentDocuments.kind ? { segment: id } : undefined;
}

function sum(counts: readonly FlagCount[]): readonly FlagCount[] {
  return [...groupBy(counts, ({ flag }) => flag)].map(([flag, parts]) => ({
    flag,
    yes: parts.reduce((total, { yes }) => total + yes, 0),
    no: parts.reduce((total, { no }) => total + no, 0),
  }));
}
