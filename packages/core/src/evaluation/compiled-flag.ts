import { LIMITS } from '../base/limits.js';
import type { CompiledConstraint, CompiledSegment } from './constraints.js';
import { allOf, type Condition } from './context.js';
import { mapList, toList, toText } from './convert.js';
import type { DependencyDefinition, FlagDefinition, StrategyDefinition } from './definitions.types.js';
import type { EvaluationContext } from './evaluation.types.js';
import { notices } from './problem.js';
import type { StrategyTest } from './rollout.js';
import type { FlagCounter } from './usage-counters.js';
import { COMPILED_OFF, COMPILED_ON, type CompiledVariant, type CompiledVariants, chooseVariant } from './variants.js';

/*
 * Flags as evaluation reads them: compiled once, at their first use.
 */

export interface CompiledFlag {
  /** Whether any candidate holds. */
  readonly condition: Condition;
  readonly counter: FlagCounter;
  readonly dependencies: readonly DependencyDefinition[];
  readonly impressionData: boolean;
  readonly name: string;
  readonly definition: FlagDefinition;
  /** Why the definition could not be read; undefined for a readable one. */
  readonly broken: string | undefined;
  readonly strategies: readonly CompiledStrategy[];
  /**
   * The strategies to evaluate, in order: neither disabled nor too costly ones. Empty while the flag is off; one strategy
   * that always holds if the flag is on without strategies.
   */
  readonly candidates: readonly CompiledStrategy[];
  readonly variants: CompiledVariants | undefined;
  /** The ids of the segments in its strategies. */
  readonly segments: ReadonlySet<number>;
  /** The weight of the evaluated strategies and of the variant; see `weight.ts`. */
  readonly weight: number;
}

export class CompiledStrategy implements Condition {
  /** All constraints, all segments and the strategy's own condition. */
  readonly condition: Condition;

  constructor(
    readonly definition: StrategyDefinition,
    readonly constraints: readonly CompiledConstraint[],
    readonly segments: readonly SegmentUse[],
    /** The strategy's own condition. */
    readonly test: StrategyTest,
    readonly variants: CompiledVariants | undefined,
    /** The parts that the host does not know; empty if it knows all. */
    readonly unknown: readonly string[],
    /** Whether this strategy and those before it exceed the weight limit. It is not evaluated and does not hold. */
    readonly isTooCostly: boolean,
  ) {
    this.condition = conditionOf(constraints, segments, test);
  }

  holds(context: EvaluationContext): boolean {
    return this.condition.holds(context);
  }
}

/** A strategy without constraints and segments, which is the common one, needs no further object. */
function conditionOf(
  constraints: readonly CompiledConstraint[],
  segments: readonly SegmentUse[],
  test: StrategyTest,
): Condition {
  if (constraints.length + segments.length === 0) return test;
  const own = (context: EvaluationContext) => test.holds(context);
  return { holds: allOf([...[...constraints, ...segments].map(({ holds }) => holds), own]) };
}

/** A segment in a strategy. It never holds if the segment does not exist. */
export interface SegmentUse extends Condition {
  readonly id: number;
  /** Undefined if the segment does not exist. */
  readonly segment: CompiledSegment | undefined;
}

/** Finds the parents of a flag. */
export interface FlagSource {
  get(name: string): CompiledFlag | undefined;
}

export function readDependencies({ dependencies }: FlagDefinition): readonly DependencyDefinition[] {
  return mapList(dependencies, 'dependencies', readDependency);
}

function readDependency({ flag, enabled, variants }: DependencyDefinition): DependencyDefinition {
  return {
    flag: toText(flag, 'flag of a dependency'),
    enabled: enabled !== false,
    variants: [...toList(variants, 'variants of a dependency')],
  };
}

/** Whether a flag is on. Allocates nothing. */
export function isOn(flag: CompiledFlag, context: EvaluationContext, flags: FlagSource): boolean {
  if (flag.dependencies.length > 0 && !dependenciesHold(flag, context, flags)) return false;
  return flag.condition.holds(context);
}

/** Returns the strategy that switches the flag on, or undefined if the flag is off. Allocates nothing. */
export function winningStrategy(
  flag: CompiledFlag,
  context: EvaluationContext,
  flags: FlagSource,
): CompiledStrategy | undefined {
  if (flag.dependencies.length > 0 && !dependenciesHold(flag, context, flags)) return undefined;
  const { candidates, condition } = flag;
  if (candidates.length === 1) return condition.holds(context) ? candidates[0] : undefined;
  for (const strategy of candidates) if (strategy.holds(context)) return strategy;
  return undefined;
}

