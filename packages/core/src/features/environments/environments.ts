import { hostname } from 'node:os';
import { compareCodePoints, createListeners, type Listeners } from '../../base/collections.js';
import { isSameJson } from '../../base/json.js';
import { emitWarning } from '../../base/printable.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import { NONE } from '../../evaluation/convert.js';
import type { SegmentDefinition } from '../../evaluation/definitions.types.js';
import type {
  ConfigurationChange,
  CustomStrategy,
  EnvironmentConfiguration,
  FlagConfiguration,
  Impression,
  PayloadReader,
  SegmentConfiguration,
  TextEncoding,
} from '../../evaluation/evaluation.types.js';
import { loadedPatterns, loadPatternsFor } from '../../evaluation/load-patterns.js';
import { type EvaluationProblem, ProblemReporter } from '../../evaluation/problem.js';
import { compileSnapshot, type Snapshot, type SnapshotOptions } from '../../evaluation/snapshot.js';
import { STRATEGIES } from '../../evaluation/strategies.js';
import { type EnvironmentCount, type FlagUsage, UsageCounters } from '../../evaluation/usage-counters.js';
import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import type { Documents, KeyedUpdate } from '../../storage/document-reader.js';
import type { DocumentKey } from '../../storage/port.js';
import type { Dependency } from '../flags/dependency.types.js';
import { type EnvironmentState, type FlagState, orderedEnvironmentOf } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { startUsageRecorder, type UsageOptions } from '../usage/usage-recorder.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import { type FlagDocuments, flagDocumentsIn } from './flag-documents.js';

/*
 * The environments of this process: their flags, compiled and kept current with the documents in memory.
 */

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

/** All compiled environments, kept current with the documents in memory. */
export interface EvaluationState {
  /** The default environment. */
  readonly standard: Pick<Environment, 'snapshot'>;
  /** Returns the snapshot of an environment, or undefined for an unknown one. The first call compiles it. */
  snapshotOf(environment: string): Snapshot | undefined;
  /** Returns a frozen object, the same one until a change. Returns undefined for an unknown environment. */
  configurationOf(environment: string): EnvironmentConfiguration | undefined;
  /** Compiles what changed documents concern, and notifies listeners. */
  recompile(changed: readonly DocumentKey[]): void;
  /** Returns and resets the evaluation counts, one sum per environment and flag. */
  drain(): readonly EnvironmentCount[];
}

interface EvaluationStateOptions {
  readonly settings: FlagsSettings;
  readonly documents: FlagDocuments;
  readonly options: EnvironmentOptions;
  /** Called after a change, once for each environment that it concerns. */
  readonly onChange: (change: ConfigurationChange) => void;
  /** Called when a flag is deleted: a later flag of the same name must not get its pending counts. */
  readonly onDeleted: (flag: string) => void;
}

function createEvaluationState(parts: EvaluationStateOptions): EvaluationState {
  const { settings, documents, options, onChange, onDeleted } = parts;
  const names = new Set(settings.environments.map(({ name }) => name));
  const environments = new Map<string, Environment>();
  const configurations = new Map<string, EnvironmentConfiguration>();
  let version = 1;

  function environmentOf(name: string): Environment | undefined {
    const known = environments.get(name);
    if (known || !names.has(name)) return known;
    const compiled = new Environment(name, documents, options);
    environments.set(name, compiled);
    return compiled;
  }

  /** Drops the counts of a deleted flag. A later flag of the same name must not get them. */
  function forget(flag: string): void {
    for (const { counters } of environments.values()) counters.forget(flag);
    onDeleted(flag);
  }

  return {
    standard: environmentOf(settings.environment) as Environment,
    snapshotOf: (environment) => environmentOf(environment)?.snapshot,
    configurationOf(environment) {
      const known = configurations.get(environment) ?? environmentOf(environment)?.configuration(version);
      if (known) configurations.set(environment, known);
      return known;
    },
    recompile(keys) {
      const idsOf = (kind: string) => keys.flatMap((key) => (key.kind === kind ? [key.id] : []));
      const flags = new Set(idsOf(flagDocuments.kind));
      const segments = new Set(idsOf(segmentDocuments.kind).map(Number));
      for (const flag of flags) if (!documents.flags.has(flag)) forget(flag);
      const changes: ConfigurationChange[] = [];
      for (const [environment, one] of environments) {
        const names = one.update({ flags, segments });
        if (names.length + segments.size > 0) changes.push({ environment, flags: names, segments: [...segments] });
      }
      if (changes.length === 0) return;
      configurations.clear();
      version += 1;
      for (const change of changes) onChange(change);
    },
    drain: () => [...environments].flatMap(([environment, { counters }]) => countsOf(environment, counters.drain())),
  };
}

