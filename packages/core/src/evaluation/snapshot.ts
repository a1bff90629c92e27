import { LIMITS } from '../base/limits.js';
import { FlagCompiler, type Segments } from './compile-flag.js';
import {
  type Compile,
  type CompiledFlag,
  type CompiledStrategy,
  FlagTable,
  isCompiled,
  isOn,
  type TableEntry,
  variantOf,
  winningStrategy,
} from './compiled-flag.js';
import type { FlagDefinition, SegmentDefinition, StrategyDefinition } from './definitions.types.js';
import type {
  CustomStrategy,
  EvaluatedVariant,
  Evaluation,
  EvaluationContext,
  FallbackVariant,
  FlagExplanation,
  Impression,
  RolloutExplanation,
  TextEncoding,
} from './evaluation.types.js';
import { explainFlag, explainUnknown, tryRead } from './explain.js';
import type { PatternSource } from './patterns.types.js';
import { type EvaluationProblem, notices, ProblemReporter, reasonOf, SILENT } from './problem.js';
import { UsageCounters } from './usage-counters.js';
import { COMPILED_ON, type CompiledVariant, OFF } from './variants.js';

/** An impression, before the environment is added. */
type SnapshotImpression = Omit<Impression, 'environment'>;

/** The bucket of a context in a hashing strategy. */
export interface StrategyRollout {
  readonly definition: StrategyDefinition;
  readonly rollout: RolloutExplanation;
}

/** A change of a snapshot. A given flag or segment replaces that of the same name or id. */
export interface SnapshotChange {
  readonly flags?: readonly FlagDefinition[];
  /** Names of flags. A flag that is also in `flags` is kept. */
  readonly removedFlags?: readonly string[];
  readonly segments?: readonly SegmentDefinition[];
  /** Ids of segments. A segment that is also in `segments` is kept. */
  readonly removedSegments?: readonly number[];
}

export interface SnapshotOptions {
  /** They must have names. If two flags have the same name, the later one counts. */
  readonly flags: readonly FlagDefinition[];
  readonly segments?: readonly SegmentDefinition[];
  /** Strategies that the host implements. */
  readonly strategies?: readonly CustomStrategy[];
  /** Returns the time for `DATE_*` constraints if the context has none: milliseconds since 1970, UTC. */
  readonly now: () => number;
  /**
   * Returns a number from 0 (inclusive) to 1 (exclusive), for stickiness `random` and for contexts without an id.
   * Default: `Math.random`.
   */
  readonly random?: () => number;
  /** The host name for the strategy `applicationHostname`, which never holds without one. */
  readonly hostname?: string;
  /** How non-ASCII ids are hashed. Default: `utf8`. */
  readonly idEncoding?: TextEncoding;
  /**
   * Returns what compiles patterns, whenever a flag or segment with one is compiled. Default: there is none, and a flag or
   * segment with a pattern is broken.
   */
  readonly patterns?: PatternSource;
  /** Default: new counters. */
  readonly counters?: UsageCounters;
  /** Called once for each problem with a definition or an evaluation. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** Called during every counted evaluation of a flag with `impressionData`. */
  readonly onImpression?: (impression: SnapshotImpression) => void;
}

/** The parts that a snapshot shares with the snapshots created from it. */
export interface SnapshotRuntime {
  readonly compiler: FlagCompiler;
  readonly counters: UsageCounters;
  readonly problems: ProblemReporter;
  readonly onImpression: ((impression: SnapshotImpression) => void) | undefined;
}

const NO_SEGMENTS: ReadonlySet<number> = new Set();
const EMPTY_CONTEXT: EvaluationContext = Object.freeze({});

/**
 * All flags of one environment. Immutable: a change creates a new snapshot, and an older one keeps its results. Its
 * methods are synchronous and never throw because of a flag or a context.
 */
export class Snapshot {
  private constructor(
    private readonly runtime: SnapshotRuntime,
    private readonly flags: FlagTable,
    private readonly segments: Segments,
  ) {}

  /** @internal */
  static create(runtime: SnapshotRuntime, definitions: readonly FlagDefinition[], segments: Segments): Snapshot {
    const flags = new Map(definitions.map((definition) => [definition.name, definition]));
    return new Snapshot(runtime, new FlagTable(flags, compileWith(runtime.compiler, segments)), segments);
  }

  /**
   * Returns whether a flag is on, and counts the evaluation. `fallback` is the result for an unknown flag, which is
   * reported once and counts as unknown. Default: false.
   *
   * @example
   * if (snapshot.isEnabled('checkout', { userId: 'ada' })) …
   */
  isEnabled(name: string, context: EvaluationContext = EMPTY_CONTEXT, fallback = false): boolean {
    const flag = this.flags.get(name);
    if (flag === undefined) {
      this.countUnknown(name, fallback);
      return fallback;
    }
    const enabled = this.isOn(flag, context ?? EMPTY_CONTEXT);
    if (enabled) flag.counter.yes++;
    else flag.counter.no++;
    if (notices.hasAny) notices.reportTo(this.runtime.problems);
    if (flag.impressionData) this.emitImpression({ flag: name, context, enabled });
    return enabled;
  }

