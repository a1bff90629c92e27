import { FlagCompiler, type Segments } from './compile-flag.js';
import {
  type Compile,
  type CompiledFlag,
  type CompiledStrategy,
  type FlagSource,
  FlagTable,
  SegmentUsers,
  type TableEntry,
  variantOf,
  winningStrategy,
} from './compiled-flag.js';
import type { FlagDefinition } from './definitions.types.js';
import type {
  EvaluatedVariant,
  Evaluation,
  EvaluationContext,
  FallbackVariant,
  FlagExplanation,
  Impression,
} from './evaluated.types.js';
import { explainFlag, explainUnknown, tryRead } from './explain.js';
import { notices, ProblemReporter, reasonOf, SILENT } from './problem.js';
import type { SnapshotChange, SnapshotOptions, StrategyRollout } from './snapshot.types.js';
import { UsageCounters } from './usage.js';
import { type CompiledVariant, OFF } from './variants.js';

/** What a snapshot shares with the snapshots created from it. */
export interface SnapshotRuntime {
  readonly compiler: FlagCompiler;
  readonly counters: UsageCounters;
  readonly problems: ProblemReporter;
  readonly onImpression: ((impression: Impression) => void) | undefined;
}

const NO_FLAGS: FlagSource = { get: () => undefined };
const NO_SEGMENTS: ReadonlySet<number> = new Set();
const EMPTY_CONTEXT: EvaluationContext = Object.freeze({});

/**
 * All flags of one environment, compiled. Immutable: a change creates a new snapshot, and an older one keeps its
 * results. Its methods are synchronous and never throw because of a flag or a context.
 */
export class Snapshot {
  private constructor(
    private readonly runtime: SnapshotRuntime,
    private readonly flags: FlagTable,
    private readonly segments: Segments,
    private readonly segmentUsers: SegmentUsers,
  ) {}

  /** @internal */
  static empty(runtime: SnapshotRuntime): Snapshot {
    return new Snapshot(runtime, FlagTable.empty(), new Map(), new SegmentUsers());
  }

  /**
   * Returns whether a flag is on, and counts the evaluation. `fallback` is the result for an unknown flag, which is not
   * counted. Default: false.
   *
   * @example
   * if (snapshot.isEnabled('checkout', { userId: 'ada' })) …
   */
  isEnabled(name: string, context: EvaluationContext = EMPTY_CONTEXT, fallback = false): boolean {
    const flag = this.flags.get(name);
    if (flag === undefined) return fallback;
    const enabled = this.winner(flag, context ?? EMPTY_CONTEXT) !== undefined;
    if (enabled) flag.counter.yes++;
    else flag.counter.no++;
    if (notices.hasAny) notices.reportTo(this.runtime.problems);
    if (flag.impressionData) this.emitImpression({ flag: name, context, enabled });
    return enabled;
  }

  /**
   * Returns a flag's variant, and counts the evaluation. `fallback` is the result for an unknown flag, which is not
   * counted. Default: the disabled variant.
   *
   * @example
   * const { name, payload } = snapshot.getVariant('checkout', { userId: 'ada' });
   */
  getVariant(name: string, context: EvaluationContext = EMPTY_CONTEXT, fallback?: FallbackVariant): EvaluatedVariant {
    const flag = this.flags.get(name);
    if (flag === undefined) return fallback ? { ...fallback, feature_enabled: false } : OFF;
    const { answer, counter } = this.variant(flag, context ?? EMPTY_CONTEXT);
    if (answer.feature_enabled) flag.counter.yes++;
    else flag.counter.no++;
    counter.count++;
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
    return { enabled: variant.feature_enabled, variant };
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
   * For a flag that is off only a draft knows them.
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
    return new Snapshot(runtime, FlagTable.empty(), this.segments, new SegmentUsers());
  }

  /** Returns the definition of a flag, or undefined for an unknown flag. */
  definition(name: string): FlagDefinition | undefined {
    return this.flags.entry(name)?.definition;
  }

  /** Whether a flag is compiled already: it was evaluated, or changed since. */
  isCompiled(name: string): boolean {
    return this.flags.compiled(name) !== undefined;
  }

  /** Returns the names of all flags, in no particular order. */
  *names(): Generator<string> {
    for (const [name] of this.flags) yield name;
  }

  /** The number of flags. */
  get size(): number {
    return this.flags.size;
  }

