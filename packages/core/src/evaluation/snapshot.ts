import { FlagCompiler, type Segments } from './compile-flag.js';
import { type CompiledFlag, type CompiledStrategy, variantOf, winningStrategy } from './compiled-flag.js';
import type { FlagDefinition, SegmentDefinition } from './definitions.types.js';
import type {
  CustomStrategy,
  EvaluatedVariant,
  Evaluation,
  EvaluationContext,
  EvaluationProblem,
  FallbackVariant,
  Impression,
  TextEncoding,
} from './evaluated.types.js';
import { explainFlag, explainUnknown } from './explain.js';
import type { FlagExplanation } from './explanation.types.js';
import { FlagTable, SegmentUsers } from './flag-table.js';
import { notices, ProblemReporter, reasonOf } from './problem.js';
import { UsageCounters } from './usage.js';
import { type CompiledVariant, OFF } from './variants.js';

/** What the snapshots of one line share. */
export interface SnapshotLine {
  readonly compiler: FlagCompiler;
  readonly counters: UsageCounters;
  readonly problems: ProblemReporter;
  readonly onImpression: ((impression: Impression) => void) | undefined;
}

const NOBODY: EvaluationContext = Object.freeze({});

/**
 * All flags of one environment, compiled. Immutable: a change makes a new snapshot, and who keeps an older one keeps its
 * answers. No method throws, whatever flags and contexts hold, and none waits.
 */
export class Snapshot {
  private constructor(
    private readonly line: SnapshotLine,
    private readonly flags: FlagTable,
    private readonly segments: Segments,
    private readonly segmentUsers: SegmentUsers,
  ) {}

  /** @internal */
  static empty(line: SnapshotLine): Snapshot {
    return new Snapshot(line, FlagTable.empty(), new Map(), new SegmentUsers());
  }

  /**
   * Whether a flag is on, counted. `fallback` is for a flag that does not exist only, which is not counted.
   *
   * @example
   * if (snapshot.isEnabled('checkout', { userId: 'ada' })) …
   */
  isEnabled(name: string, context: EvaluationContext = NOBODY, fallback = false): boolean {
    const flag = this.flags.get(name);
    if (flag === undefined) return fallback;
    const enabled = this.winner(flag, context ?? NOBODY) !== undefined;
    if (enabled) flag.counter.yes++;
    else flag.counter.no++;
    if (notices.hasAny) notices.reportTo(this.line.problems);
    if (flag.impressionData) this.tell({ flag: name, context, enabled });
    return enabled;
  }

  /**
   * The variant of a flag, counted. `fallback` is for a flag that does not exist only, which is not counted.
   *
   * @example
   * const { name, payload } = snapshot.getVariant('checkout', { userId: 'ada' });
   */
  getVariant(name: string, context: EvaluationContext = NOBODY, fallback?: FallbackVariant): EvaluatedVariant {
    const flag = this.flags.get(name);
    if (flag === undefined) return fallback ? { ...fallback, feature_enabled: false } : OFF;
    const { answer, counter } = this.variant(flag, context ?? NOBODY);
    if (answer.feature_enabled) flag.counter.yes++;
    else flag.counter.no++;
    counter.count++;
    if (flag.impressionData) this.tell({ flag: name, context, enabled: answer.enabled, variant: answer });
    return answer;
  }

  /** Both answers from one evaluation, neither counted nor told; undefined for a flag that does not exist. */
  evaluate(name: string, context: EvaluationContext = NOBODY): Evaluation | undefined {
    const flag = this.flags.get(name);
    if (flag === undefined) return undefined;
    const variant = this.variant(flag, context ?? NOBODY).answer;
    return { enabled: variant.feature_enabled, variant };
  }

  /** Why a flag comes to what it comes to, decision by decision. Neither counted nor told. */
  explain(name: string, context: EvaluationContext = NOBODY): FlagExplanation {
    const flag = this.flags.get(name);
    if (flag === undefined) return explainUnknown(name);
    const explanation = explainFlag(flag, context ?? NOBODY, this.flags);
    if (notices.hasAny) notices.reportTo(this.line.problems);
    return explanation;
  }

  /** A flag as it was given; undefined when it does not exist. */
  definition(name: string): FlagDefinition | undefined {
    return this.flags.get(name)?.definition;
  }

  /** The names of all flags, in no particular order. */
  *names(): Generator<string> {
    for (const [name] of this.flags) yield name;
  }

  /** How many flags there are. */
  get size(): number {
    return this.flags.size;
  }

  /**
   * The snapshot after a change. Only what changed is compiled, and the flags that use a changed segment; the cost does not
   * grow with the number of flags. Strategies and variants that are the same objects as before count as unchanged. This snapshot stays as it is. The two share their usage counters.
   */
  with(change: SnapshotChange): Snapshot {
    const { segments, changed } = this.changedSegments(change);
    const changes = new Map<string, CompiledFlag | undefined>();
    for (const name of change.removedFlags ?? []) {
      this.line.counters.retire(name);
      if (this.flags.get(name) !== undefined) changes.set(name, undefined);
    }
    for (const definition of change.flags ?? []) {
      const flag = this.line.compiler.flag(definition, { segments, flags: this.flags });
      if (flag) changes.set(flag.name, flag);
    }
    for (const user of this.usersOf(changed)) {
      if (!changes.has(user.name))
        changes.set(user.name, this.line.compiler.flag(user.definition, { segments, flags: this.flags }));
    }
    const flags = this.flags.with(changes);
    return new Snapshot(this.line, flags, segments, this.usersAfter(flags, changes));
  }