  /**
   * Returns a flag's variant, and counts the evaluation. `fallback` is the result for an unknown flag, which is
   * reported once and counts as unknown. Default: the disabled variant.
   *
   * @example
   * const { name, payload } = snapshot.getVariant('checkout', { userId: 'ada' });
   */
  getVariant(name: string, context: EvaluationContext = EMPTY_CONTEXT, fallback?: FallbackVariant): EvaluatedVariant {
    const flag = this.flags.get(name);
    if (flag === undefined) {
      this.countUnknown(name, false);
      return fallback ? { ...fallback, flagEnabled: false } : OFF;
    }
    const { answer, counter } = this.variant(flag, context ?? EMPTY_CONTEXT);
    if (answer.flagEnabled) flag.counter.yes++;
    else flag.counter.no++;
    if (counter) counter.count++;
    else flag.counter.disabled++;
    if (flag.impressionData) this.emitImpression({ flag: name, context, enabled: answer.enabled, variant: answer });
    return answer;
  }

  /**
   * Returns state and variant from one evaluation, or undefined for an unknown flag. Counts nothing and emits no
   * impression.
   */
  evaluate(name: string, context: EvaluationContext = EMPTY_CONTEXT): Evaluation | undefined {
    const flag = this.flags.get(name);
    if (flag === undefined) return undefined;
    const variant = this.variant(flag, context ?? EMPTY_CONTEXT).answer;
    return { enabled: variant.flagEnabled, variant };
  }

  /** Explains why a flag is on or off. Counts nothing and emits no impression. */
  explain(name: string, context: EvaluationContext = EMPTY_CONTEXT): FlagExplanation {
    const flag = this.flags.get(name);
    if (flag === undefined) return explainUnknown(name);
    const explanation = explainFlag(flag, context ?? EMPTY_CONTEXT, this.flags);
    if (notices.hasAny) notices.reportTo(this.runtime.problems);
    return explanation;
  }

  /**
   * Returns what every hashing strategy of a flag draws for a context, whether evaluation reaches the strategy or not.
   */
  rollouts(name: string, context: EvaluationContext): readonly StrategyRollout[] {
    const strategies = this.flags.get(name)?.strategies ?? [];
    return strategies.flatMap(({ definition, test }) => {
      const rollout = test.explain && tryRead(() => test.explain?.(context));
      return rollout ? [{ definition, rollout }] : [];
    });
  }

  /**
   * Returns a snapshot with the segments of this one and no flags, for evaluations without effects: it shares no
   * counters, and reports neither problems nor impressions.
   *
   * @internal
   */
  draft(random: () => number): Snapshot {
    const compiler = this.runtime.compiler.forDrafts(random);
    const runtime = { compiler, counters: new UsageCounters(), problems: SILENT, onImpression: undefined };
    return Snapshot.create(runtime, [], this.segments);
  }

  /** Returns the definition of a flag, or undefined for an unknown flag. */
  definition(name: string): FlagDefinition | undefined {
    const flag = this.flags.entry(name);
    return flag && isCompiled(flag) ? flag.definition : flag;
  }

  /** Returns the names of all flags, in no particular order. */
  *names(): Generator<string> {
    for (const [name] of this.flags) yield name;
  }

  /**
   * Returns a snapshot with a change applied; this snapshot stays unchanged. Both share their usage counters. Compiles the
   * changed flags, and the flags that use a changed segment.
   */
  with(change: SnapshotChange): Snapshot {
    const { segments, changed } = this.changedSegments(change);
    const { compiler, counters } = this.runtime;
    const flags = new Map<string, TableEntry | undefined>();
    for (const [name, flag] of changed.size > 0 ? this.flags : []) {
      // A flag that is not compiled yet is set again, so that earlier snapshots compile it with their own segments.
      if (!isCompiled(flag)) {
        if (mayUse(flag, changed)) flags.set(name, flag);
      } else if (hasAny(flag.segments, changed)) flags.set(name, compiler.flag(flag.definition, segments));
    }
    for (const name of change.removedFlags ?? []) {
      counters.retire(name);
      flags.set(name, undefined);
    }
    for (const definition of change.flags ?? []) {
      const flag = compiler.flag(definition, segments);
      if (flag) flags.set(flag.name, flag);
    }
    return new Snapshot(this.runtime, this.flags.with(flags, compileWith(compiler, segments)), segments);
  }