  /**
   * Returns a snapshot with a change applied; this snapshot stays unchanged. Both share their usage counters.
   *
   * Compiles the changed flags, except `uncompiledFlags`, and the flags that use a changed segment. The cost does not grow with the number of
   * flags. Strategies and variants that are the same objects as before are not compiled again.
   */
  with(change: SnapshotChange): Snapshot {
    const { segments, changed } = this.changedSegments(change);
    const { compiler, counters } = this.runtime;
    const before = this.flags.compiledFlags;
    const changes = new Map<string, TableEntry | undefined>();
    for (const name of change.removedFlags ?? []) {
      counters.retire(name);
      if (this.flags.entry(name) !== undefined) changes.set(name, undefined);
    }
    for (const definition of change.flags ?? []) {
      const flag = compiler.flag(definition, { segments, flags: before });
      if (flag) changes.set(flag.name, flag);
    }
    for (const definition of change.uncompiledFlags ?? []) {
      const flag = this.checked(definition) ?? compiler.check(definition, segments);
      if (flag) changes.set(flag.name, { definition, segments: flag.segments });
    }
    for (const [name, { definition }] of this.usersOf(changed)) {
      if (!changes.has(name)) changes.set(name, compiler.flag(definition, { segments, flags: before }));
    }
    const flags = this.flags.with(changes, compileWith(compiler, segments));
    return new Snapshot(this.runtime, flags, segments, this.usersAfter(flags, changes));
  }

  /** A flag needs no check if its strategies and variants are the same objects as before, and use no segment. */
  private checked({ name, strategies, variants, dependencies }: FlagDefinition): ReturnType<FlagCompiler['check']> {
    const known = this.flags.entry(name);
    if (known?.segments.size !== 0) return undefined;
    const { definition: before, segments } = known;
    const isSame = before.strategies === strategies && before.variants === variants;
    return isSame && before.dependencies === dependencies ? { name, segments } : undefined;
  }

  private winner(flag: CompiledFlag, context: EvaluationContext): CompiledStrategy | undefined {
    try {
      return winningStrategy(flag, context, this.flags);
    } catch (error) {
      this.reportFailure(flag, error);
      return undefined;
    }
  }

  private variant(flag: CompiledFlag, context: EvaluationContext): CompiledVariant {
    const winner = this.winner(flag, context);
    try {
      return variantOf(flag, winner, context);
    } catch (error) {
      this.reportFailure(flag, error);
      return flag.onWithoutVariant;
    } finally {
      if (notices.hasAny) notices.reportTo(this.runtime.problems);
    }
  }

  private reportFailure({ name: flag }: CompiledFlag, error: unknown): void {
    const message = `The flag ${flag} had nothing for a context that cannot be read: ${reasonOf(error)}.`;
    this.runtime.problems.report({ code: 'evaluation_failed', flag, message }, '');
  }

  private emitImpression(impression: Impression): void {
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

  private *usersOf(segments: Iterable<number>): Generator<[name: string, user: TableEntry]> {
    for (const id of segments) {
      for (const name of this.segmentUsers.of(id)) {
        const user = this.flags.entry(name);
        if (user?.segments.has(id)) yield [name, user];
      }
    }
  }

  /** Rebuilds the index if the table was renumbered, because the index also holds removed flags. */
  private usersAfter(flags: FlagTable, changes: ReadonlyMap<string, TableEntry | undefined>): SegmentUsers {
    const anew = !flags.sharesNumbering(this.flags);
    const users = anew ? new SegmentUsers() : this.segmentUsers;
    for (const [name, flag] of anew ? flags : changes) if (flag) users.add(name, flag);
    return users;
  }
}

/** A function of its own: a closure within a method would keep every earlier snapshot alive. */
function compileWith(compiler: FlagCompiler, segments: Segments): Compile {
  return (definition) => compiler.flag(definition, { segments, flags: NO_FLAGS });
}

/**
 * Compiles the flags of one environment. All parsing happens here; evaluation only compares and hashes. Never throws
 * because of a definition: an unreadable flag is off and reported.
 *
 * @example
 * const snapshot = compileSnapshot({ flags, segments, now: Date.now, onProblem: ({ message }) => log.warn(message) });
 * snapshot.isEnabled('checkout', { userId: 'ada' });
 */
export function compileSnapshot(options: SnapshotOptions): Snapshot {
  const { flags, segments = [], strategies = [], now, random = Math.random } = options;
  const { hostname, idEncoding = 'utf8', counters = new UsageCounters(), onProblem, onImpression } = options;
  const problems = new ProblemReporter(onProblem);
  const strategyContext = { random, hostname, idEncoding };
  const custom = new Map(strategies.map((strategy) => [strategy.name, strategy]));
  const compiler = new FlagCompiler(
    { now, strategyContext, strategies: custom, problems, keepsDisabled: false },
    counters,
  );
  const snapshot = Snapshot.empty({ compiler, counters, problems, onImpression }).with({ flags, segments });
  counters.retireAllBut((flag) => snapshot.definition(flag) !== undefined);
  return snapshot;
}
