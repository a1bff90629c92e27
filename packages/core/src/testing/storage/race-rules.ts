import assert from 'node:assert/strict';
import type { CommitResult, FlagsStorage } from '../../storage/port.js';
import { feedWhile, readWhile } from './event-rules.js';
import {
  assertEqual,
  commit,
  eventsOf,
  flag,
  newEvent,
  onlyWinner,
  project,
  put,
  type StorageRule,
} from './samples.js';

export function raceRules(rule: StorageRule): void {
  rule('lets exactly one of fifty concurrent creations succeed', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    const results = await contend(storages, 50, (number) => ({
      writes: [put(flag('wanted'), { body: number })],
      events: [newEvent(flag('wanted'), { data: number })],
    }));
    const winner = onlyWinner(results);
    for (const result of results) if (!result.ok) assertEqual(result.conflict, flag('wanted'));
    assertEqual(await storage.get(flag('wanted')), {
      key: flag('wanted'),
      parent: null,
      revision: 1,
      body: winner,
    });
    assertEqual(
      (await eventsOf(storage)).map(({ data }) => data),
      [winner],
    );
  });

  rule('lets exactly one of ten concurrent changes succeed, thirty times', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    const key = flag('busy');
    await commit(storage, { writes: [put(key)] });
    for (let expected = 1; expected <= 30; expected++) {
      const results = await contend(storages, 10, (number) => ({ writes: [put(key, { expected, body: number })] }));
      const winner = onlyWinner(results);
      assertEqual(await storage.get(key), { key, parent: null, revision: expected + 1, body: winner });
    }
  });

  rule(
    'lets exactly one of two commits succeed that check what the other writes, three hundred times',
    async (storage, again) => {
      const storages = [storage, (await again()) ?? storage];
      const revisions = [1, 1];
      const owners = [flag('a'), flag('b')] as const;
      await commit(storage, { writes: owners.map((key) => put(key)) });
      for (let round = 0; round < 300; round++) {
        const expected = (owner: number) => revisions[owner] ?? 0;
        const results = await contend(storages, 2, (number) => ({
          writes: [put(owners[number === 0 ? 0 : 1], { expected: expected(number) })],
          checks: [{ key: owners[number === 0 ? 1 : 0], expected: expected(1 - number) }],
        }));
        const winner = onlyWinner(results);
        revisions[winner] = expected(winner) + 1;
      }
    },
  );

  rule('lets either the deletion of a parent or a creation under it succeed, fifty times', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    for (let round = 0; round < 50; round++) {
      const parent = `p${round}`;
      await commit(storage, { writes: [put(project(parent))] });
      const results = await contend(storages, 2, (number) =>
        (number + round) % 2 === 0
          ? { writes: [{ key: project(parent), expected: 1, deleted: true }], vacant: [{ kind: 'flag', parent }] }
          : { writes: [put(flag(parent), { parent })], checks: [{ key: project(parent), expected: 1 }] },
      );
      onlyWinner(results);
      const survivors = [await storage.get(project(parent)), await storage.get(flag(parent))];
      assert.ok(survivors.every(Boolean) || !survivors.some(Boolean), 'a document is left under a deleted parent');
    }
  });

  rule('orders the events of one subject by its revisions, with four concurrent writers', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    await commit(storage, { writes: [put(flag('shared'))], events: [newEvent(flag('shared'))] });
    await Promise.all([0, 1, 2, 3].map((writer) => writeUntilWon(storages[writer % 2] ?? storage, 10)));
    const events = await eventsOf(storage, { filter: { subject: flag('shared') } });
    assertEqual(
      events.map(({ revision }) => revision),
      Array.from({ length: 41 }, (_, index) => index + 1),
    );
  });

  rule('returns every event once and in order to a feed reader, while four writers commit', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    const writers = [0, 1, 2, 3].map((writer) => () => writeOwn(storages[writer % 2] ?? storage, `w${writer}`, 50));
    const seen = await feedWhile(storage, writers);
    assertEqual(seen, await eventsOf(storage));
    assert.equal(new Set(seen.map(({ id }) => id)).size, 200);
    for (const writer of ['w0', 'w1', 'w2', 'w3']) {
      const revisions: number[] = seen.filter(({ subject }) => subject.id === writer).map(({ revision }) => revision);
      assertEqual(
        revisions,
        Array.from({ length: 50 }, (_, index) => index + 1),
      );
    }
  });

  rule('inserts no event before a settled one, while four writers commit', async (storage, again) => {
    const storages = [storage, (await again()) ?? storage];
    const writers = [0, 1, 2, 3].map((writer) => () => writeOwn(storages[writer % 2] ?? storage, `w${writer}`, 25));
    const seen = await readWhile(writers, async () => {
      const { events } = await storage.events({ order: 'newest-first', settled: true, limit: 1000 });
      return events.toReversed();
    });
    const all = await eventsOf(storage);
    for (const settled of seen) assertEqual(settled, all.slice(0, settled.length));
    assert.equal(all.length, 100);
  });
}

type Commits = (contender: number) => Partial<Parameters<FlagsStorage['commit']>[0]>;

/** Starts all commits before it awaits one, on each storage in turn. */
function contend(storages: readonly FlagsStorage[], contenders: number, commits: Commits): Promise<CommitResult[]> {
  const started = Array.from({ length: contenders }, async (_, contender) => {
    const storage = storages[contender % storages.length];
    assert.ok(storage);
    return storage.commit({ writes: [], events: [], ...commits(contender) });
  });
  return Promise.all(started);
}

/** Reads, changes and retries after conflicts, until `times` commits have succeeded. */
async function writeUntilWon(storage: FlagsStorage, times: number): Promise<void> {
  const key = flag('shared');
  let won = 0;
  while (won < times) {
    const expected = (await storage.get(key))?.revision ?? 0;
    const result = await storage.commit({ writes: [put(key, { expected })], events: [newEvent(key)] });
    if (result.ok) won += 1;
  }
}

async function writeOwn(storage: FlagsStorage, id: string, times: number): Promise<void> {
  for (let expected = 0; expected < times; expected++) {
    await commit(storage, { writes: [put(flag(id), { expected })], events: [newEvent(flag(id))] });
  }
}
