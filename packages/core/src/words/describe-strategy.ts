import { type ConstraintOperator, operatorOf, takesValues } from '../evaluation/operators.js';
import { HASHING, noEffectInConstraint, STRATEGIES, unknownInStrategy } from '../evaluation/strategies.js';
import { rolloutOf } from './audience.js';

interface OperatorWords {
  readonly label: string;
  /** Of an inverted constraint. */
  readonly not: string;
}

/** The words of each operator, in the order of the picker. */
export const OPERATOR_WORDS: Readonly<Record<ConstraintOperator, OperatorWords>> = {
  IN: { label: 'is one of', not: 'is not one of' },
  NOT_IN: { label: 'is not one of', not: 'is one of' },
  STR_CONTAINS: { label: 'contains', not: 'does not contain' },
  STR_STARTS_WITH: { label: 'starts with', not: 'does not start with' },
  STR_ENDS_WITH: { label: 'ends with', not: 'does not end with' },
  NUM_EQ: { label: '=', not: '≠' },
  NUM_GT: { label: '>', not: 'not >' },
  NUM_GTE: { label: '≥', not: 'not ≥' },
  NUM_LT: { label: '<', not: 'not <' },
  NUM_LTE: { label: '≤', not: 'not ≤' },
  DATE_AFTER: { label: 'is after', not: 'is not after' },
  DATE_BEFORE: { label: 'is before', not: 'is not before' },
  SEMVER_EQ: { label: 'is version', not: 'is not version' },
  SEMVER_GT: { label: 'is newer than', not: 'is not newer than' },
  SEMVER_GTE: { label: 'is at least version', not: 'is not at least version' },
  SEMVER_LT: { label: 'is older than', not: 'is not older than' },
  SEMVER_LTE: { label: 'is at most version', not: 'is not at most version' },
  REGEX: { label: 'matches', not: 'does not match' },
  IN_CIDR: { label: 'is in network', not: 'is not in network' },
};

/** Returns the words of an operator; undefined for one that is unknown. */
export function operatorWords(operator: string): OperatorWords | undefined {
  return operatorOf(operator) && OPERATOR_WORDS[operator as ConstraintOperator];
}

/** The number of values that a summary shows. */
export const SHOWN_VALUES = 3;

export function listOf(values: readonly string[], most = SHOWN_VALUES): string {
  const shown = values.slice(0, most).join(', ');
  return values.length > most ? `${shown} and ${(values.length - most).toLocaleString('en')} more` : shown;
}

/** A constraint, stored or as the HTTP API sends it. Its operator may be unknown. */
interface ShownConstraint {
  readonly contextName: string;
  readonly operator: string;
  readonly values?: readonly string[];
  readonly value?: string;
  readonly inverted?: boolean;
  readonly caseInsensitive?: boolean;
}

/** Describes a constraint without its field: "is one of DE, AT". Says what of it has no effect. */
export function describeCondition(constraint: ShownConstraint): string {
  const { operator, values = [], value = '', inverted, caseInsensitive } = constraint;
  const words = operatorWords(operator);
  const verb = words === undefined ? operator : inverted ? words.not : words.label;
  const problems = noEffectInConstraint(constraint);
  const isAnyCase = caseInsensitive && problems.length === 0;
  const notes = [...(isAnyCase ? ['any case'] : []), ...problems].map((note) => ` (${note})`);
  return `${verb} ${takesValues(operator) ? listOf(values) : value}${notes.join('')}`;
}

/** Describes a constraint: "country is one of DE, AT". */
export function describeConstraint(constraint: ShownConstraint): string {
  return `${constraint.contextName} ${describeCondition(constraint)}`;
}

/** A strategy, stored or as the HTTP API sends it. */
interface ShownStrategy {
  readonly name: string;
  readonly title?: string;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly constraints: readonly ShownConstraint[];
  readonly segments?: readonly number[];
}

/** Returns the name of a segment; undefined if the caller does not know it. */
export type FindSegmentName = (id: number) => string | undefined;

export function strategyName(name: string): string {
  return STRATEGIES.get(name)?.title ?? name;
}

/** Fields that say nothing of a user. */
const CIRCUMSTANCES: ReadonlySet<string> = new Set(['currentTime', 'environment']);

/**
 * Says whom a strategy is for, without its own title: its name, but "Users with country DE, AT" for the strategy
 * `default` with conditions, because it is not for everyone then.
 */
