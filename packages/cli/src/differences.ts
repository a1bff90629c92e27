import type { ImportedDifference } from '@flags/core';
import type { WireEvent } from './describe.js';

type Part = ImportedDifference['parts'][number];
type Members = Record<string, unknown>;

interface NewEnvironment {
  readonly name: string;
  readonly enabled?: boolean;
  readonly strategies?: readonly unknown[];
}

/** Returns the differences of a document as events, so that `plan` and `apply` describe them like other commands. */
export function eventsOf({ kind, parts }: ImportedDifference): readonly WireEvent[] {
  const [first] = parts;
  if (first?.path === '') return wholeDocument(kind, first);
  const updates = new Map<
    string,
    { readonly type: string; environment: string | null; data: Members; preData: Members }
  >();
  const events: WireEvent[] = [];
  for (const part of parts) {
    const fact = factOf(kind, part);
    if (fact === undefined) continue;
    const { type, environment = null, item = '', member } = fact;
    if (member === undefined) {
      events.push({ type, environment, data: part.after, preData: part.before });
      continue;
    }
    const key = JSON.stringify([type, environment, item]);
    const known = updates.get(key) ?? { type, environment, data: {}, preData: {} };
    if (!updates.has(key)) events.push(known);
    updates.set(key, known);
    known.data[member] = itemOf(part.after);
    known.preData[member] = itemOf(part.before);
  }
  return events;
}

/** A list of one item is described by its name and weight, or its test. */
function itemOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : value;
}

function wholeDocument(kind: ImportedDifference['kind'], { before, after }: Part): readonly WireEvent[] {
  const prefix = kind === 'flag' ? 'feature' : kind;
  if (kind !== 'flag' || after === null) {
    return [{ type: `${prefix}-${after === null ? 'deleted' : 'created'}`, data: after, preData: before }];
  }
  const {
    environments = [],
    variants = [],
    dependencies = [],
    ...data
  } = after as Members & {
    readonly environments?: readonly NewEnvironment[];
    readonly variants?: readonly unknown[];
    readonly dependencies?: readonly unknown[];
  };
  return [
    { type: 'feature-created', data, preData: null },
    ...environments.flatMap(newEnvironment),
    ...(variants.length > 0 ? [{ type: 'feature-variants-updated', data: { variants }, preData: null }] : []),
    ...dependencies.map((one) => ({ type: 'feature-dependency-added', data: one, preData: null })),
  ];
}

function newEnvironment({ name, enabled, strategies = [] }: NewEnvironment): readonly WireEvent[] {
  const added = strategies.map((data) => ({ type: 'feature-strategy-add', environment: name, data, preData: null }));
  return enabled ? [...added, { type: 'feature-environment-enabled', environment: name }] : added;
}

/** Returns an event, or with `member` an update of a part of the document. */
interface Fact {
  readonly type: string;
  readonly environment?: string;
  readonly item?: string;
  readonly member?: string;
}

function factOf(kind: ImportedDifference['kind'], { path, before, after }: Part): Fact | undefined {
  const [name = '', ...rest] = namesIn(path);
  if (kind !== 'flag') return { type: `${kind}-updated`, member: [name, ...rest].join(' ') };
  switch (name) {
    case 'archivedAt':
      return undefined;
    case 'archived':
      return { type: after === true ? 'feature-archived' : 'feature-revived' };
    case 'project':
      return { type: 'feature-project-change' };
    case 'variants':
      return { type: 'feature-variants-updated', member: rest.length === 0 ? 'order' : rest.join(' ') };
    case 'dependencies': {
      if (rest.length === 1) return { type: `feature-dependency-${changeOf({ before, after })}` };
      return { type: 'feature-dependency-updated', item: rest[0] ?? '', member: rest.slice(1).join(' ') || 'order' };
    }
    case 'environments':
      return environmentFact(rest, { before, after });
    default:
      return { type: 'feature-metadata-updated', member: [name, ...rest].join(' ') };
  }
}

type Sides = Pick<Part, 'before' | 'after'>;

function environmentFact([environment = '', list, id, ...rest]: readonly string[], sides: Sides): Fact {
  if (list === 'enabled') {
    return { type: `feature-environment-${sides.after === true ? 'enabled' : 'disabled'}`, environment };
  }
  if (list === undefined) return { type: 'feature-environment-configured', environment };
  if (id === undefined) return { type: 'feature-strategy-order', environment };
  if (rest.length > 0) {
    const member = rest.filter((name) => name !== 'parameters').join(' ') || 'parameters';
    return { type: 'feature-strategy-update', environment, item: id, member };
  }
  const type = {
    added: 'feature-strategy-add',
    removed: 'feature-strategy-remove',
    updated: 'feature-strategy-update',
  };
  return { type: type[changeOf(sides)], environment };
}

function changeOf({ before, after }: Sides): 'added' | 'removed' | 'updated' {
  if (before === null) return 'added';
  return after === null ? 'removed' : 'updated';
}

/** Returns the names of a JSON Pointer. */
function namesIn(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
