import { LIMITS } from '../base/limits.js';
import type { CompiledConstraint, CompiledSegment } from './constraints.js';
import type { Predicate } from './context.js';
import type { DependencyDefinition, FlagDefinition, StrategyDefinition } from './definitions.types.js';
import type { EvaluationContext } from './evaluated.types.js';
import { mapList, notices, toList, toText } from './problem.js';
import type { StrategyTest } from './rollout.js';
import type { FlagCounter } from './usage.js';
import { type CompiledVariant, type CompiledVariants, chooseVariant } from './variants.js';

export interface CompiledFlag {
  readonly name: string;
  readonly definition: FlagDefinition;
  readonly counter: FlagCounter;
  readonly impressionData: boolean;
  /** Why the definition could not be read; undefined for a readable one. */
  readonly broken: string | undefined;
  readonly dependencies: readonly DependencyDefinition[];
  /** Empty while the flag is off, except in a draft. */
  readonly strategies: readonly CompiledStrategy[];
  /**
   * The strategies to evaluate, in order. Empty while the flag is off; one strategy that always holds if the flag is on
   * without strategies.
   */
  readonly candidates: readonly CompiledStrategy[];
  /** Undefined while the flag is off, except in a draft. */
  readonly variants: CompiledVariants | undefined;
  readonly off: CompiledVariant;
  readonly onWithoutVariant: CompiledVariant;
  readonly segments: ReadonlySet<number>;
  /** Of the evaluated strategies and of the variant; see `weight.ts`. */
  readonly weight: number;
}

export interface CompiledStrategy {
  readonly definition: StrategyDefinition;
  /** Holds if all constraints, all segments and the strategy's own test hold. */
  readonly holds: Predicate;
  readonly constraints: readonly CompiledConstraint[];
  readonly segments: readonly SegmentUse[];
  readonly test: StrategyTest;
  readonly variants: CompiledVariants | undefined;
  readonly weight: number;
  /** Set if this strategy and those before it exceed the weight limit. It is not evaluated and does not hold. */
  readonly isTooCostly?: true;
}

