import { compareStates } from '@flags/core/admin';
import type {
  DocumentDifference,
  FlagEnvironment,
  PlannedDocument,
  Strategy,
  Variant,
  WireEvent,
} from '../api/types.js';
import { describeConstraint, describeStrategy, segmentName, strategyTitle } from './describe.js';
import { type Difference, describeVariant, percent } from './differences.js';

type Roles = readonly { readonly id: number; readonly name: string }[];
type StrategyNames = ReadonlyMap<string, string>;

/** Returns strategy names by id: from the current flag, or else from the events. */
export function strategyNames(
  events: readonly Pick<WireEvent, 'data' | 'preData'>[],
  environments: readonly FlagEnvironment[],
): StrategyNames {
  const former = events.flatMap(({ data, preData }) => [preData, data]).filter(isStrategy);
  const current = environments.flatMap(({ strategies }) => strategies.map((strategy, index) => ({ strategy, index })));
  return new Map([
    ...former.map((strategy) => [strategy.id ?? '', strategyTitle(strategy)] as const),
    ...current.map(({ strategy, index }) => [strategy.id ?? '', strategyTitle(strategy, index + 1)] as const),
  ]);
}

function isStrategy(state: unknown): state is Strategy {
  return (
    typeof state === 'object' && state !== null && 'id' in state && 'constraints' in state && 'parameters' in state
  );
}

/** Lists the differences of one document, in words. */
export function partsOf(
  { kind, id, parts }: DocumentDifference,
  names: StrategyNames,
  roles: Roles = [],
): readonly Difference[] {
  const place = kind === 'flag' ? '' : kind === 'segment' ? segmentName(Number(id)) : `${kind} ${id}`;
  return parts
    .filter(({ path }) => path !== '' && path !== '/archivedAt')
    .map(({ path, before, after }) => ({
      place,
      what: wordsOf(path, names),
      before: valueText(path, before, roles),
      after: valueText(path, after, roles),
    }));
}

interface FlagState {
  readonly environments: readonly FlagEnvironment[];
  readonly dependencies?: readonly unknown[];
}

/** Lists the differences of the documents of a plan, in words. Names the flags if there are several. */
export function plannedDifferences(documents: readonly PlannedDocument[], roles?: Roles): readonly Difference[] {
  return documents.flatMap(({ kind, id, before, after }) => {
    const isFlag = kind === 'flag' && before !== null && after !== null;
    const [from, to] = isFlag ? [inFull(before, after), inFull(after, before)] : [before, after];
    const names = strategyNames(
      [],
      isFlag ? [...inFull(before, after).environments, ...inFull(after, before).environments] : [],
    );
    const parts = partsOf({ kind, id, parts: compareStates(from, to) }, names, roles);
    return kind === 'flag' && documents.length > 1 ? parts.map((part) => ({ ...part, place: id })) : parts;
  });
}

/** Adds defaults that are not stored: flags without dependencies, and environments that are off. */
function inFull(state: unknown, other: unknown): FlagState {
  const [{ environments, ...flag }, { environments: others }] = [state, other] as [FlagState, FlagState];
  const missing = others.filter(({ name }) => !environments.some((environment) => environment.name === name));
  const added = missing.map(({ name }) => ({ name, enabled: false, strategies: [] }));
  return { dependencies: [], ...flag, environments: [...environments, ...added] };
}

/** Members that only contain other members. */
const CONTAINERS = new Set(['environments', 'strategies', 'parameters']);
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Describes a JSON Pointer in words: "production · strategy 2, User IDs · userIds". */
export function wordsOf(pointer: string, names: StrategyNames = new Map()): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .filter((part) => !CONTAINERS.has(part))
    .map((part) => names.get(part) ?? (UUID.test(part) ? 'a strategy' : part))
    .join(' · ');
}

/** Formats the value at a JSON Pointer; undefined if it does not exist. */
export function valueText(pointer: string, value: unknown, roles: Roles = []): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'boolean' && pointer.endsWith('/enabled')) return value ? 'on' : 'off';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && pointer.endsWith('/weight')) return percent(value);
  if (Array.isArray(value) && pointer.endsWith('/segments')) return value.map(segmentName).join(', ') || 'empty';
  return (typeof value === 'object' ? objectText(value, roles) : String(value)) || 'empty';
}

function objectText(value: object, roles: Roles): string {
  if ('constraints' in value && 'parameters' in value) return describeStrategy(value as Strategy);
  if ('roleId' in value) return roles.find(({ id }) => id === value.roleId)?.name ?? `role ${value.roleId}`;
  if ('weight' in value) return describeVariant(value as Variant);
  if ('flag' in value && 'enabled' in value) return value.enabled ? 'on' : 'off';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  if (Array.isArray(value) && value.every((item) => 'contextName' in item)) {
    return value.map((constraint) => `${constraint.contextName} ${describeConstraint(constraint)}`).join(' and ');
  }
  return JSON.stringify(value);
}
