import { isObject } from '../base/json.js';
import { compareStates, memberOf, type PartDifference, toPointer } from '../base/parts.js';
import { METADATA } from '../flags/flag.js';

/** A fact as events store it. */
export interface DocumentEvent {
  readonly type: string;
  readonly environment: string | null;
  readonly data: unknown;
  readonly before: unknown;
}

/** The names of the members, items and keys that lead to a part. */
type Path = readonly string[];
type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the differences that events make to an existing document, without reading it: every event contains its part
 * before and after.
 */
export function compareByEvents(events: readonly DocumentEvent[]): readonly PartDifference[] {
  const parts = new Map<string, { readonly path: Path; readonly before: unknown; after: unknown }>();
  for (const event of events) {
    for (const { path, before, after } of partsOf(event)) {
      const name = toPointer(path);
      const known = parts.get(name);
      if (known) known.after = after;
      else parts.set(name, { path, before, after });
    }
  }
  return [...parts.values()].flatMap(({ path, before, after }) => compareStates(before, after, toPointer(path)));
}

interface Part {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

function partsOf({ type, environment, data, before }: DocumentEvent): readonly Part[] {
  const [to, from] = [toMembers(data), toMembers(before)];
  const whole = (path: Path): Part => ({ path, before: before ?? null, after: data ?? null });
  switch (type) {
    case 'environment-enabled':
    case 'environment-disabled':
      return [switchPart(environment, from.enabled, to.enabled)];
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return [whole(['environments', `${environment}`, 'strategies', `${to.id ?? from.id}`])];
    case 'dependency-added':
    case 'dependency-updated':
    case 'dependency-removed':
      return [whole(['dependencies', `${to.flag ?? from.flag}`])];
    case 'member-added':
    case 'member-role-changed':
    case 'member-removed':
      return [whole(['members', `${to.userId ?? from.userId}`])];
    case 'flag-updated':
      return memberParts(from, to, (name) => METADATA.some((member) => member === name));
    case 'flag-revived':
      return [
        { path: ['archived'], before: true, after: false },
        ...toNames(from.enabledIn).map((name) => switchPart(name, true, false)),
      ];
    case 'flag-archived':
      return memberParts(from, to, (name) => name !== 'enabledIn');
    case 'variants-updated':
      return [{ path: ['variants'], before: from.variants ?? [], after: to.variants ?? [] }];
    default:
      return memberParts(from, to, () => true);
  }
}

function switchPart(environment: string | null, before: unknown, after: unknown): Part {
  return { path: ['environments', `${environment}`, 'enabled'], before, after };
}

function memberParts(from: Members, to: Members, isShown: (name: string) => boolean): readonly Part[] {
  const names = Object.keys({ ...from, ...to }).filter(isShown);
  return names.map((name) => ({ path: [name], before: memberOf(from, name), after: memberOf(to, name) }));
}

function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

function toMembers(value: unknown): Members {
  return isObject(value) ? value : {};
}
