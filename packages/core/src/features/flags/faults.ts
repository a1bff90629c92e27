import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { isWithoutOffset } from '../../base/primitives.js';
import { invalidInput } from '../../base/validator.js';
import { toNumber } from '../../evaluation/convert.js';
import type { Constraint, StrategyParameters, VariantOverride } from '../../evaluation/definitions.types.js';
import { operandOf } from '../../evaluation/operators.js';
import { isWithinPatternBound, patternsIn } from '../../evaluation/pattern-bound.js';
import { percentageParameter } from '../../evaluation/strategies.js';
import { constraintsWeight, constraintWeight, HASH, strategyWeight } from '../../evaluation/weight.js';

/*
 * Rules that a change must not break. The schemas do not contain them, because a document that broke one before may keep
 * the fault: a check applies to what a request changes. Operations that restore an earlier state are not checked.
 */

/** A strategy, as the rules read it. */
export interface CheckedStrategy {
  readonly id: string;
  readonly name: string;
  readonly parameters: StrategyParameters | null;
  readonly constraints: readonly Constraint[];
  readonly segments?: readonly number[];
  readonly disabled?: boolean;
}

/** What the rules read of a flag, a segment or a project. */
export interface CheckedDocument {
  readonly name: string;
  readonly labels?: readonly string[];
  readonly variants?: readonly { readonly overrides: readonly VariantOverride[] }[];
  readonly environments?: readonly { readonly name: string; readonly strategies: readonly CheckedStrategy[] }[];
  readonly constraints?: readonly Constraint[];
}

/** Where something is in a document. */
export interface FaultPlace {
  /** A JSON Pointer in the form of definitions: to a strategy or to the variants. Empty for the whole document. */
  readonly place: string;
  /** The strategy at the place. */
  readonly strategy?: CheckedStrategy;
}

export interface Fault extends ErrorDetail, FaultPlace {
  /** The path below the place. */
  readonly path: string;
}

export interface FoundPattern extends FaultPlace {
  readonly path: string;
  readonly pattern: string;
}

/** A part of a document that may have faults. A fault is not new if the document had an equal part, wherever in it. */
interface Part extends FaultPlace {
  readonly path: string;
  /** Equal parts have equal identities. */
  identity(): string;
  findFaults(): Iterable<{ readonly message: string; readonly path: string }>;
  readonly pattern?: string | undefined;
}

/** Returns the constraints of a segment; none if it does not exist. */
export type ConstraintsOf = (segment: number) => readonly Constraint[];

const NO_CONSTRAINTS: ConstraintsOf = () => [];

/**
 * Finds the faults of a flag, a segment or a project that it did not have before: of parts, if no equal part had them,
 * and of counts, if they grow. Finds at most as many as an error lists.
 *
 * @param before undefined for a new document: all of its faults are new
 * @param constraintsOf a flag's patterns and lists count together with those of its segments
 */
export function newFaults(
  before: CheckedDocument | undefined,
  after: CheckedDocument,
  constraintsOf: ConstraintsOf = NO_CONSTRAINTS,
): readonly Fault[] {
  const count = countPatterns(after, constraintsOf);
  if (count > LIMITS.patternsPerFlag && count > (before ? countPatterns(before, constraintsOf) : 0)) {
    const path = after.environments === undefined ? '/constraints' : '';
    // Reading thousands of patterns takes long, so nothing else is checked.
    return [{ place: '', path, message: tooManyPatterns(count, 'have') }];
  }
  const faults: Fault[] = findWeightFaults(before, after, constraintsOf);
  let known: ReadonlySet<string> | undefined;
  for (const part of partsOf(after)) {
    for (const { message, path } of part.findFaults()) {
      // Most changes have no faults, and need no identities.
      known ??= new Set([...partsOf(before)].map((one) => one.identity()));
      if (faults.length >= LIMITS.issues || known.has(part.identity())) break;
      faults.push({ ...placeOf(part), message, path: `${part.path}${path}` });
    }
  }
  return faults;
}

/** Returns the place of a strategy in the input, as a JSON Pointer. */
export type PathOf = (strategy: Pick<CheckedStrategy, 'id'>) => string;

/** Refuses faults. Their paths begin at the part of the flag that the input is. */
export function assertNoFaults(faults: readonly Fault[], pathOf: PathOf = () => ''): void {
  if (faults.length === 0) return;
  throw invalidInput(
    faults.map(({ message, path, strategy }) => ({ message, path: `${strategy ? pathOf(strategy) : ''}${path}` })),
  );
}