export interface SegmentUse {
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

function readDependency({ feature, enabled, variants }: DependencyDefinition): DependencyDefinition {
  return {
    feature: toText(feature, 'feature of a dependency'),
    enabled: enabled !== false,
    variants: [...toList(variants, 'variants of a dependency')],
  };
}

/** Returns the strategy that switches the flag on, or undefined if the flag is off. Allocates nothing. */
export function winningStrategy(
  flag: CompiledFlag,
  context: EvaluationContext,
  flags: FlagSource,
): CompiledStrategy | undefined {
  if (flag.dependencies.length > 0 && !dependenciesHold(flag, context, flags)) return undefined;
  for (const strategy of flag.candidates) if (strategy.holds(context)) return strategy;
  return undefined;
}

/** Returns the variant for the winning strategy. The strategy's variants come before the flag's. */
export function variantOf(
  flag: CompiledFlag,
  winner: CompiledStrategy | undefined,
  context: EvaluationContext,
): CompiledVariant {
  if (winner === undefined) return flag.off;
  const ofStrategy = winner.variants && chooseVariant(winner.variants, context);
  if (ofStrategy) return ofStrategy;
  return (flag.variants && chooseVariant(flag.variants, context)) ?? flag.onWithoutVariant;
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
  for (const { feature } of flag.dependencies) weight += flags.get(feature)?.weight ?? 0;
  if (weight <= LIMITS.parentsWeight) return false;
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
  const parent = flags.get(dependency.feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const winner = winningStrategy(parent, context, flags);
  if (dependency.enabled === false) return winner === undefined;
  if (winner === undefined) return false;
  if (!dependency.variants?.length) return true;
  return dependency.variants.includes(variantOf(parent, winner, context).answer.name);
}

const CHUNK_BITS = 6;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;
const UNUSED_NUMBERS_ALLOWED = 1024;

/** A flag in a table: compiled, or only its definition. */
export type TableEntry = CompiledFlag | UncompiledFlag;

/** A flag that is compiled when it is first evaluated. */
interface UncompiledFlag {
  readonly candidates?: undefined;
  readonly definition: FlagDefinition;
  /** The ids of the segments in the strategies of the flag. */
  readonly segments: ReadonlySet<number>;
}

/**
 * Empty, or with all slots. The table replaces entries by compiled ones; related tables that share a chunk compile to the
 * same result.
 */
type Chunk = (TableEntry | undefined)[];

/** Compiles a definition; undefined if it has no name. */
export type Compile = (definition: FlagDefinition) => CompiledFlag | undefined;

/**
 * An immutable map of flags by name. A change creates a table that shares all unchanged chunks with the previous one.
 *
 * Names have numbers, in a map that related tables share and only append to. A table holds chunks of flags by number. A
 * look-up costs one map access. A change copies one chunk of 64 slots, and one pointer per chunk.
 */
export class FlagTable {
  private constructor(
    private readonly numbers: Map<string, number>,
    private readonly chunks: readonly Chunk[],
    /** The number of flags. */
    readonly size: number,
    private readonly compile: Compile,
  ) {}

  static empty(compile: Compile = () => undefined): FlagTable {
    return new FlagTable(new Map(), [], 0, compile);
  }

  /** Returns a flag, and compiles it if necessary. */
  get(name: string): CompiledFlag | undefined {
    const number = this.numbers.get(name);
    if (number === undefined) return undefined;
    const chunk = this.chunks[number >> CHUNK_BITS];
    if (chunk === undefined) return undefined;
    const slot = number & IN_CHUNK;
    const entry = chunk[slot];
    return entry === undefined || isCompiled(entry) ? entry : this.compileIn(chunk, slot, entry);
  }

  /** Returns a flag, compiled or not. */
  entry(name: string): TableEntry | undefined {
    const number = this.numbers.get(name);
    return number === undefined ? undefined : this.chunks[number >> CHUNK_BITS]?.[number & IN_CHUNK];
  }

  /** Returns a flag if it is compiled. */
  compiled(name: string): CompiledFlag | undefined {
    const entry = this.entry(name);
    return entry && isCompiled(entry) ? entry : undefined;
  }

  /** The flags that are compiled, for compilations that reuse their parts. */
  get compiledFlags(): FlagSource {
    return { get: (name) => this.compiled(name) };
  }

  private compileIn(chunk: Chunk, slot: number, { definition }: UncompiledFlag): CompiledFlag | undefined {
    const flag = this.compile(definition);
    if (flag) chunk[slot] = flag;
    return flag;
  }

  /**
   * Returns a table with these flags set, and with flags that are undefined removed.
   *
   * @param compile compiles flags of the new table that are not compiled yet
   */
  with(changes: ReadonlyMap<string, TableEntry | undefined>, compile: Compile): FlagTable {
    const chunks = [...this.chunks];
    const touched = new Map<number, Chunk>();
    let size = this.size;
    for (const [name, flag] of changes) {
      const number = this.numberOf(name);
      const at = number >> CHUNK_BITS;
      const slot = number & IN_CHUNK;
      const chunk = touched.get(at) ?? copyOf(this.chunks[at]);
      touched.set(at, chunk);
      size += Number(flag !== undefined) - Number(chunk[slot] !== undefined);
      chunk[slot] = flag;
    }
    for (const at of touched.keys()) while (chunks.length <= at) chunks.push([]);
    for (const [at, chunk] of touched) chunks[at] = chunk;
    return new FlagTable(this.numbers, chunks, size, compile).compacted();
  }

  /** Whether both tables number names alike. False if one of them was renumbered. */
  sharesNumbering(other: FlagTable): boolean {
    return this.numbers === other.numbers;
  }

  *[Symbol.iterator](): Generator<[name: string, flag: TableEntry]> {
    for (const name of this.numbers.keys()) {
      const flag = this.entry(name);
      if (flag !== undefined) yield [name, flag];
    }
  }

  private numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(name, number);
    return number;
  }

  /** Renumbers the flags if most numbers belong to removed flags. */
  private compacted(): FlagTable {
    if (this.numbers.size <= 2 * this.size + UNUSED_NUMBERS_ALLOWED) return this;
    return FlagTable.empty().with(new Map(this), this.compile);
  }
}

function copyOf(chunk: Chunk | undefined): Chunk {
  return chunk?.length ? chunk.slice() : new Array<TableEntry | undefined>(CHUNK_SIZE).fill(undefined);
}

function isCompiled(entry: TableEntry): entry is CompiledFlag {
  return entry.candidates !== undefined;
}

/**
 * Which flags use a segment, or used it before. Related snapshots share this index and only add to it, so it may list
 * too many flags, never too few.
 */
export class SegmentUsers {
  private readonly users = new Map<number, Set<string>>();

  add(name: string, { segments }: Pick<TableEntry, 'segments'>): void {
    for (const id of segments) {
      const names = this.users.get(id) ?? new Set();
      this.users.set(id, names.add(name));
    }
  }

  of(segment: number): Iterable<string> {
    return this.users.get(segment) ?? [];
  }
}