function countsOf(environment: string, usage: readonly FlagUsage[]): readonly EnvironmentCount[] {
  return usage.map(({ flag, yes, no, variants }) => {
    return { environment, flag, yes, no, ...(variants.length > 0 && { variants }) };
  });
}

/** The evaluation of the documents in memory. */
export interface Replica {
  readonly state: EvaluationState;
  readonly documents: FlagDocuments;
  /** How this process compiles flags: for snapshots of other states than the current one. */
  readonly options: EnvironmentOptions;
  readonly impressions: Listeners<Impression>;
  /** Notified after every change that evaluation sees. */
  readonly changes: Listeners<ConfigurationChange>;
  /** Notified of the evaluations that each flush of usage records. */
  readonly counts: Listeners<readonly EnvironmentCount[]>;
  /** For problems that evaluation finds outside of snapshots. */
  readonly problems: ProblemReporter;
}

/** What environments add to the engine. */
export interface EnvironmentParts {
  readonly replica: Replica;
  readonly payloads: PayloadReader;
}

/** The options of the host that environments read. */
export interface EvaluationSetup {
  readonly strategies?: readonly CustomStrategy[];
  readonly idEncoding?: TextEncoding;
  readonly onProblem?: (problem: EvaluationProblem) => void;
  readonly payloads: PayloadReader;
  /** How this process reports its evaluations. */
  readonly usage: Pick<UsageOptions, 'application' | 'instance' | 'interval'>;
}

/** Compiles the environments, and records the evaluations of this process. Evaluation still works after the end. */
export function openEnvironments(
  { settings, memory, usageWriter, now, onError }: SharedEngine & { readonly usageWriter: UsageWriter },
  host: EvaluationSetup,
): OpenedFeature<EnvironmentParts> {
  const { strategies = [], idEncoding = 'utf8', onProblem = warnOf, payloads } = host;
  const documents = flagDocumentsIn(memory);
  const impressions = createListeners<Impression>(onError);
  const changes = createListeners<ConfigurationChange>(onError);
  const counts = createListeners<readonly EnvironmentCount[]>(onError);
  const problems = new ProblemReporter(onProblem);
  const clock = () => now().getTime();
  const options: EnvironmentOptions = {
    strategies,
    idEncoding,
    // All environments share a reporter: most problems of a flag are the same in each.
    onProblem: (problem) => problems.report(problem),
    now: clock,
    patterns: loadedPatterns,
    hostname: hostname(),
    onImpression: impressions.notify,
  };
  const state = createEvaluationState({
    settings,
    documents,
    options,
    onChange: changes.notify,
    onDeleted: (flag) => recorder.forget(flag),
  });
  const recorder = startUsageRecorder({
    writer: usageWriter,
    now,
    ...host.usage,
    strategies: [...STRATEGIES.keys(), ...strategies.map(({ name }) => name)],
    drain() {
      const drained = state.drain();
      counts.notify(drained);
      return drained;
    },
    onError,
  });
  const replica = { state, documents, options, impressions, changes, counts, problems };
  return { parts: { replica, payloads }, onDocuments: state.recompile, close: recorder.close };
}

function warnOf({ message, code }: EvaluationProblem): void {
  emitWarning(message, { code });
}

/** Flags and segments that are about to be evaluated. */
interface EvaluatedStates {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
}

/** Loads RE2 if any of the documents has a pattern. Returns undefined if there is nothing to wait for. */
export function preparePatterns({ flags, segments }: EvaluatedStates): Promise<unknown> | undefined {
  return loadPatternsFor({ flags: environmentsOf(flags.values()), segments: segments.values() });
}

/** Like `preparePatterns`, for documents of any kind that are about to be in memory. */
export function preparePatternsIn(updates: Iterable<KeyedUpdate>): Promise<unknown> | undefined {
  return loadPatternsFor({
    flags: environmentsOf(statesIn(updates, flagDocuments)),
    segments: statesIn(updates, segmentDocuments),
  });
}

// Generators, because nothing is read once RE2 is loaded.

function* environmentsOf(flags: Iterable<FlagState>): Generator<EnvironmentState> {
  for (const { environments } of flags) yield* environments;
}

function* statesIn<State>(updates: Iterable<KeyedUpdate>, { kind }: Documents<State>): Generator<State> {
  for (const { key, update } of updates)
    if (key.kind === kind && update.state !== undefined) yield update.state as State;
}
