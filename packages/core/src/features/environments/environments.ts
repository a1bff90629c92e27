import { hostname } from 'node:os';
import { createListeners, type Listeners } from '../../base/collections.js';
import { emitWarning } from '../../base/printable.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import type {
  ConfigurationChange,
  CustomStrategy,
  EnvironmentConfiguration,
  Impression,
  PayloadReader,
  TextEncoding,
} from '../../evaluation/evaluation.types.js';
import { loadedPatterns } from '../../evaluation/load-patterns.js';
import { type EvaluationProblem, ProblemReporter } from '../../evaluation/problem.js';
import type { Snapshot } from '../../evaluation/snapshot.js';
import { STRATEGIES } from '../../evaluation/strategies.js';
import type { EnvironmentCount, FlagUsage } from '../../evaluation/usage-counters.js';
import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import type { Opened } from '../../kernel/feature.js';
import type { DocumentKey } from '../../storage/port.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { startUsageRecorder, type UsageOptions } from '../usage/usage-recorder.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import { Environment, type EnvironmentOptions } from './environment.js';
import { type FlagDocuments, flagDocumentsIn } from './flag-documents.js';

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
): Opened<EnvironmentParts> {
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
