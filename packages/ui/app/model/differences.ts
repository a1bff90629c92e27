import { isSameJson, memberOf } from '@flags/core/admin';
import type { Constraint, FlagDetail, FlagEnvironment, Strategy, Variant } from '../api/types.js';
import { describeConstraint, describeStrategy, listOf, SHOWN_VALUES, segmentName, strategyTitle } from './describe.js';

/** One difference, in words. */
export interface Difference {
  /** The place: "production", "production · strategy 1", "variants". */
  readonly place: string;
  /** The member: "rollout", "country", "enabled". */
  readonly what: string;
  /** Undefined: the member did not exist. */
  readonly before: string | undefined;
  /** Undefined: the member no longer exists. */
  readonly after: string | undefined;
}

/** Lists the differences between two states of a flag. Strategies are matched by id, variants by name. */
export function flagDifferences(before: FlagDetail, after: FlagDetail): readonly Difference[] {
  return [
    ...metadataDifferences(before, after),
    ...after.environments.flatMap((environment) => {
      const former = before.environments.find(({ name }) => name === environment.name);
      return former === undefined ? [] : environmentDifferences(former, environment);
    }),
    ...listDifferences('variants', before.variants ?? [], after.variants ?? [], {
      keyOf: ({ name }) => name,
      describe: describeVariant,
    }),
    ...listDifferences('dependencies', before.dependencies ?? [], after.dependencies ?? [], {
      keyOf: ({ feature }) => feature,
      describe: ({ enabled, variants }) => [enabled ? 'on' : 'off', ...variants].join(', '),
    }),
  ];
}

function metadataDifferences(before: FlagDetail, after: FlagDetail): readonly Difference[] {
  const members = ['description', 'type', 'stale', 'impressionData', 'owner', 'labels'] as const;
  return members.flatMap((name) => different('flag', name, textOf(before[name]), textOf(after[name])));
}

/** Lists the differences in one environment. */
function environmentDifferences(before: FlagEnvironment, after: FlagEnvironment): readonly Difference[] {
  const place = after.name;
  const positions = new Map(before.strategies.map(({ id }, index) => [id, index]));
  const removed = before.strategies.filter(({ id }) => !after.strategies.some((strategy) => strategy.id === id));
  const kept = after.strategies.filter(({ id }) => id !== undefined && positions.has(id)).map(({ id }) => id);
  const formerOrder = before.strategies.map(({ id }) => id).filter((id) => kept.includes(id));
  return [
    ...different(place, 'enabled', onOff(before.enabled), onOff(after.enabled)),
    ...(kept.join() === formerOrder.join()
      ? []
      : different(place, 'order', orderOf(before.strategies), orderOf(after.strategies))),
    ...after.strategies.flatMap((strategy, index) => {
      const name = `${place} · strategy ${index + 1}`;
      const former = before.strategies.find(({ id }) => id !== undefined && id === strategy.id);
      return former === undefined
        ? [{ place: name, what: 'added', before: undefined, after: describeStrategy(strategy) }]
        : strategyDifferences(name, former, strategy);
    }),
    ...removed.map((strategy) => ({
      place: `${place} · strategy ${(positions.get(strategy.id) ?? 0) + 1}`,
      what: 'removed',
      before: describeStrategy(strategy),
      after: undefined,
    })),
  ];
}

/** Lists the differences in one strategy: "rollout 25 → 50" first. */
function strategyDifferences(place: string, before: Strategy, after: Strategy): readonly Difference[] {
  const names = new Set([...Object.keys(before.parameters ?? {}), ...Object.keys(after.parameters ?? {})]);
  return [
    ...[...names].flatMap((name) => {
      const [was, is] = [before, after].map(({ parameters }) => textOf(memberOf(parameters, name)));
      const [former, latter] = [was, is].map((text = '') => text.split(/\s*,\s*/).filter(Boolean));
      return valueDifferences(place, name, former, latter) ?? different(place, name, was, is);
    }),
    ...different(place, 'strategy', before.name, after.name),
    ...different(place, 'title', textOf(before.title), textOf(after.title)),
    ...different(place, 'disabled', textOf(before.disabled), textOf(after.disabled)),
    ...different(place, 'segments', segmentsOf(before), segmentsOf(after)),
    ...constraintDifferences(place, before.constraints, after.constraints),
    ...listDifferences(`${place} · variants`, before.variants ?? [], after.variants ?? [], {
      keyOf: ({ name }) => name,
      describe: describeVariant,
    }),
  ];
}

