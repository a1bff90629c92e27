import { isObject, isSameJson } from '../base/json.js';
import { compareStates, type PartDifference } from '../base/parts.js';
import type { FlagDefinition, StrategyDefinition, VariantDefinition } from '../evaluation/definitions.types.js';
import { noEffectInConstraint, PERCENTAGES } from '../evaluation/strategies.js';
import { describeSteps, isRollout } from './describe-rollout.js';
import {
  describeCondition,
  type describeConstraint,
  describeStrategy,
  describeVariant,
  describeWeight,
  type FindSegmentName,
  itemsOf,
  listOf,
  operatorWords,
  SHOWN_VALUES,
  strategyTitle,
} from './describe-strategy.js';

/*
 * Words for differences of documents, in histories, plans, imports and conflicts. The admin page and the command line
 * share them.
 */

/** A difference in words. */
export interface DescribedDifference {
  /** The changed part: "production · enabled", "variants · blue". */
  readonly what: string;
  /** Undefined: the part did not exist. */
  readonly before: string | undefined;
  /** Undefined: the part no longer exists. */
  readonly after: string | undefined;
}

/** A document of a history or an import, or of a plan. */
export type ComparedDocument = DocumentName &
  ({ readonly parts: readonly PartDifference[] } | { readonly before: unknown; readonly after: unknown });

interface DocumentName {
  readonly kind: string;
  readonly id: string;
}

/**
 * The names of the documents and strategies that differences refer to by id. An unknown name is described by its id.
 */
export interface Names {
  readonly segment?: FindSegmentName;
  /** The host's own strategies. Absent: descriptions call no strategy unknown. */
  readonly ownStrategies?: readonly string[] | undefined;
  readonly role?: (id: number) => string | undefined;
  /** By strategy id: see {@link nameStrategies}. */
  readonly strategies?: ReadonlyMap<string, string>;
}

/** Names the strategies in flags, environments and events by title, or by kind and position. Later states win. */
export function nameStrategies(
  states: readonly unknown[],
  segmentName?: Names['segment'],
): ReadonlyMap<string, string> {
  return new Map(states.flatMap((state) => namesIn(state, segmentName)));
}

function namesIn(
  state: unknown,
  segmentName: Names['segment'],
  position?: number,
): readonly (readonly [string, string])[] {
  if (!isObject(state)) return [];
  const { id, title, parameters, constraints, environments, strategies } = state;
  if (Array.isArray(environments)) return environments.flatMap((one) => namesIn(one, segmentName));
  if (Array.isArray(strategies)) return strategies.flatMap((one, index) => namesIn(one, segmentName, index + 1));
  if (typeof id !== 'string' || parameters === undefined || constraints === undefined) return [];
  const kind = strategyTitle(state as unknown as Parameters<typeof strategyTitle>[0], segmentName);
  return [[id, title ? String(title) : position === undefined ? kind : `strategy ${position}, ${kind}`]];
}

/** Names a document: "flag checkout", or the name of a segment. */
export function describeDocument({ kind, id }: DocumentName, { segment }: Names = {}): string {
  return (kind === 'segment' ? segment?.(Number(id)) : undefined) ?? `${kind.replaceAll('-', ' ')} ${id}`;
}

/** Describes the differences of a document. Omits technical ones, such as times. */
export function describeDifferences(document: ComparedDocument, names: Names = {}): readonly DescribedDifference[] {
  const isPlanned = !('parts' in document);
  const strategies = isPlanned ? nameStrategies([document.before, document.after], names.segment) : [];
  const parts = isPlanned ? compareStates(document.before, document.after) : document.parts;
  const known = { ...names, strategies: new Map([...strategies, ...(names.strategies ?? [])]) };
  return parts.flatMap((part) => describePart(part, document, known));
}

function describePart(part: PartDifference, document: DocumentName, names: Names): readonly DescribedDifference[] {
  const { path, before, after } = part;
  const isWhole = path === '';
  if (isWhole && after === null) return [{ what: 'deleted', before: undefined, after: undefined }];
  if ((before === null || after === null) && isContainer(path, before ?? after)) {
    const nothing = Array.isArray(before ?? after) ? [] : {};
    const members = compareStates(before ?? nothing, after ?? nothing, path);
    const described = members.flatMap((member) => describePart(member, document, names));
    return isWhole
      ? [{ what: creationOf(document, after), before: undefined, after: undefined }, ...described]
      : described;
  }
  if (HIDDEN.test(path) || (path === '/name' && after === document.id)) return [];
  const [was, is] = valuesOf(part, names);
  if (was === is) return [];
  return [{ what: describePath(path, names), ...cutToDifference(was, is) }];
}

