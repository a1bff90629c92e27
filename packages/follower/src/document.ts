import type { EvaluationProblem } from '@flags/core';
import { isObject } from '@flags/core/integration/shared';
import type { ConstraintDefinition, FlagConfiguration, SegmentConfiguration } from '@flags/core/types';

/*
 * Reads flags and segments as client SDKs get them. A server may send anything: a flag that cannot be read is off and
 * reported, because a router serves these definitions to others.
 */

/** All flags and segments of an environment. */
export interface FollowedDocument {
  readonly flags: readonly FlagConfiguration[];
  readonly segments: readonly SegmentConfiguration[];
}

/** Reports what cannot be read. */
export type ReportProblem = (problem: EvaluationProblem) => void;

/** An absent list of segments is empty: servers inline segments for old clients. */
export function readDocument(
  { features, segments }: Readonly<Record<string, unknown>>,
  report: ReportProblem,
): FollowedDocument {
  if (!Array.isArray(features)) throw new TypeError('features must be a list');
  return {
    flags: features.flatMap((feature: unknown) => readFlag(feature, report) ?? []),
    segments: listOf(segments, 'segments').flatMap((segment) => readSegment(segment, report) ?? []),
  };
}

/** Returns undefined for a flag without a name. */
export function readFlag(feature: unknown, report: ReportProblem): FlagConfiguration | undefined {
  const { name } = Object(feature) as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || name === '') {
    report({ code: 'broken_flag', message: 'A flag without a name is left out.' });
    return undefined;
  }
  const members = feature as Readonly<Record<string, unknown>>;
  try {
    return { ...aboutFlag(name, members), ...readEvaluation(members) };
  } catch (error) {
    const message = `The flag ${name} is off: ${(error as Error).message}.`;
    report({ code: 'broken_flag', flag: name, message });
    return { ...aboutFlag(name, members), enabled: false, strategies: [], variants: [], dependencies: [] };
  }
}

function aboutFlag(
  name: string,
  { project, type, description, stale, impressionData }: Readonly<Record<string, unknown>>,
) {
  return {
    name,
    project: typeof project === 'string' ? project : 'default',
    type: typeof type === 'string' ? type : 'release',
    description: typeof description === 'string' ? description : null,
    stale: stale === true,
    // Clients get no labels.
    labels: [],
    impressionData: impressionData === true,
  };
}

function readEvaluation({ enabled, strategies, variants, dependencies }: Readonly<Record<string, unknown>>) {
  return {
    enabled: booleanOf(enabled, 'enabled'),
    strategies: listOf(strategies, 'strategies').map(readStrategy),
    variants: listOf(variants, 'variants').map(readVariant),
    dependencies: listOf(dependencies, 'dependencies').map(readDependency),
  };
}

function readStrategy(strategy: unknown) {
  const { name, parameters, constraints, segments, variants, disabled } = membersOf(strategy, 'a strategy');
  return {
    name: textOf(name, 'the name of a strategy'),
    parameters: readParameters(parameters),
    constraints: listOf(constraints, 'constraints').map(readConstraint),
    segments: listOf(segments, 'segments').map((id) => numberOf(id, 'the id of a segment')),
    variants: listOf(variants, 'variants of a strategy').map(readVariant),
    ...(disabled === true && { disabled }),
  };
}

/** Parameters are single values: anything else is left out. */
function readParameters(parameters: unknown): Readonly<Record<string, string | number | boolean>> {
  const given = Object.entries(membersOf(parameters ?? {}, 'parameters'));
  return Object.fromEntries(given.filter((entry): entry is [string, string | number | boolean] => isScalar(entry[1])));
}

function readConstraint(constraint: unknown) {
  const { contextName, operator, values, value, inverted, caseInsensitive } = membersOf(constraint, 'a constraint');
  return {
    contextName: textOf(contextName, 'contextName of a constraint'),
    operator: textOf(operator, 'operator of a constraint'),
    values: listOf(values, 'values of a constraint').map((one) => textOf(one, 'a value of a constraint')),
    ...(isPresent(value) && { value: textOf(value, 'value of a constraint') }),
    ...(inverted === true && { inverted }),
    ...(caseInsensitive === true && { caseInsensitive }),
  };
}

function readVariant(variant: unknown) {
  const { name, weight, stickiness, payload, overrides } = membersOf(variant, 'a variant');
  return {
    name: textOf(name, 'the name of a variant'),
    weight: numberOf(weight, 'the weight of a variant'),
    ...(isPresent(stickiness) && { stickiness: textOf(stickiness, 'stickiness of a variant') }),
    ...(isPresent(payload) && { payload: readPayload(payload) }),
    overrides: listOf(overrides, 'overrides of a variant').map(readOverride),
  };
}

/** Clients get any type of payload as it is, as from their own server. */
function readPayload(payload: unknown) {
  const { type, value } = membersOf(payload, 'a payload');
  return { type: textOf(type, 'the type of a payload') as 'string', value: textOf(value, 'the value of a payload') };
}

function readOverride(override: unknown) {
  const { contextName, values } = membersOf(override, 'an override');
  return {
    contextName: textOf(contextName, 'contextName of an override'),
    values: listOf(values, 'values of an override').map((one) => textOf(one, 'a value of an override')),
  };
}

function readDependency(dependency: unknown) {
  const { feature, enabled, variants } = membersOf(dependency, 'a dependency');
  return {
    flag: textOf(feature, 'feature of a dependency'),
    enabled: enabled !== false,
    variants: listOf(variants, 'variants of a dependency').map((one) => textOf(one, 'a variant of a dependency')),
  };
}

/** Returns undefined for a segment that cannot be read: a strategy with a missing segment does not hold. */
export function readSegment(segment: unknown, report: ReportProblem): SegmentConfiguration | undefined {
  const { id, name, constraints } = Object(segment) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'number') {
    report({ code: 'broken_segment', message: 'A segment without a numeric id is left out.' });
    return undefined;
  }
  try {
    const read: readonly ConstraintDefinition[] = listOf(constraints, 'constraints').map(readConstraint);
    return {
      id,
      name: typeof name === 'string' ? name : `${id}`,
      // An operator that evaluation does not know never holds.
      constraints: read as SegmentConfiguration['constraints'],
    };
  } catch (error) {
    const message = `The segment ${id} never holds: ${(error as Error).message}.`;
    report({ code: 'broken_segment', segment: id, message });
    return undefined;
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!isPresent(value)) return [];
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list`);
  return value;
}

function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new TypeError(`${what} must be an object`);
  return value;
}

/** Numbers and booleans count as their text, as in evaluation. */
function textOf(value: unknown, what: string): string {
  if (!isScalar(value)) throw new TypeError(`${what} must be text`);
  return String(value);
}

function numberOf(value: unknown, what: string): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new TypeError(`${what} must be a number`);
  return number;
}

function booleanOf(value: unknown, what: string): boolean {
  if (typeof value !== 'boolean') throw new TypeError(`${what} must be true or false`);
  return value;
}