/** Returns the variant for the winning strategy. The strategy's variants come before the flag's. */
export function variantOf(
  flag: CompiledFlag,
  winner: CompiledStrategy | undefined,
  context: EvaluationContext,
): CompiledVariant {
  if (winner === undefined) return COMPILED_OFF;
  const ofStrategy = winner.variants && chooseVariant(winner.variants, context);
  if (ofStrategy) return ofStrategy;
  return (flag.variants && chooseVariant(flag.variants, context)) ?? COMPILED_ON;
}

function dependenciesHold(flag: CompiledFlag, context: EvaluationContext, flags: FlagSource): boolean {
  if (flag.dependencies.length > 1 && parentsAreTooCostly(flag, flags)) return false;
  for (const dependency of flag.dependencies) if (!dependencyHolds(dependency, context, flags)) return false;
  return true;
}

/**
 * Whether all parents together exceed the weight limit. Decided per evaluation, because parents change independently of
 * their children.
 */
export function parentsAreTooCostly(flag: CompiledFlag, flags: FlagSource): boolean {
  let weight = 0;
  for (const parent of flag.dependencies) weight += flags.get(parent.flag)?.weight ?? 0;
  if (weight <= LIMITS.flagWeight) return false;
  const message = `The flag ${flag.name} is off: evaluating its parents could take too long. Give it fewer parents, or give them fewer or simpler regular expressions and lists.`;
  notices.add({ code: 'too_costly', flag: flag.name, message });
  return true;
}

/**
 * A parent that has parents itself never satisfies a dependency. This limits the depth to one level, and ends cycles.
 */
export function dependencyHolds(
  dependency: DependencyDefinition,
  context: EvaluationContext,
  flags: FlagSource,
): boolean {
  const parent = flags.get(dependency.flag);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const winner = winningStrategy(parent, context, flags);
  if (dependency.enabled === false) return winner === undefined;
  if (winner === undefined) return false;
  if (!dependency.variants?.length) return true;
  return dependency.variants.includes(variantOf(parent, winner, context).answer.name);
}

/** A flag in a table: compiled, or only its definition. */
export type TableEntry = CompiledFlag | (FlagDefinition & { readonly condition?: undefined });

/** Compiles a definition; undefined if it has no name. */
export type Compile = (definition: FlagDefinition) => CompiledFlag | undefined;

export function isCompiled(entry: TableEntry): entry is CompiledFlag {
  return entry.condition !== undefined;
}

/**
 * An immutable map of flags by name. The first `get` of a definition compiles it. All tables share the map of the
 * newest table. A change updates that map, and each earlier table keeps the entries that were replaced. Only its users
 * keep an earlier table alive.
 */
export class FlagTable implements FlagSource {
  private next: FlagTable | undefined;
  /** The replaced entries of flags that have changed since; undefined for a flag that did not exist. */
  private readonly replaced = new Map<string, TableEntry | undefined>();

  /** @param newest owned by the table from now on */
  constructor(
    private readonly newest: Map<string, TableEntry>,
    private readonly compile: Compile,
  ) {}

  get(name: string): CompiledFlag | undefined {
    const entry = this.entry(name);
    return entry === undefined || isCompiled(entry) ? entry : this.compileFirst(name, entry);
  }

  /** Returns a flag, compiled or not. */
  entry(name: string): TableEntry | undefined {
    return this.next === undefined ? this.newest.get(name) : this.getEarlier(name);
  }

  /**
   * Returns a table with these flags set, and with flags that are undefined removed. A change of an earlier table copies
   * it.
   *
   * @param compile for the definitions in the new table; it may differ from that of this table only for flags in `changes`
   */
  with(changes: ReadonlyMap<string, TableEntry | undefined>, compile: Compile): FlagTable {
    if (this.next) return new FlagTable(new Map(this), this.compile).with(changes, compile);
    for (const [name, flag] of changes) {
      this.replaced.set(name, this.newest.get(name));
      if (flag) this.newest.set(name, flag);
      else this.newest.delete(name);
    }
    this.next = new FlagTable(this.newest, compile);
    return this.next;
  }

  *[Symbol.iterator](): Generator<[name: string, entry: TableEntry]> {
    this.collectReplaced();
    for (const name of new Set([...this.newest.keys(), ...this.replaced.keys()])) {
      const entry = this.entry(name);
      if (entry) yield [name, entry];
    }
  }

  private getEarlier(name: string): TableEntry | undefined {
    this.collectReplaced();
    return this.replaced.has(name) ? this.replaced.get(name) : this.newest.get(name);
  }

  private compileFirst(name: string, definition: FlagDefinition): CompiledFlag | undefined {
    const flag = this.compile(definition);
    if (flag) (this.replaced.has(name) ? this.replaced : this.newest).set(name, flag);
    return flag;
  }

  /** Collects the replaced entries of the tables between this one and the newest. */
  private collectReplaced(): void {
    for (let later = this.next; later?.next; later = later.next) {
      for (const [name, entry] of later.replaced) if (!this.replaced.has(name)) this.replaced.set(name, entry);
      this.next = later.next;
    }
  }
}