export function tooManyPatterns(count: number, verb: string): string {
  return `would ${verb} ${count} regular expressions, but a flag may have at most ${LIMITS.patternsPerFlag} with its segments; combine some, as in ^(one|other)$, or use another operator`;
}

/** Finds the patterns of constraints that the document did not have before. */
export function newPatterns(before: CheckedDocument | undefined, after: CheckedDocument): readonly FoundPattern[] {
  const found = [...partsOf(after)].filter(({ pattern }) => pattern !== undefined);
  if (found.length === 0) return [];
  const known = new Set([...partsOf(before)].flatMap((part) => (part.pattern === undefined ? [] : part.identity())));
  return found.flatMap((part) => {
    const { pattern, path } = part;
    if (pattern === undefined || known.has(part.identity())) return [];
    return [{ ...placeOf(part), path: `${path}/value`, pattern }];
  });
}

function placeOf({ place, strategy }: Part): FaultPlace {
  return { place, ...(strategy && { strategy }) };
}

/** Counts the patterns of a document with those of the segments that it uses. */
export function countPatterns(
  { constraints, environments = [] }: Omit<CheckedDocument, 'name'>,
  constraintsOf: ConstraintsOf,
): number {
  const strategies = environments.flatMap((environment) => environment.strategies);
  const segments = new Set(strategies.flatMap((strategy) => strategy.segments ?? []));
  const lists = [
    ...(constraints ? [constraints] : []),
    ...strategies.map((strategy) => strategy.constraints),
    ...[...segments].map(constraintsOf),
  ];
  return lists.reduce((sum, list) => sum + patternsIn(list), 0);
}

/** Returns the path of the first constraint with which a segment weighs too much, and more than before. */
function heavyConstraintOf(before: readonly Constraint[] = [], after: readonly Constraint[]): string | undefined {
  const own = after.map((constraint, index) => [`/constraints/${index}`, constraintWeight(constraint)] as const);
  return pathBeyond(Math.max(LIMITS.flagWeight, constraintsWeight(before)), own);
}

/** Finds the first constraint or segment with which the constraints of a document, or of an environment, weigh too much. */
function findWeightFaults(
  before: CheckedDocument | undefined,
  { constraints, environments = [] }: CheckedDocument,
  constraintsOf: ConstraintsOf,
): Fault[] {
  const weightOf = createScale(constraintsOf);
  const path = constraints && heavyConstraintOf(before?.constraints, constraints);
  const faults: Fault[] = path === undefined ? [] : [{ place: '', path, message: tooHeavy('make the segment') }];
  for (const { name, strategies } of environments) {
    const previous = before?.environments?.find((environment) => environment.name === name)?.strategies ?? [];
    const isKnown = (strategy: CheckedStrategy) => previous.includes(strategy);
    const unchanged = weighStrategies(strategies.filter(isKnown), weightOf);
    let room = Math.max(LIMITS.flagWeight, weighStrategies(previous, weightOf)) - unchanged;
    for (const [index, strategy] of strategies.entries()) {
      if (isKnown(strategy)) continue;
      const found = strategy.disabled ? undefined : pathBeyond(room - HASH, weightsOf(strategy, weightOf));
      room -= strategyWeight(strategy, weightOf);
      if (found === undefined) continue;
      const place = `/environments/${name}/strategies/${index}`;
      faults.push({ place, strategy, path: found, message: tooHeavy(`make the strategies in ${name}`) });
      break;
    }
  }
  return faults;
}

/** Returns the path of the first item with which the sum of weights exceeds the limit. */
function pathBeyond(limit: number, items: Iterable<readonly [path: string, weight: number]>): string | undefined {
  let sum = 0;
  for (const [path, weight] of items) {
    sum += weight;
    if (sum > limit) return path;
  }
  return undefined;
}

function* weightsOf({ constraints, segments = [] }: CheckedStrategy, weightOf: Scale): Generator<[string, number]> {
  for (const [index, constraint] of constraints.entries())
    yield [`/constraints/${index}`, constraintWeight(constraint)];
  for (const [index, id] of segments.entries()) yield [`/segments/${index}`, weightOf(id)];
}

/** Returns the weight of a segment. */
type Scale = (segment: number) => number;

/** A flag may use a segment in each of its strategies, so each is weighed once. */
export function createScale(constraintsOf: ConstraintsOf): Scale {
  const weights = new Map<number, number>();
  return (id) => {
    const weight = weights.get(id) ?? constraintsWeight(constraintsOf(id));
    weights.set(id, weight);
    return weight;
  };
}

export function weighStrategies(strategies: readonly CheckedStrategy[], weightOf: Scale): number {
  return strategies.reduce((sum, strategy) => sum + strategyWeight(strategy, weightOf), 0);
}

