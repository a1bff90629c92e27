import { type DependencyEdge, edgeId, type FlagState, segmentsOf } from '../../src/features/flags/flag.js';
import { evolveFlag } from '../../src/features/flags/flag.kind.js';
import { LIMITS } from '../../src/index.js';
import { nameOf } from '../../src/storage/document-reader.js';
import type { Content } from './stored-content.js';

type Event = Content['events'][number];

/**
 * A segment, and the change sets that wrote it so far: by its own events, and, at most, when a reference to it was
 * added.
 */
interface SegmentWrites {
  readonly name: string;
  readonly events: ReadonlySet<string>;
  readonly touches: ReadonlySet<string>;
}

/** The documents at a point of the log. */
interface World {
  readonly flags: Map<string, FlagState>;
  readonly segments: Map<string, SegmentWrites>;
  /** The names of the flags that depend on one of this name. */
  readonly children: Map<string, Set<string>>;
  lastSegment: number;
}

/**
 * Asserts at every point of the log that new dependencies have valid parents, and that referenced parents and segments
 * exist. Asserts that the index documents match at its end.
 *
 * @returns how often each document was touched for being referred to, which raises its revision without an event
 */
export function expectSoundReferences({ events, documents }: Content): ReadonlyMap<string, number> {
  const world: World = { flags: new Map(), segments: new Map(), children: new Map(), lastSegment: 0 };
  const touched = new Map<string, Set<string>>();
  const changed = new Map<string, Set<string>>();
  for (const event of events) {
    const set = event.changeSet;
    if (event.subject.kind === 'segment') followSegment(world, event, set);
    if (event.subject.kind !== 'flag') continue;
    add(changed, nameOf(event.subject), set);
    for (const parent of followFlag(world, event, set)) add(touched, parent, set);
  }
  expectIndexes(world, documents);
  const flags = [...touched].map(([name, sets]) => [name, sizeWithout(sets, changed.get(name))] as const);
  return new Map([...flags, ...touchesOfSegments(world, documents)]);
}

function add(sets: Map<string, Set<string>>, name: string, set: string): void {
  sets.set(name, new Set(sets.get(name)).add(set));
}

/** A set that also changes a document writes it once. */
function sizeWithout(sets: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): number {
  return [...sets].filter((set) => !others.has(set)).length;
}

/** Strategies may name a missing segment: one that is created at the same moment is not touched. */
function touchesOfSegments({ segments }: World, documents: Content['documents']): readonly [string, number][] {
  return documents
    .filter(({ key }) => key.kind === 'segment')
    .map(({ key, revision }) => {
      const { events, touches } = segments.get(key.id) ?? NO_WRITES;
      return [nameOf(key), Math.min(sizeWithout(touches, events), revision - events.size)];
    });
}

const NO_WRITES: Pick<SegmentWrites, 'events' | 'touches'> = { events: new Set(), touches: new Set() };

function followSegment(world: World, { type, subject: { id }, data, revision }: Event, set: string): void {
  const { events, touches } = world.segments.get(id) ?? NO_WRITES;
  if (type === 'segment-deleted') {
    const users = [...world.flags.values()].filter((flag) => segmentsOf(flag).includes(Number(id)));
    // Without the touch, the reference would follow the deletion.
    if (revision === events.size + sizeWithout(touches, events) + 1) expect(users).toEqual([]);
    world.segments.delete(id);
    return;
  }
  if (type === 'segment-created') {
    expect(world.segments.has(id)).toBe(false);
    expect(Number(id)).toBeLessThanOrEqual(LIMITS.segmentId);
    world.lastSegment = Math.max(world.lastSegment, Number(id));
  }
  const { name } = data as { readonly name: string };
  const others = [...world.segments].filter(([other]) => other !== id).map(([, its]) => its.name);
  expect(others).not.toContain(name);
  world.segments.set(id, { name, events: new Set(events).add(set), touches });
}

/** Returns the names of the parents that the flag starts to depend on. */
function followFlag(world: World, event: Event, set: string): readonly string[] {
  const { id } = event.subject;
  const before = world.flags.get(id);
  const flag = evolveFlag(before, event as never);
  if (flag) world.flags.set(id, flag);
  else world.flags.delete(id);
  const isMove = event.type === 'flag-moved';
  for (const segment of newOf(segmentsOf, isMove ? undefined : before, flag)) touchSegment(world, `${segment}`, set);
  const parents = newOf(parentsOf, before, flag);
  for (const parent of parents) expectFitParent(world, flag, parent);
  for (const parent of parents) world.children.set(parent, new Set(world.children.get(parent)).add(id));
  for (const parent of newOf(parentsOf, flag, before)) world.children.get(parent)?.delete(id);
  if (event.type === 'flag-archived') expectNoLiveChildren(world, id);
  return parents.map((parent) => nameOf({ kind: 'flag', id: parent }));
}

function touchSegment({ segments }: World, id: string, set: string): void {
  const segment = segments.get(id);
  if (segment) segments.set(id, { ...segment, touches: new Set(segment.touches).add(set) });
}

/** No flag depends on one that depends on another, so there are no cycles either. */
function expectFitParent({ flags, children }: World, child: FlagState | undefined, name: string): void {
  const parent = flags.get(name);
  expect(parent).toMatchObject({ project: child?.project, archived: false });
  expect(parent && parentsOf(parent)).toEqual([]);
  expect([...(children.get(child?.name ?? '') ?? [])]).toEqual([]);
}

function expectNoLiveChildren({ flags, children }: World, parent: string): void {
  const live = [...(children.get(parent) ?? [])].filter((child) => !flags.get(child)?.archived);
  expect(live).toEqual([]);
}

function expectIndexes({ flags, segments, lastSegment }: World, documents: Content['documents']): void {
  const bodiesOf = (kind: string) => documents.filter(({ key }) => key.kind === kind);
  const edges = [...flags.values()].flatMap((flag) =>
    parentsOf(flag).map((parent): DependencyEdge => ({ parent, child: flag.name })),
  );
  const stored = bodiesOf('dependency').map(({ key, content }) => [key.id, content]);
  expect(new Map(stored as [string, unknown][])).toEqual(new Map(edges.map((edge) => [edgeId(edge), edge])));
  const registry = bodiesOf('segment-registry').map(({ content }) => content as { lastId: number; names: string[] });
  const expected =
    lastSegment === 0
      ? []
      : [{ lastId: lastSegment, names: [...segments.values()].map(({ name }) => name).toSorted() }];
  expect(registry.map(({ lastId, names }) => ({ lastId, names: names.toSorted() }))).toEqual(expected);
}

function parentsOf(flag: FlagState): readonly string[] {
  return flag.dependencies.map((dependency) => dependency.flag);
}

/** Returns the items that were added. */
function newOf<T>(
  partsOf: (flag: FlagState) => readonly T[],
  before: FlagState | undefined,
  after: FlagState | undefined,
): readonly T[] {
  const known = before ? partsOf(before) : [];
  return after ? partsOf(after).filter((part) => !known.includes(part)) : [];
}