  private isOn(flag: CompiledFlag, context: EvaluationContext): boolean {
    try {
      return isOn(flag, context, this.flags);
    } catch (error) {
      this.reportFailure(flag, error);
      return false;
    }
  }

  private winner(flag: CompiledFlag, context: EvaluationContext): CompiledStrategy | undefined {
    try {
      return winningStrategy(flag, context, this.flags);
    } catch (error) {
      this.reportFailure(flag, error);
      return undefined;
    }
  }

  /**
   * Reports a name that no flag has, probably a misspelt one, and counts it. Ignores a text that is too long for a
   * name.
   */
  private countUnknown(name: unknown, enabled: boolean): void {
    if (typeof name !== 'string' || name.length > LIMITS.name) return;
    const { counters, problems } = this.runtime;
    const message = `The flag ${name} does not exist or is archived: the fallback is used.`;
    problems.report({ code: 'unknown_flag', flag: name, message });
    const counter = counters.getUnknown(name);
    if (counter) counter[enabled ? 'yes' : 'no']++;
  }

  private variant(flag: CompiledFlag, context: EvaluationContext): CompiledVariant {
    const winner = this.winner(flag, context);
    try {
      return variantOf(flag, winner, context);
    } catch (error) {
      this.reportFailure(flag, error);
      return COMPILED_ON;
    } finally {
      if (notices.hasAny) notices.reportTo(this.runtime.problems);
    }
  }

  private reportFailure({ name: flag }: CompiledFlag, error: unknown): void {
    const message = `Reading the context threw an error, so ${flag} is off: ${reasonOf(error)}.`;
    this.runtime.problems.report({ code: 'evaluation_failed', flag, message }, '');
  }

  private emitImpression(impression: SnapshotImpression): void {
    try {
      this.runtime.onImpression?.(impression);
    } catch (error) {
      const message = `onImpression threw: ${reasonOf(error)}.`;
      this.runtime.problems.report({ code: 'impression_failed', flag: impression.flag, message }, '');
    }
  }

  private changedSegments(change: SnapshotChange): { segments: Segments; changed: ReadonlySet<number> } {
    const { segments: given = [], removedSegments = [] } = change;
    if (given.length + removedSegments.length === 0) return { segments: this.segments, changed: NO_SEGMENTS };
    const changed = new Set(removedSegments);
    const segments = new Map(this.segments);
    for (const id of removedSegments) segments.delete(id);
    for (const definition of given) {
      const segment = this.runtime.compiler.segment(definition);
      if (segment === undefined) continue;
      segments.set(segment.id, segment);
      changed.add(segment.id);
    }
    return { segments, changed };
  }
}

function hasAny(ids: ReadonlySet<number>, wanted: ReadonlySet<number>): boolean {
  for (const id of ids) if (wanted.has(id)) return true;
  return false;
}

/** Whether a definition may refer to one of the segments. An unreadable one may. */
function mayUse({ strategies }: FlagDefinition, segments: ReadonlySet<number>): boolean {
  return tryRead(() => strategies.some((strategy) => strategy.segments?.some((id) => segments.has(id)))) ?? true;
}

/** Not a closure within a method of a snapshot, which would keep that snapshot alive. */
function compileWith(compiler: FlagCompiler, segments: Segments): Compile {
  return (definition) => compiler.flag(definition, segments);
}

/**
 * Creates a snapshot of the flags of one environment. A flag is parsed when it is first evaluated, or when a change
 * brings it; evaluation only compares and hashes. Never throws because of a definition: an unreadable flag is off, and
 * reported when it is parsed.
 *
 * @example
 * const snapshot = compileSnapshot({ flags, segments, now: Date.now, onProblem: ({ message }) => log.warn(message) });
 * snapshot.isEnabled('checkout', { userId: 'ada' });
 */
export function compileSnapshot(options: SnapshotOptions): Snapshot {
  const { flags, segments = [], strategies = [], now, random = Math.random } = options;
  const { hostname, idEncoding = 'utf8', counters = new UsageCounters(), onProblem, onImpression } = options;
  const { patterns = throwNoPatterns } = options;
  const problems = new ProblemReporter(onProblem);
  const strategyContext = { random, hostname, idEncoding };
  const custom = new Map(strategies.map((strategy) => [strategy.name, strategy]));
  const compiler = new FlagCompiler({ now, strategyContext, strategies: custom, patterns, problems }, counters);
  const compiled = segments.flatMap((definition) => compiler.segment(definition) ?? []);
  const segmentsById = new Map(compiled.map((segment) => [segment.id, segment]));
  const runtime = { compiler, counters, problems, onImpression };
  return Snapshot.create(runtime, flags, segmentsById);
}

function throwNoPatterns(): never {
  throw new Error('it has a regular expression, but RE2 was not given');
}