const HIDDEN =
  /^\/(id|createdAt|createdBy|archivedAt|endedAt|lateBy|changeSet)$|^\/environments\/[^/]*\/name$|\/sortOrder$|\/rollouts\/[^/]*\/since$/;

/** Whether a part that comes or goes is described by its own parts: a document, an environment, or a list of items. */
function isContainer(path: string, value: unknown): boolean {
  return (
    path === '' || /^\/environments\/[^/]*(\/rollouts)?$/.test(path) || (Array.isArray(value) && value.some(isObject))
  );
}

function creationOf({ kind }: DocumentName, state: unknown): string {
  const { environments } = Object(state) as { readonly environments?: readonly { readonly enabled?: boolean }[] };
  const isOff = kind === 'flag' && !environments?.some(({ enabled }) => enabled);
  return isOff ? 'created, off in every environment' : 'created';
}

/** Returns both values in words. For long lists, returns only the removed and the added values. */
function valuesOf({ path, before, after }: PartDifference, names: Names): readonly (string | undefined)[] {
  const isSwitch = typeof before === 'boolean' || typeof after === 'boolean';
  const [was, is] = [before, after].map((value) => (isSwitch ? (value ?? false) : value));
  const [former, latter] = [listIn(path, was), listIn(path, is)];
  const [removed, added] = [without(former, latter), without(latter, former)];
  if (Math.max(former.length, latter.length) <= SHOWN_VALUES || removed.length + added.length === 0) {
    return [describeValue(path, was, names), describeValue(path, is, names)];
  }
  const say = (sign: string, values: readonly string[]) =>
    values.length === 0 ? undefined : `${sign} ${listOf(values, NAMED)}`;
  return [say('−', removed), say('+', added)];
}

/** The number of removed or added values that a difference names. */
const NAMED = 20;

/** Returns the values of a constraint, or of a parameter, which is a text with commas. */
function listIn(path: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && path.endsWith('/values')) return value.map(String);
  const isText = typeof value === 'string' && path.includes('/parameters/');
  return isText ? itemsOf(value) : [];
}

function without(values: readonly string[], others: readonly string[]): readonly string[] {
  const found = new Set(others);
  return values.filter((value) => !found.has(value));
}

/** The members of flags, environments and strategies that contain other members. True: a path does not name them. */
const IS_CONTAINER: Readonly<
  Record<ContainerIn<FlagDefinition & StrategyDefinition> | 'environments' | 'rollouts', boolean>
> = {
  environments: true,
  strategies: true,
  rollouts: true,
  parameters: true,
  constraints: true,
  variants: false,
  dependencies: false,
  segments: false,
};
const CONTAINERS: ReadonlySet<string> = new Set(
  Object.entries(IS_CONTAINER).flatMap(([name, isContainer]) => (isContainer ? [name] : [])),
);

/** Describes a JSON Pointer: "production · strategy 2, User IDs · userIds". */
export function describePath(pointer: string, { strategies }: Names = {}): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const words = parts.flatMap((part, index) => {
    const [list, isLast] = [parts[index - 1], index === parts.length - 1];
    if (list === 'strategies') return isLast ? 'strategy' : (strategies?.get(part) ?? 'a strategy');
    if (list === 'rollouts') return [strategies?.get(part) ?? 'a strategy', 'rollout'];
    if (list === 'constraints') return constraintWords(part, isLast);
    if (isLast && ORDERED.has(part)) return CONTAINERS.has(part) ? 'order' : [part, 'order'];
    const isOperand = parts[index - 2] === 'constraints' && (part === 'values' || part === 'value');
    return isOperand || CONTAINERS.has(part) || isPercentage(parts.slice(0, index + 1)) ? [] : part;
  });
  return words.join(' · ');
}

/** Whether a pointer leads to the percentage of a strategy. Its value needs no name: "25 %". */
function isPercentage(parts: readonly string[]): boolean {
  const [list, , container, name = ''] = parts.slice(-4);
  return list === 'strategies' && container === 'parameters' && PERCENTAGES.has(name);
}

/** The members of a document that contain others. */
type ContainerIn<Document> = {
  [Name in keyof Document]-?: NonNullable<Document[Name]> extends object ? Name : never;
}[keyof Document];