export function tooHeavy(verb: string): string {
  return `would ${verb} take too long to evaluate, with their segments; search for fewer texts, or use IN instead of STR_CONTAINS`;
}

function* partsOf(document: CheckedDocument | undefined): Generator<Part> {
  if (!document) return;
  const { name, labels = [], variants = [], environments = [], constraints = [] } = document;
  yield textPart('name', name, '/name');
  for (const [index, label] of labels.entries()) yield textPart('label', label, `/labels/${index}`);
  for (const [index, { overrides }] of variants.entries()) {
    for (const [at, override] of overrides.entries()) yield overridePart(override, `/${index}/overrides/${at}`);
  }
  yield* constraintParts(constraints, { place: '' });
  for (const environment of environments) {
    for (const [index, strategy] of environment.strategies.entries()) {
      const at = { place: `/environments/${environment.name}/strategies/${index}`, strategy };
      yield { ...textPart('id', strategy.id, '/id'), ...at };
      yield* percentageParts(strategy, at);
      yield* constraintParts(strategy.constraints, at);
    }
  }
}

function textPart(kind: string, text: string, path: string): Part {
  return {
    place: '',
    path,
    identity: () => JSON.stringify([kind, text]),
    findFaults: () => (hasBlanksAround(text) ? [{ message: BLANKS_AROUND, path: '' }] : []),
  };
}

const BLANKS_AROUND = 'must not have blanks around it';
const BLANK = 'must not be blank';

function hasBlanksAround(text: string): boolean {
  return text !== text.trim();
}

/** SDKs compare the values of an override as they are. A blank one would match every guest. */
function overridePart({ contextName, values }: VariantOverride, path: string): Part {
  return {
    place: '/variants',
    path,
    identity: () => JSON.stringify(['override', contextName, values]),
    *findFaults() {
      for (const [index, value] of values.entries()) {
        const isBlank = value.trim() === '';
        if (isBlank || hasBlanksAround(value)) {
          yield { message: isBlank ? BLANK : BLANKS_AROUND, path: `/values/${index}` };
        }
      }
    },
  };
}

/** Buckets are whole percents: a fraction would be rounded down, and less than 1 would reach nobody. */
function* percentageParts({ name, parameters }: CheckedStrategy, at: FaultPlace): Generator<Part> {
  const parameter = percentageParameter(name);
  if (parameter === undefined || !parameters || !Object.hasOwn(parameters, parameter)) return;
  const value = parameters[parameter];
  const percents = toNumber(value);
  yield {
    ...at,
    path: `/parameters/${parameter}`,
    identity: () => JSON.stringify(['parameter', name, String(value)]),
    findFaults: () =>
      Number.isFinite(percents) && !Number.isInteger(percents) ? [{ message: WHOLE_PERCENTS, path: '' }] : [],
  };
}

/** The rule for percentages. */
export const WHOLE_PERCENTS = 'must be a whole number from 0 to 100';

function* constraintParts(constraints: readonly Constraint[], at: FaultPlace): Generator<Part> {
  for (const [index, constraint] of constraints.entries()) {
    const { contextName, operator, values = [], value, inverted = false, caseInsensitive = false } = constraint;
    yield {
      ...at,
      path: `/constraints/${index}`,
      identity: () => JSON.stringify(['constraint', contextName, operator, values, value, inverted, caseInsensitive]),
      findFaults: () => findOperandFaults(constraint),
      pattern: operandOf(operator) === 'pattern' ? value : undefined,
    };
  }
}

function* findOperandFaults({ operator, value, values = [] }: Constraint): ReturnType<Part['findFaults']> & Generator {
  if (operandOf(operator) === 'pattern' && value !== undefined && !isWithinPatternBound(value)) {
    yield { message: PATTERN_BOUND, path: '/value' };
  }
  if (operandOf(operator) === 'moment' && value !== undefined && isWithoutOffset(value)) {
    yield { message: ZONED_MOMENT, path: '/value' };
  }
  // Evaluation trims these values, so it would compare with nothing.
  for (const [index, text] of values.entries()) {
    if (text.trim() === '') yield { message: BLANK, path: `/values/${index}` };
  }
}

const PATTERN_BOUND = `must have at most ${LIMITS.pattern} characters, and repeat a part at most ${LIMITS.patternRepetitions} times, nested repetitions multiplied; with its repetitions written out, it may have at most ${LIMITS.pattern} characters and classes`;

/** Without an offset, SDKs read the time in the time zone of their machine. */
const ZONED_MOMENT =
  'must be an ISO 8601 date, or a time with Z or an offset, such as 2030-05-01T09:00:00Z: without one, it means another moment in each time zone';
