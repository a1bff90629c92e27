import crypto from 'node:crypto';
import { requestDocuments } from '../../src/features/change-requests/change-request.kind.js';
import { policyDocuments } from '../../src/features/change-requests/policy.kind.js';
import { consumerDocuments } from '../../src/features/consumers/consumer.js';
import { dependencyEdges } from '../../src/features/flags/flag.js';
import { flagDocuments } from '../../src/features/flags/flag.kind.js';
import { projectDocuments } from '../../src/features/projects/project.kind.js';
import { segmentRegistries } from '../../src/features/segments/segment.js';
import { segmentDocuments } from '../../src/features/segments/segment.kind.js';
import { tokenDocuments } from '../../src/features/tokens/token.kind.js';
import { type Flags, openFlags } from '../../src/index.js';
import type { Aggregate } from '../../src/storage/document-reader.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import type { UsageStorage } from '../../src/storage/usage/port.js';
import { type FaultyStorage, faultyStorage } from '../../src/testing.js';
import { withNumberedSets } from '../invariants/stored-content.js';
import { furnish } from '../operations.js';
import { SILENT } from '../replica/silent.js';
import { settableClock } from '../settable-clock.js';
import { type FaultyUsage, faultyUsage, withUsage } from '../usage/faulty-usage.js';

type Documents = Pick<Aggregate<unknown, never>, 'kind' | 'evolve'>;

const AGGREGATES = [flagDocuments, projectDocuments, segmentDocuments, tokenDocuments] as readonly Documents[];
const KINDS = [
  ...AGGREGATES,
  dependencyEdges,
  segmentRegistries,
  consumerDocuments,
  requestDocuments,
  policyDocuments,
].map(({ kind }) => kind);

/** An engine on storages with injectable faults, and access to their contents without the faults. */
export interface World {
  readonly flags: Flags;
  readonly storage: FaultyStorage;
  readonly usage: FaultyUsage;
  readonly stored: FlagsStorage;
  /** The errors that the host received. */
  readonly told: unknown[];
  /** All stored data: documents, events, usage. */
  readonly content: () => Promise<unknown>;
  /** Restarts the ids, so that a repeated attempt creates the same ones. */
  readonly resetIds: () => void;
}

afterAll(() => jest.restoreAllMocks());

export async function createWorld(stored: FlagsStorage): Promise<World> {
  const { now } = settableClock();
  const told: unknown[] = [];
  const [storage, kept] = [faultyStorage(stored), memoryUsage()];
  const usage = faultyUsage(kept);
  let ids = 0;
  // Makes the random secrets of tokens as repeatable as the ids.
  jest.spyOn(crypto, 'randomBytes').mockImplementation(((size: number) => Buffer.alloc(size, ++ids)) as never);
  const newId = () => `id-${++ids}`;
  const flags = await openFlags({
    ...SILENT,
    storage: withUsage(storage, usage),
    usage: { interval: 0 },
    now,
    newId,
    onError: (error) => told.push(error),
  });
  await furnish(flags);
  return {
    flags,
    storage,
    usage,
    stored,
    told,
    content: async () => ({ ...(await storedIn(stored)), usage: await countedIn(kept) }),
    resetIds: () => {
      ids = 100;
    },
  };
}

async function storedIn(storage: FlagsStorage) {
  const documents = [];
  for (const kind of KINDS) {
    for (const part of ['body', 'summary'] as const) documents.push(await storage.list({ kind, part }));
  }
  const { events } = await storage.events({ order: 'oldest-first', limit: 10_000 });
  return { documents: documents.flat(), events: withNumberedSets(events) };
}

async function countedIn(usage: UsageStorage) {
  const applications = await usage.applications({ instances: true });
  return {
    applications,
    pairs: await usage.sum({ resolution: 'ever', by: ['application', 'flag'] }),
    counts: await usage.sum({ resolution: 'minute', by: ['flag'] }),
    lastSeen: await usage.lastSeen(['checkout', 'new', 'old']),
  };
}

/** Every document equals its replayed events. */
export async function expectReplayed(storage: FlagsStorage): Promise<void> {
  const { events } = await storage.events({ order: 'oldest-first', limit: 10_000 });
  for (const { kind, evolve } of AGGREGATES) {
    const states = new Map<string, unknown>();
    for (const event of events) {
      if (event.subject.kind !== kind) continue;
      states.set(event.subject.id, evolve(states.get(event.subject.id) as never, event as never));
    }
    const listed = await storage.list({ kind, part: 'body' });
    const replayed = [...states].filter(([, state]) => state !== undefined);
    expect(new Map(listed.map(({ key, content }) => [key.id, content]))).toEqual(new Map(replayed));
  }
}

/** Evaluates like an instance that opens now. */
export async function expectCurrent({ flags, stored }: World): Promise<void> {
  expect(await flags.refresh()).toMatchObject({ state: 'current' });
  const keptOpen = withUsage({ ...stored, close: () => undefined }, memoryUsage());
  const fresh = await openFlags({ ...SILENT, storage: keptOpen, usage: { interval: 0 } });
  for (const { name: environment } of flags.settings.environments) {
    const here = flags.configuration({ environment });
    const there = fresh.configuration({ environment });
    expect([here.flags, here.segments]).toEqual([there.flags, there.segments]);
  }
  await fresh.close();
}
