import { STRATEGIES } from '@flags/core/admin';
import type { Constraint, Strategy } from '../api/types.js';

let findName: (id: number) => string | undefined = () => undefined;

/** Sets the source of segment names for all descriptions. */
export function nameSegmentsBy(find: typeof findName): void {
  findName = find;
}

export function findSegmentName(id: number): string | undefined {
  return findName(id);
}

export function segmentName(id: number): string {
  return findSegmentName(id) ?? `segment ${id}`;
}

/** The operators with their words, in the order of the picker. */
export const OPERATORS: Readonly<
  Record<string, { readonly label: string; readonly not: string; readonly takes: 'values' | 'value' }>
> = {
  IN: { label: 'is one of', not: 'is not one of', takes: 'values' },
  NOT_IN: { label: 'is not one of', not: 'is one of', takes: 'values' },
  STR_CONTAINS: { label: 'contains', not: 'does not contain', takes: 'values' },
  STR_STARTS_WITH: { label: 'starts with', not: 'does not start with', takes: 'values' },
  STR_ENDS_WITH: { label: 'ends with', not: 'does not end with', takes: 'values' },
  NUM_EQ: { label: '=', not: '≠', takes: 'value' },
  NUM_GT: { label: '>', not: 'not >', takes: 'value' },
  NUM_GTE: { label: '≥', not: 'not ≥', takes: 'value' },
  NUM_LT: { label: '<', not: 'not <', takes: 'value' },
  NUM_LTE: { label: '≤', not: 'not ≤', takes: 'value' },
  DATE_AFTER: { label: 'is after', not: 'is not after', takes: 'value' },
  DATE_BEFORE: { label: 'is before', not: 'is not before', takes: 'value' },
  SEMVER_EQ: { label: 'is version', not: 'is not version', takes: 'value' },
  SEMVER_GT: { label: 'is newer than', not: 'is not newer than', takes: 'value' },
  SEMVER_GTE: { label: 'is at least version', not: 'is not at least version', takes: 'value' },
  SEMVER_LT: { label: 'is older than', not: 'is not older than', takes: 'value' },
  SEMVER_LTE: { label: 'is at most version', not: 'is not at most version', takes: 'value' },
  REGEX: { label: 'matches', not: 'does not match', takes: 'value' },
  IN_CIDR: { label: 'is in network', not: 'is not in network', takes: 'values' },
};

/** Describes what is missing in a strategy, such as the value of a constraint; undefined if it can be saved. */
export function missingIn(strategies: readonly Strategy[]): string | undefined {
  return strategies
    .map(({ constraints }, index) => missingConstraint(constraints, ` of strategy ${index + 1}`))
    .find((missing) => missing !== undefined);
}

/** Describes what is missing in the first incomplete constraint. */
export function missingConstraint(constraints: readonly Constraint[], owner = ''): string | undefined {
  for (const [index, { contextName, operator, values = [], value = '' }] of constraints.entries()) {
    const place = `Constraint ${index + 1}${owner}`;
    if (contextName === '') return `${place} has no field yet.`;
    if (takesValues(operator) ? values.length === 0 : value === '') return `${place} has no value yet.`;
  }
  return undefined;
}

/** The number of values that a summary shows. */
export const SHOWN_VALUES = 3;

export function takesValues(operator: string): boolean {
  return OPERATORS[operator]?.takes !== 'value';
}

/** Describes a constraint without its field: "is one of DE, AT". */
export function describeConstraint({ operator, values = [], value, inverted, caseInsensitive }: Constraint): string {
  const words = OPERATORS[operator];
  const verb = words === undefined ? operator : inverted ? words.not : words.label;
  const operand = takesValues(operator) ? listOf(values) : (value ?? '');
  return `${verb} ${operand}${caseInsensitive ? ' (any case)' : ''}`;
}

export function listOf(values: readonly string[], most = SHOWN_VALUES): string {
  const shown = values.slice(0, most).join(', ');
  return values.length > most ? `${shown} and ${(values.length - most).toLocaleString()} more` : shown;
}

export function strategyName(name: string): string {
  return STRATEGIES.get(name)?.title ?? name;
}

/** Describes a strategy in one line: "Gradual rollout 25 %, country is one of DE". */
export function describeStrategy(strategy: Strategy): string {
  const rollout = rolloutOf(strategy);
  const title = strategyName(strategy.name);
  const name = rollout === undefined ? title : `${title} ${rollout} %`;
  return [name, ...conditionsOf(strategy)].join(', ');
}

/** Describes the conditions of a strategy: its lists, segments and constraints. */
export function conditionsOf(strategy: Strategy): readonly string[] {
  const { parameters, constraints, segments = [] } = strategy;
  const rollout = rolloutOf(strategy);
  const lists = Object.entries(parameters ?? {}).filter(([key, value]) => value !== '' && !HASHING.has(key));
  return [
    ...(rollout === undefined ? lists.map(([key, value]) => `${key} ${listOf(String(value).split(/\s*,\s*/))}`) : []),
    ...segments.map(segmentName),
    ...constraints.map((constraint) => `${constraint.contextName} ${describeConstraint(constraint)}`),
  ];
}

/** Names a strategy by its title, or by its kind and its position. */
export function strategyTitle({ name, title }: Pick<Strategy, 'name' | 'title'>, position?: number): string {
  if (title) return title;
  return position === undefined ? strategyName(name) : `strategy ${position}, ${strategyName(name)}`;
}

/** Parameters with their own controls. Summaries omit them. */
export const HASHING: ReadonlySet<string> = new Set(['rollout', 'percentage', 'groupId', 'stickiness']);

/** Returns the rollout in percent; undefined for strategies that have none. */
export function rolloutOf({ parameters }: Pick<Strategy, 'parameters'>): number | undefined {
  const value = parameters?.rollout ?? parameters?.percentage;
  if (value === undefined || value === null || value === '') return undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
}
