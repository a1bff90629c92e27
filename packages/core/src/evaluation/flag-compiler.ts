import type { DependencyDefinition, FlagDefinition, SegmentDefinition } from '../api/definitions.js';
import { type CompiledSegment, compileSegment } from './compile-segment.js';
import type { CompiledFlag, CompiledStrategy, FlagSource } from './compiled-flag.js';
import { HASH_COST } from './constraints/cost.js';
import { always } from './context.js';
import { type CompilationParts, type FlagAtHand, FlagCompilation, type Segments } from './flag-compilation.js';
import { reasonOf } from './problem.js';
import { listOf, text } from './shape.js';
import type { UsageCounters } from './usage.js';
import { OFF, ON_WITHOUT_VARIANT } from './variants.js';

/** The parts of a compiled flag that come from its definition. */
type FlagBody = Pick<
  CompiledFlag,
  'broken' | 'dependencies' | 'strategies' | 'candidates' | 'variants' | 'segments' | 'cost'
>;

const UNCONDITIONAL: CompiledStrategy = {
  definition: { name: 'default' },
  holds: always,
  constraints: [],
  segments: [],
  test: { holds: always },
  variants: undefined,
  cost: 0,
};

/** What is there before a flag is compiled. */
export interface FlagSurroundings {
  readonly segments: Segments;
  readonly flags: FlagSource;
}

/** Turns definitions into what evaluation runs. It never throws: what cannot be read is off, and reported. */
export class FlagCompiler {
  constructor(
    private readonly parts: CompilationParts,
    private readonly counters: UsageCounters,
  ) {}

  /**
   * Undefined when the definition has no name to call it by. What a definition has in common with the one before is not
   * compiled again.
   */
  flag(definition: FlagDefinition, { segments, flags }: FlagSurroundings): CompiledFlag | undefined {
    const name = readKey(() => definition.name, 'string');
    if (name === undefined) {
      this.parts.problems.report({ code: 'broken_flag', message: 'A flag without a name is left out.' });
      return undefined;
    }
    const counter = this.counters.of(name);
    const withoutVariant = counter.variant('disabled');
    const known = flags.get(name);
    // The compiled parts of a flag that was forgotten count for nobody.
    const before = known?.counter === counter ? known : undefined;
    return {
      name,
      definition,
      counter,
      impressionData: readKey(() => definition.impressionData, 'boolean') ?? false,
      off: { answer: OFF, counter: withoutVariant },
      onWithoutVariant: { answer: ON_WITHOUT_VARIANT, counter: withoutVariant },
      ...this.body(definition, { name, segments, counter, before }),
    };
  }

  /** Undefined when the definition has no id to call it by. */
  segment(definition: SegmentDefinition): CompiledSegment | undefined {
    const id = readKey(() => definition.id, 'number');
    if (id !== undefined) return compileSegment(definition, this.parts.now, this.parts.problems);
    this.parts.problems.report({ code: 'broken_segment', message: 'A segment without a numeric id is left out.' });
    return undefined;
  }

  private body(definition: FlagDefinition, flag: FlagAtHand): FlagBody {
    try {
      return this.readBody(definition, flag);
    } catch (error) {
      const broken = reasonOf(error);
      const message = `The flag ${flag.name} is off: ${broken}.`;
      this.parts.problems.report({ code: 'broken_flag', flag: flag.name, message });
      return {
        broken,
        dependencies: [],
        strategies: [],
        candidates: [],
        variants: undefined,
        segments: new Set(),
        cost: 0,
      };
    }
  }

  private readBody(definition: FlagDefinition, flag: FlagAtHand): FlagBody {
    if (typeof definition.enabled !== 'boolean') throw new TypeError('enabled must be true or false');
    if (!Array.isArray(definition.strategies)) throw new TypeError('strategies must be an array');
    const compilation = new FlagCompilation(this.parts, flag);
    const strategies = compilation.affordable(definition.strategies.map((strategy) => compilation.strategy(strategy)));
    const candidates = strategies.length > 0 ? strategies : [UNCONDITIONAL];
    return {
      broken: undefined,
      dependencies: listOf(definition.dependencies, 'dependencies').map(readDependency),
      strategies,
      candidates: definition.enabled ? candidates : [],
      variants: compilation.flagVariants(definition),
      segments: new Set(strategies.flatMap((strategy) => strategy.segments.map(({ id }) => id))),
      cost: definition.enabled ? strategies.reduce((sum, { cost }) => sum + cost, HASH_COST) : 0,
    };
  }
}

function readDependency({ feature, enabled, variants }: DependencyDefinition): DependencyDefinition {
  return {
    feature: text(feature, 'feature of a dependency'),
    enabled: enabled !== false,
    variants: [...listOf(variants, 'variants of a dependency')],
  };
}

/** A key of that type; undefined when it is of another, or reading it throws. */
function readKey<Key>(read: () => Key, type: 'string' | 'number' | 'boolean'): NonNullable<Key> | undefined {
  try {
    const key = read();
    return typeof key === type ? (key as NonNullable<Key>) : undefined;
  } catch {
    return undefined;
  }
}
