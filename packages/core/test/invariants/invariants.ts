import { environmentOf, type FlagState, rolloutsIn } from '../../src/features/flags/flag.js';
import { flagDocuments } from '../../src/features/flags/flag.kind.js';
import type { ProjectState } from '../../src/features/projects/project.js';
import { projectDocuments } from '../../src/features/projects/project.kind.js';
import { segmentDocuments } from '../../src/features/segments/segment.kind.js';
import { tokenDocuments } from '../../src/features/tokens/token.kind.js';
import { type Aggregate, nameOf } from '../../src/storage/document-reader.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { expectSoundReferences } from './references.js';
import { type Content, contentOf } from './stored-content.js';

const OWNER = 4;
const AGGREGATES = new Map<string, Aggregate<unknown, never>>(
  [flagDocuments, projectDocuments, segmentDocuments, tokenDocuments].map((one) => [
    one.kind,
    one as Aggregate<unknown, never>,
  ]),
);

/** Asserts the invariants of a storage. */
export async function expectInvariants(storage: FlagsStorage): Promise<void> {
  const content = await contentOf(storage);
  const histories = historiesOf(content);
  for (const history of histories.values()) expectSound(history);
  expectReplayed(content, histories, expectSoundReferences(content));
}

/** A document's states, one after each commit, and the revisions in their events. */
interface History {
  readonly kind: string;
  readonly states: unknown[];
  readonly revisions: number[];
}

function historiesOf({ events }: Content): ReadonlyMap<string, History> {
  const histories = new Map<string, History>();
  for (const event of events) {
    const { kind } = event.subject;
    const history = histories.get(nameOf(event.subject)) ?? { kind, states: [], revisions: [] };
    histories.set(nameOf(event.subject), history);
    const state = AGGREGATES.get(kind)?.evolve(history.states.at(-1), event as never);
    if (history.revisions.at(-1) === event.revision) history.states.pop();
    else history.revisions.push(event.revision);
    history.states.push(state);
  }
  return histories;
}

/** Revisions without an event are counted at the end. */
function expectSound({ kind, states, revisions }: History): void {
  expect(revisions).toEqual(revisions.toSorted((one, other) => one - other));
  if (kind === 'flag') for (const flag of states) expectSoundFlag(flag as FlagState | undefined);
  if (kind === 'project') expectOwnersKept(states as (ProjectState | undefined)[]);
}

function expectSoundFlag(flag: FlagState | undefined): void {
  if (!flag) return;
  for (const { enabled, strategies } of flag.environments) {
    if (enabled) expect(strategies.length).toBeGreaterThan(0);
    expect(new Set(strategies.map(({ id }) => id)).size).toBe(strategies.length);
  }
  for (const { environment, strategy } of rolloutsIn(flag)) {
    const { enabled, strategies } = environmentOf(flag, environment);
    const found = strategies.find(({ id }) => id === strategy);
    expect([flag.archived, enabled, found?.disabled ?? false]).toEqual([false, true, false]);
    expect(found).toBeDefined();
  }
  const sum = flag.variants.reduce((total, { weight }) => total + weight, 0);
  expect(sum).toBe(flag.variants.length === 0 ? 0 : 1000);
}

function expectOwnersKept(states: readonly (ProjectState | undefined)[]): void {
  states.forEach((state, index) => {
    const before = states[index - 1];
    if (before && state && ownersOf(before) > 0) expect(ownersOf(state)).toBeGreaterThan(0);
  });
}

function ownersOf({ members }: ProjectState): number {
  return members.filter(({ roleId }) => roleId === OWNER).length;
}

function expectReplayed(
  { documents, summaries }: Content,
  histories: ReadonlyMap<string, History>,
  touched: ReadonlyMap<string, number>,
): void {
  const replayed = [...histories].flatMap(([name, { states, revisions }]) => {
    const state = states.at(-1);
    return state === undefined ? [] : [{ name, state, revision: revisions.length + (touched.get(name) ?? 0) }];
  });
  const stored = documents
    .filter(({ key }) => AGGREGATES.has(key.kind))
    .map(({ key, content, revision }) => ({ name: nameOf(key), state: content, revision }));
  expect(new Map(stored.map((one) => [one.name, one]))).toEqual(new Map(replayed.map((one) => [one.name, one])));
  documents.forEach(({ key, parent, content }, index) => {
    const aggregate = AGGREGATES.get(key.kind);
    if (!aggregate) return;
    expect(summaries[index]?.content).toEqual(aggregate.summarize(content));
    expect(parent).toBe(aggregate.parentOf(content));
  });
}
