import { nameOf } from '../../src/changes/reader.js';
import { dependenciesOf, evolveFlag, type FlagState, segmentsOf } from '../../src/flags/flag.js';
import { type DependencyEdge, edgeId } from '../../src/flags/flag-documents.js';
import type { Content } from './stored-content.js';

type Event = Content['events'][number];

/** A segment, and how often it was written so far: by its own events, and at most for being referred to. */
interface SegmentWrites {
  readonly name: string;
  readonly events: number;
  readonly touches: number;
}

/** What there is at a point of the log. */
interface World {
  readonly flags: Map<string, FlagState>;
  readonly segments: Map<string, SegmentWrites>;
  /** The names of the flags that depend on one of this name. */
  readonly children: Map<string, Set<string>>;
  lastSegment: number;
}

/**
 * Parents are there and fit when flags begin to depend on them, and they and segments stay as long as the rules say, at every
 * point of the log; the documents that are kept for it agree with them at its end.
 *
 * @returns how often each document was touched for being referred to, which raises its revision without an event
 */
export function expectSoundReferences({ events, documents }: Content): ReadonlyMap<string, number> {
  const world: World = { flags: new Map(), segments: new Map(), children: new Map(), lastSegment: 0 };
  const touched = new Map<string, number>();
  for (const event of events) {
    if (event.subject.kind === 'segment') followSegment(world, event);
    if (event.subject.kind !== 'flag') continue;
    for (const parent of followFlag(world, event)) touched.set(parent, (touched.get(parent) ?? 0) + 1);
  }
  expectIndexes(world, documents);
  return new Map([...touched, ...touchesOfSegments(world, documents)]);
}

/** Strategies may name a segment that is not there: one that comes into being at the same moment is not touched. */
function touchesOfSegments({ segments }: World, documents: Content['documents']): readonly [string, number][] {
  return documents
    .filter(({ key }) => key.kind === 'segment')
    .map(({ key, revision }) => {
      const { events, touches } = segments.get(key.id) ?? { events: 0, touches: 0 };
      return [nameOf(key), Math.min(touches, revision - events)];
    });
}

function followSegment(world: World, { type, subject: { id }, data, revision }: Event): void {
  const { events, touches } = world.segments.get(id) ?? { events: 0, touches: 0 };
  if (type === 'segment-deleted') {
    const users = [...world.flags.values()].filter((flag) => segmentsOf(flag).includes(Number(id)));
    // Where one has not touched it, it was as if it had come after the deletion.
    if (revision === events + touches + 1) expect(users).toEqual([]);
    world.segments.delete(id);
    return;
  }
  if (type === 'segment-created') {
    expect(Number(id)).toBe(world.lastSegment + 1);
    world.lastSegment += 1;
  }
  const { name } = data as { readonly name: string };
  const others = [...world.segments].filter(([other]) => other !== id).map(([, its]) => its.name);
  expect(others).not.toContain(name);
  world.segments.set(id, { name, events: events + 1, touches });
}

/** Gives the names of the parents that the flag begins to depend on. */
function followFlag(world: World, event: Event): readonly string[] {
  const { id } = event.subject;
  const before = world.flags.get(id);
  const flag = evolveFlag(before, event as never);
  if (flag) world.flags.set(id, flag);
  else world.flags.delete(id);
  for (const segment of newOf(segmentsOf, before, flag)) touchSegment(world, `${segment}`);
  const parents = newOf(parentsOf, before, flag);
  for (const parent of parents) expectFitParent(world, flag, parent);
  for (const parent of parents) world.children.set(parent, new Set(world.children.get(parent)).add(id));
  for (const parent of newOf(parentsOf, flag, before)) world.children.get(parent)?.delete(id);
  if (event.type === 'flag-archived') expectNoLiveChildren(world, id);
  return parents.map((parent) => nameOf({ kind: 'flag', id: parent }));
}

function touchSegment({ segments }: World, id: string): void {
  const segment = segments.get(id);
  if (segment) segments.set(id, { ...segment, touches: segment.touches + 1 });
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
  return dependenciesOf(flag).map((dependency) => dependency.flag);
}

/** What it has after that it had not before. */
function newOf<T>(
  partsOf: (flag: FlagState) => readonly T[],
  before: FlagState | undefined,
  after: FlagState | undefined,
): readonly T[] {
  const known = before ? partsOf(before) : [];
  return after ? partsOf(after).filter((part) => !known.includes(part)) : [];
}