/** The members of a document that are lists of items. */
type ListIn<Document> = {
  [Name in keyof Document]-?: NonNullable<Document[Name]> extends readonly object[] ? Name : never;
}[keyof Document];

/** Lists of items. A difference of the list itself is a new order. */
const LISTS: Readonly<Record<ListIn<FlagDefinition> | ListIn<StrategyDefinition> | ListIn<VariantDefinition>, true>> = {
  strategies: true,
  constraints: true,
  variants: true,
  dependencies: true,
  overrides: true,
};
const ORDERED: ReadonlySet<string> = new Set(Object.keys(LISTS));

/** Describes the key of a constraint: its field, and its operator unless the value says that. */
function constraintWords(key: string, isWhole: boolean): string {
  const [, field = key, operator = ''] = /^(.*) ([A-Z_]+)( \d+)?$/.exec(key) ?? [];
  const notes = noEffectInConstraint({ contextName: field, operator }).map((note) => ` (${note})`);
  return isWhole ? field : `${field} ${operatorWords(operator)?.label ?? operator}${notes.join('')}`;
}

/** Describes the value at a JSON Pointer; undefined if it does not exist. */
export function describeValue(pointer: string, value: unknown, names: Names = {}): string | undefined {
  if (value === null || value === undefined || value === '' || isSameJson(value, [])) return undefined;
  const member = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (typeof value === 'boolean' && member === 'enabled') return value ? 'on' : 'off';
  if (typeof value === 'boolean') return [value ? 'yes' : 'no', ...notesOn(pointer, value)].join(' ');
  if (isPercentage(pointer.split('/'))) return `${value} %`;
  if (typeof value === 'number' && /\/rollouts\/[^/]*\/step$/.test(pointer)) return `${value + 1}`;
  if (typeof value === 'number' && member === 'weight') return describeWeight(value);
  if (typeof value === 'number' && member === 'roleId') return names.role?.(value) ?? `role ${value}`;
  if (Array.isArray(value)) return value.map((item) => describeItem(member, item, names)).join(', ');
  return isObject(value) ? describeObject(value, names) : String(value);
}

/** Says that `caseInsensitive` has no effect on the operator of its constraint. */
function notesOn(pointer: string, value: boolean): readonly string[] {
  const [, operator] = /\/constraints\/[^/]* ([A-Z_]+)(?: \d+)?\/caseInsensitive$/.exec(pointer) ?? [];
  if (operator === undefined) return [];
  const problems = noEffectInConstraint({ contextName: 'currentTime', operator, caseInsensitive: value });
  return problems.map((problem) => `(${problem})`);
}

function describeItem(list: string, item: unknown, names: Names): string {
  if (list === 'segments') return names.segment?.(Number(item)) ?? `segment ${item}`;
  // An order already shows the positions.
  if (list === 'strategies') return names.strategies?.get(String(item))?.replace(/^strategy \d+, /, '') ?? 'a strategy';
  return isObject(item) ? describeObject(item, names) : String(item);
}

type Members = Readonly<Record<string, unknown>>;

function describeObject(value: Members, names: Names): string {
  if ('constraints' in value && 'parameters' in value) {
    const strategy = value as unknown as Parameters<typeof describeStrategy>[0];
    return describeStrategy(strategy, names.segment, names.ownStrategies);
  }
  if ('operator' in value) return describeCondition(value as unknown as Parameters<typeof describeConstraint>[0]);
  if (typeof value.roleId === 'number') return names.role?.(value.roleId) ?? `role ${value.roleId}`;
  if ('weight' in value) return describeVariant(value as unknown as Parameters<typeof describeVariant>[0]);
  if ('flag' in value || 'feature' in value) return describeNeed(value);
  if (isRollout(value)) return describeSteps(value);
  // The failure of a change request or a rollout.
  if ('code' in value && typeof value.message === 'string') return value.message;
  return JSON.stringify(value);
}

/** Describes the required state of a parent: "on", "off", "on, blue". */
function describeNeed({ enabled, variants }: Members): string {
  return [enabled === false ? 'off' : 'on', ...(Array.isArray(variants) ? variants : [])].join(', ');
}

/** Writes a difference as one text: "production · enabled off → on". */
export function differenceText({ what, before, after }: DescribedDifference): string {
  if (before === undefined) return after === undefined ? what : `${what} ${after}`;
  return `${what} ${before} → ${after ?? 'none'}`;
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