function segmentsOf({ segments = [] }: Strategy): string {
  return segments.map(segmentName).join(', ');
}

/** Constraints have no id: constraints on the same field are compared in order. */
export function constraintDifferences(
  place: string,
  before: readonly Constraint[],
  after: readonly Constraint[],
): readonly Difference[] {
  const fields = new Set([...before, ...after].map(({ contextName }) => contextName));
  return [...fields].flatMap((field) => {
    const [former = [], latter = []] = [before, after].map((list) =>
      list.filter(({ contextName }) => contextName === field),
    );
    if (former.length !== latter.length) {
      const [was, is] = [former, latter].map((list) => list.map(describeConstraint).join(' and ') || undefined);
      return different(place, field, was, is);
    }
    return latter.flatMap((is, index) => {
      const was = former[index] ?? is;
      const rule = `${field} ${describeConstraint({ ...is, values: [] })}`.trim();
      const values = valueDifferences(place, rule, was.values, is.values);
      if (values && isSameJson({ ...was, values: [] }, { ...is, values: [] })) return values;
      return [...different(place, field, describeConstraint(was), describeConstraint(is)), ...(values ?? [])];
    });
  });
}

/** Lists the removed and added values of a long list; undefined for short lists, and if only the order differs. */
function valueDifferences(
  place: string,
  what: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): readonly Difference[] | undefined {
  if (Math.max(before.length, after.length) <= SHOWN_VALUES) return undefined;
  const [was, is] = [new Set(before), new Set(after)];
  const went = before.filter((value) => !is.has(value));
  const came = after.filter((value) => !was.has(value));
  const say = (sign: string, values: readonly string[]) =>
    values.length === 0 ? undefined : `${sign} ${listOf(values, NAMED)}`;
  return went.length + came.length === 0 ? undefined : different(place, what, say('−', went), say('+', came));
}

/** Lists removed or added values by name. */
const NAMED = 20;

interface ListRules<T> {
  readonly keyOf: (item: T) => string;
  readonly describe: (item: T) => string;
}

function listDifferences<T>(
  place: string,
  before: readonly T[],
  after: readonly T[],
  { keyOf, describe }: ListRules<T>,
): readonly Difference[] {
  const keys = new Set([...before, ...after].map(keyOf));
  return [...keys].flatMap((key) => {
    const [former, latter] = [before, after].map((list) => list.find((item) => keyOf(item) === key));
    return different(place, key, former && describe(former), latter && describe(latter));
  });
}

function different(
  place: string,
  what: string,
  before: string | undefined,
  after: string | undefined,
): readonly Difference[] {
  return (before ?? '') === (after ?? '') ? [] : [{ place, what, before, after }];
}

/** Formats a weight, which is stored in thousandths. */
export function percent(weight: number): string {
  return `${weight / 10} %`;
}

/** Texts above this length are cut to the part that differs. */
const LONG = 120;
/** Characters to keep on each side of a difference. */
const AROUND = 40;
/** The maximum length of a shown text. */
const SHOWN = 400;

/** Removes the common start and end of two long texts, except for the characters beside the difference. */
export function cutToDifference(before: string | undefined, after: string | undefined) {
  const [one, other] = [before ?? '', after ?? ''];
  const shorter = Math.min(one.length, other.length);
  let first = 0;
  while (first < shorter && one[first] === other[first]) first++;
  let last = 0;
  while (last < shorter - first && one.at(-1 - last) === other.at(-1 - last)) last++;
  const isLong = Math.max(one.length, other.length) > LONG;
  const [start, rest] = isLong ? [Math.max(0, first - AROUND), Math.max(0, last - AROUND)] : [0, 0];
  const cut = (text: string | undefined) => {
    if (text === undefined) return undefined;
    const end = Math.min(text.length - rest, start + SHOWN);
    return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
  };
  return { before: cut(before), after: cut(after) };
}

export function describeVariant({ weight, weightType, payload, overrides = [] }: Variant): string {
  return [
    `${percent(weight)}${weightType === 'fix' ? ' fixed' : ''}`,
    ...(payload ? [`${payload.type} ${payload.value}`] : []),
    ...overrides.map(({ contextName, values }) => `${contextName} ${values.join(', ')}`),
  ].join(' · ');
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'yes' : undefined;
  return Array.isArray(value) ? value.join(', ') || undefined : String(value);
}

function onOff(isEnabled: boolean): string {
  return isEnabled ? 'on' : 'off';
}

function orderOf(strategies: readonly Strategy[]): string {
  return strategies.map((strategy) => strategyTitle(strategy)).join(', ');
}