  private winner(flag: CompiledFlag, context: EvaluationContext): CompiledStrategy | undefined {
    try {
      return winningStrategy(flag, context, this.flags);
    } catch (error) {
      this.failed(flag, error);
      return undefined;
    }
  }

  private variant(flag: CompiledFlag, context: EvaluationContext): CompiledVariant {
    const winner = this.winner(flag, context);
    try {
      return variantOf(flag, winner, context);
    } catch (error) {
      this.failed(flag, error);
      return flag.onWithoutVariant;
    } finally {
      if (notices.hasAny) notices.reportTo(this.line.problems);
    }
  }

  private failed({ name: flag }: CompiledFlag, error: unknown): void {
    const message = `The flag ${flag} had nothing for a context that cannot be read: ${reasonOf(error)}.`;
    this.line.problems.report({ code: 'evaluation_failed', flag, message }, '');
  }

  private tell(impression: Impression): void {
    try {
      this.line.onImpression?.(impression);
    } catch (error) {
      const message = `onImpression threw: ${reasonOf(error)}.`;
      this.line.problems.report({ code: 'impression_failed', flag: impression.flag, message }, '');
    }
  }

  private changedSegments(change: SnapshotChange): { segments: Segments; changed: ReadonlySet<number> } {
    const { segments: given = [], removedSegments = [] } = change;
    const changed = new Set(removedSegments);
    if (given.length + changed.size === 0) return { segments: this.segments, changed };
    const segments = new Map(this.segments);
    for (const id of removedSegments) segments.delete(id);
    for (const definition of given) {
      const segment = this.line.compiler.segment(definition);
      if (segment === undefined) continue;
      segments.set(segment.id, segment);
      changed.add(segment.id);
    }
    return { segments, changed };
  }

  private *usersOf(segments: Iterable<number>): Generator<CompiledFlag> {
    for (const id of segments) {
      for (const name of this.segmentUsers.of(id)) {
        const user = this.flags.get(name);
        if (user?.segments.has(id)) yield user;
      }
    }
  }

  /** Starts the index anew when the table was numbered anew: it, too, remembers what is gone. */
  private usersAfter(flags: FlagTable, changes: ReadonlyMap<string, CompiledFlag | undefined>): SegmentUsers {
    const anew = !flags.isOfLine(this.flags);
    const users = anew ? new SegmentUsers() : this.segmentUsers;
    for (const [name, flag] of anew ? flags : changes) if (flag) users.add(name, flag);
    return users;
  }
}

/** What changed since a snapshot; what is given replaces what has the same name or id. */
export interface SnapshotChange {
  readonly flags?: readonly FlagDefinition[];
  /** Names; a flag that is also given is kept. */
  readonly removedFlags?: readonly string[];
  readonly segments?: readonly SegmentDefinition[];
  /** Ids; a segment that is also given is kept. */
  readonly removedSegments?: readonly number[];
}

export interface SnapshotOptions {
  /** Of two with one name the later counts. */
  readonly flags: readonly FlagDefinition[];
  readonly segments?: readonly SegmentDefinition[];
  /** The host's own strategies. */
  readonly strategies?: readonly CustomStrategy[];
  /** The time for `DATE_*` constraints where a context has none: milliseconds since 1970, UTC. */
  readonly now: () => number;
  /** At least 0, below 1; for stickiness `random` and for contexts that have nothing to hash. `Math.random` when absent. */
  readonly random?: () => number;
  /** What the strategy `applicationHostname` compares with; it never holds when absent. */
  readonly hostname?: string;
  /** How ids that are not ASCII are hashed; `utf8` when absent. */
  readonly idEncoding?: TextEncoding;
  /** Those of the snapshot that this one follows, so that nothing counted is lost; new ones when absent. */
  readonly counters?: UsageCounters;
  /** Told once of each thing that is wrong with a definition. */
  readonly onProblem?: (problem: EvaluationProblem) => void;
  /** Told of every counted evaluation of a flag with `impressionData`, during the call. */
  readonly onImpression?: (impression: Impression) => void;
}

/**
 * Compiles the flags of one environment: all parsing happens here, evaluation only compares and hashes. It does not throw
 * for a definition that cannot be read: that flag is off, and reported.
 *
 * @example
 * const snapshot = compileSnapshot({ flags, segments, now: Date.now, onProblem: ({ message }) => log.warn(message) });
 * snapshot.isEnabled('checkout', { userId: 'ada' });
 */
export function compileSnapshot(options: SnapshotOptions): Snapshot {
  const { flags, segments = [], strategies = [], now, random = Math.random } = options;
  const { hostname, idEncoding = 'utf8', counters = new UsageCounters(), onProblem, onImpression } = options;
  const problems = new ProblemReporter(onProblem);
  const surroundings = { random, hostname, idEncoding };
  const custom = new Map(strategies.map((strategy) => [strategy.name, strategy]));
  const compiler = new FlagCompiler({ now, surroundings, strategies: custom, problems }, counters);
  const snapshot = Snapshot.empty({ compiler, counters, problems, onImpression }).with({ flags, segments });
  counters.retireAllBut((flag) => snapshot.definition(flag) !== undefined);
  return snapshot;
}