export function strategyTitle(
  { name, constraints = [], segments }: Pick<ShownStrategy, 'name' | 'segments'> & Partial<ShownStrategy>,
  segmentName: FindSegmentName = () => undefined,
): string {
  if (name !== 'default' || (constraints.length === 0 && !segments?.length)) return strategyName(name);
  const isList = ({ operator, inverted, caseInsensitive }: ShownConstraint) =>
    operator === 'IN' && inverted !== true && caseInsensitive !== true;
  const isOfUser = ({ contextName }: ShownConstraint) => !CIRCUMSTANCES.has(contextName);
  // While a constraint is edited, its field may be empty.
  const ofUser = constraints.filter((one) => isOfUser(one) && one.contextName !== '');
  const parts = [
    ['in', (segments ?? []).map((id) => segmentName(id) ?? `segment ${id}`)],
    ['with', ofUser.filter(isList).map(({ contextName, values = [] }) => `${contextName} ${listOf(values)}`)],
    ['whose', ofUser.filter((constraint) => !isList(constraint)).map(describeConstraint)],
    ['while', constraints.filter((constraint) => !isOfUser(constraint)).map(describeConstraint)],
  ] as const;
  const users = parts.slice(0, -1).some(([, conditions]) => conditions.length > 0) ? 'Users' : strategyName(name);
  const phrases = parts.flatMap(([word, conditions]) => (conditions.length > 0 ? `${word} ${allOf(conditions)}` : []));
  return [users, ...phrases].join(' ');
}

/** The number of conditions that a title shows. */
const SHOWN_CONDITIONS = 3;

function allOf(conditions: readonly string[]): string {
  const rest = conditions.length - SHOWN_CONDITIONS;
  const more = rest > 0 ? [`${rest} more`] : [];
  return [...conditions.slice(0, SHOWN_CONDITIONS), ...more].join(' and ');
}

/**
 * Describes a strategy in one line: "Gradual rollout 25 %, country is one of DE".
 *
 * @param ownStrategies the host's own strategies; absent: not known, so that the description calls nothing unknown
 */
export function describeStrategy(
  strategy: ShownStrategy,
  segmentName?: FindSegmentName,
  ownStrategies?: readonly string[],
): string {
  const { name, title, parameters } = strategy;
  const rollout = rolloutOf(strategy);
  const kind = strategyTitle(strategy, segmentName);
  const isTitled = kind !== strategyName(name);
  const conditions = isTitled ? describeLists(parameters) : describeConditions(strategy, segmentName);
  // The conditions say what of them has no effect.
  const unknown = ownStrategies ? unknownInStrategy({ ...strategy, constraints: [] }, ownStrategies) : [];
  const named = [rollout === undefined ? kind : `${kind} ${rollout} %`, ...unknown.map((text) => `(${text})`)].join(
    ' ',
  );
  return [...(title ? [title] : []), named, ...conditions].join(', ');
}

/** Returns the items of a text that separates them by commas. */
export function itemsOf(value: unknown): readonly string[] {
  const items = String(value ?? '').split(',');
  return items.map((item) => item.trim()).filter(Boolean);
}

/** Describes the conditions of a strategy: its lists, segments and constraints. */
export function describeConditions(
  { parameters, constraints, segments = [] }: ShownStrategy,
  segmentName: FindSegmentName = () => undefined,
): readonly string[] {
  return [
    ...describeLists(parameters),
    ...segments.map((id) => segmentName(id) ?? `segment ${id}`),
    ...constraints.map(describeConstraint),
  ];
}

function describeLists(parameters: ShownStrategy['parameters']): readonly string[] {
  const lists = Object.entries(parameters ?? {}).filter(([key, value]) => value !== '' && !HASHING.has(key));
  return lists.map(([key, value]) => `${key} ${listOf(itemsOf(value))}`);
}

interface ShownVariant {
  readonly weight: number;
  readonly weightType?: string;
  readonly payload?: { readonly type: string; readonly value: string } | null;
  readonly overrides?: readonly { readonly contextName: string; readonly values: readonly string[] }[];
}

/** Describes a variant without its name: "50 % fixed · string #00f". */
export function describeVariant({ weight, weightType, payload, overrides = [] }: ShownVariant): string {
  return [
    `${describeWeight(weight)}${weightType === 'fix' ? ' fixed' : ''}`,
    ...(payload ? [`${payload.type} ${payload.value}`] : []),
    ...overrides.map(({ contextName, values }) => `${contextName} ${values.join(', ')}`),
  ].join(' · ');
}

/** Formats a weight, which is stored in thousandths. */
export function describeWeight(weight: number): string {
  return `${weight / 10} %`;
}

const REASONS: Readonly<Record<string, string>> = {
  unknown_flag: 'no such flag',
  broken_flag: 'the flag cannot be evaluated',
  dependency: 'a flag that it depends on has another state',
  no_strategies: 'no strategies',
  strategy: 'a strategy matches',
  no_strategy_holds: 'no strategy matches',
  unreadable_context: 'the context cannot be read',
};

/** Describes the reason of an evaluation: "no strategy matches". */
export function describeReason(code: string): string {
  return REASONS[code] ?? code.replaceAll('_', ' ');
}
