import type { DomainEvent } from '../../src/base/domain-event.js';
import { FlagsError } from '../../src/base/errors.js';
import { REGISTRY } from '../../src/features.js';
import { type Flags, memoryStorage, openFlags, type PlannedSet } from '../../src/index.js';
import type { SetContext } from '../../src/kernel/changes/change-engine.js';
import { createChangeSetWriter, joinRules } from '../../src/kernel/changes/change-set-writer.js';
import type { PreparedChange, UnitOfWork } from '../../src/kernel/engine.js';
import type { Aggregate, Read, Versioned } from '../../src/storage/document-reader.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { losingRaces } from './losing-races.js';

type Counted = DomainEvent<'project-updated', number>;

describe('the change set writer', () => {
  /** A document that counts; its state is the number of the latest event. */
  const counters: Aggregate<number, Counted> = {
    kind: 'counter',
    evolve: (_, event) => (event.data < 0 ? undefined : event.data),
    parentOf: () => null,
    projectOf: () => null,
    summarize: (count) => ({ count }),
  };

  const counted = (data: number): Counted => ({ type: 'project-updated', data, before: null });

  /** The loop over a storage, and a way to change the counter `a` by a decision on its count (0: there is none). */
  function loopOver(storage: FlagsStorage) {
    let calls = 0;
    const now = () => new Date(Date.UTC(2026, 0, 1) + calls++);
    const feed = { subscriptions: new Set<never>(), ready: async () => undefined, wake: () => undefined };
    const { run } = createChangeSetWriter({
      storage,
      now,
      feed,
      applyUpdates: () => undefined,
      registry: REGISTRY,
      rules: joinRules([]),
    });
    type Decide = (count: number, read: Read) => readonly Counted[] | Promise<readonly Counted[]>;
    type Expected = Pick<PreparedChange, 'ifRevision' | 'revisionOf'>;

    async function change(
      decide: Decide,
      { actor = 'ada', ...expected }: Partial<Pick<SetContext, 'actor'>> & Expected = {},
      id = 'a',
    ) {
      const single: PreparedChange<Versioned<number> | undefined> = {
        ...expected,
        subject: { kind: counters.kind, id },
        decide: async (copy) => {
          const found = await copy.read(counters, id);
          await copy.apply(counters, id, await decide(found?.state ?? 0, copy.read));
        },
        result: ({ read }) => read(counters, id),
      };
      const { documents } = await run([single], { actor });
      return documents && single.result(documents);
    }

    return {
      change,
      events: async () => (await storage.events({ order: 'oldest-first', limit: 1000 })).events,
    };
  }

  const increment = (count: number) => [counted(count + 1)];

  describe('a change', () => {
    it('returns the new state with its revision', async () => {
      const { change } = loopOver(memoryStorage());
      expect(await change(increment)).toEqual({ state: 1, revision: 1 });
      expect(await change(increment)).toEqual({ state: 2, revision: 2 });
    });

    it('returns undefined when it deletes the document', async () => {
      const { change } = loopOver(memoryStorage());
      await change(increment);
      expect(await change(() => [counted(-1)])).toBeUndefined();
      expect(await change(increment)).toEqual({ state: 1, revision: 3 });
    });

    it('writes nothing when nothing changes, and returns the state unchanged', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const { change } = loopOver(storage);
      await change(increment);
      expect(await change(() => [])).toEqual({ state: 1, revision: 1 });
      expect(storage.commits).toHaveLength(1);
    });

    it('folds several events in one commit, each with actor, time and the same revision', async () => {
      const { change, events } = loopOver(memoryStorage());
      expect(await change(() => [counted(5), counted(7)], { actor: 'grace' })).toEqual({ state: 7, revision: 1 });
      const at = '2026-01-01T00:00:00.000Z';
      expect(await events()).toMatchObject([
        { data: 5, revision: 1, actor: 'grace', at, subject: { kind: 'counter', id: 'a' } },
        { data: 7, revision: 1, actor: 'grace', at, subject: { kind: 'counter', id: 'a' } },
      ]);
    });

    it('is not made when the decision refuses it', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const { change } = loopOver(storage);
      const refusal = new Error('refused');
      await expect(change(() => Promise.reject(refusal))).rejects.toBe(refusal);
      expect(storage.commits).toEqual([]);
      expect(await change(increment)).toEqual({ state: 1, revision: 1 });
    });

    it('reads its own writes within a process', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const { change } = loopOver(storage);
      await Promise.all(Array.from({ length: 50 }, () => change(increment)));
      expect(await change(() => [])).toEqual({ state: 50, revision: 50 });
      expect(storage.commits).toHaveLength(50);
    });
  });

  describe('a change that loses a race', () => {
    it('is decided again, with the same time, on the new state', async () => {
      const memory = memoryStorage();
      const storage = losingRaces(memory, 3);
      const { change, events } = loopOver(storage);
      const seen: number[] = [];
      const intruder = loopOver(memory);
      const result = await change(async (count) => {
        seen.push(count);
        if (seen.length <= 3) await intruder.change(increment);
        return increment(count);
      });
      expect(seen).toEqual([0, 1, 2, 3]);
      expect(result).toEqual({ state: 4, revision: 4 });
      const times = storage.commits.map((commit) => commit.events[0]?.at);
      expect(new Set(times)).toEqual(new Set(['2026-01-01T00:00:00.000Z']));
      expect((await events()).map(({ revision }) => revision)).toEqual([1, 2, 3, 4]);
    });

    it('succeeds in the end when it loses 19 times', async () => {
      const { change } = loopOver(losingRaces(memoryStorage(), 19));
      expect(await change(increment)).toEqual({ state: 1, revision: 1 });
    });

    it('fails with too_much_contention after 20 attempts, and has changed nothing', async () => {
      const storage = losingRaces(memoryStorage(), 20);
      const { change, events } = loopOver(storage);
      await expect(change(increment)).rejects.toMatchObject({ name: 'FlagsError', code: 'too_much_contention' });
      expect(storage.commits).toHaveLength(20);
      expect(await events()).toEqual([]);
      expect(await change(increment)).toEqual({ state: 1, revision: 1 });
    });

    it('is refused instead if it names a revision', async () => {
      const memory = memoryStorage();
      const { change } = loopOver(losingRaces(memory, 2));
      await loopOver(memory).change(increment);
      const intruding = async (count: number) => {
        await loopOver(memory).change(increment);
        return increment(count);
      };
      await expect(change(intruding, { ifRevision: 1 })).rejects.toMatchObject({ code: 'revision_mismatch' });
    });
  });

  describe('ifRevision', () => {
    it('permits a change of the state that the caller has seen', async () => {
      const { change } = loopOver(memoryStorage());
      await change(increment);
      expect(await change(increment, { ifRevision: 1 })).toEqual({ state: 2, revision: 2 });
      expect(await change(increment, { ifRevision: [1, 2, 9] })).toEqual({ state: 3, revision: 3 });
    });

    it.each([1, 3, 0, -1, 2.5, [], [1, 3]])('refuses %j where the document is at revision 2', async (ifRevision) => {
      const { change, events } = loopOver(memoryStorage());
      await change(increment);
      await change(increment);
      await expect(change(increment, { ifRevision })).rejects.toMatchObject({ code: 'revision_mismatch' });
      expect(await events()).toHaveLength(2);
    });

    it('refuses any revision of a document that does not exist or was deleted', async () => {
      const { change } = loopOver(memoryStorage());
      await expect(change(increment, { ifRevision: 0 })).rejects.toMatchObject({ code: 'revision_mismatch' });
      await change(increment);
      await change(() => [counted(-1)]);
      await expect(change(increment, { ifRevision: 2 })).rejects.toMatchObject({ code: 'revision_mismatch' });
    });

    it('can be compared with another document than the changed one', async () => {
      const { change } = loopOver(memoryStorage());
      await change(increment, {}, 'source');
      const revisionOf = { kind: counters.kind, id: 'source' };
      const copy = (ifRevision: number) => change(() => [counted(1)], { revisionOf, ifRevision }, 'copy');
      await expect(copy(2)).rejects.toMatchObject({ code: 'revision_mismatch' });
      expect(await copy(1)).toEqual({ state: 1, revision: 1 });
    });
  });

  describe('another document that a decision reads', () => {
    it('is checked once at the commit, and never beside its own write', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const { change } = loopOver(storage);
      await change(increment, {}, 'other');
      await change(async (count, read) => {
        for (const id of ['other', 'a', 'missing', 'other']) await read(counters, id);
        return increment(count);
      });
      expect(storage.commits[1]?.checks).toEqual([{ key: { kind: 'counter', id: 'other' }, expected: 1 }]);
    });

    it('causes a new decision if it has changed', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const { change } = loopOver(storage);
      await change(increment, {}, 'other');
      const seen: number[] = [];
      await change(async (count, read) => {
        seen.push((await read(counters, 'other'))?.state ?? 0);
        if (seen.length === 1) await change(increment, {}, 'other');
        return increment(count);
      });
      expect(seen).toEqual([1, 2]);
      expect(await change(() => [])).toEqual({ state: 1, revision: 1 });
    });

    it('must be named by a string', async () => {
      const { change } = loopOver(memoryStorage());
      const attempt = change((_, read) => read(counters, 7 as unknown as string).then(() => []));
      await expect(attempt).rejects.toMatchObject({ code: 'invalid_input', details: [{ path: '/counter' }] });
    });
  });

  describe('a change that starts to refer to other documents', () => {
    it('gives them a new revision without writing their bodies', async () => {
      const storage = losingRaces(memoryStorage(), 0);
      const flags = await openFlags({ storage });
      const constraint = { contextName: 'userId', operator: 'IN', values: ['x'.repeat(10_000)] } as const;
      const ids: number[] = [];
      for (const name of ['one', 'two'])
        ids.push((await flags.segments.create({ name, constraints: [constraint] })).id);
      for (const name of ['parent', 'child']) await flags.createFlag({ project: 'default' }, { name });
      const child = { project: 'default', flag: 'child' };
      await flags.addStrategy({ ...child, environment: 'production' }, { name: 'default', segments: ids });
      expect(storage.commits.at(-1)?.writes.slice(1)).toEqual(
        ids.map((id) => ({ key: { kind: 'segment', id: `${id}` }, expected: 1, touch: true })),
      );
      await flags.addDependency(child, { flag: 'parent' });
      expect(storage.commits.at(-1)?.writes[1]).toEqual({
        key: { kind: 'flag', id: 'parent' },
        expected: 1,
        touch: true,
      });
      expect(await flags.segments.get({ segment: 1 })).toMatchObject({ revision: 2, constraints: [constraint] });
      await flags.close();
    });
  });
});

describe('cached decisions', () => {
  const counters: Aggregate<number, Counted> = {
    kind: 'counter',
    evolve: (_, event) => event.data,
    parentOf: () => null,
    projectOf: () => null,
    summarize: (count) => ({ count }),
  };

  /** Changes a counter with this cached state. Counts reads and commits. */
  function loopThatRecalls(memory: FlagsStorage, known: Versioned<number> | undefined) {
    const asked = { reads: 0, commits: 0 };
    const storage: FlagsStorage = {
      ...memory,
      get: (key) => {
        asked.reads += 1;
        return memory.get(key);
      },
      commit: (commit) => {
        asked.commits += 1;
        return memory.commit(commit);
      },
    };
    const feed = { subscriptions: new Set<never>(), ready: async () => undefined, wake: () => undefined };
    const { run } = createChangeSetWriter({
      storage,
      now: () => new Date(0),
      feed,
      applyUpdates: () => undefined,
      registry: REGISTRY,
      rules: joinRules([]),
      getCached: () => known,
    });
    type Decide = (count: number) => readonly number[];
    return {
      asked,
      async change(decide: Decide, ifRevision?: number) {
        const { documents } = await run(
          [
            {
              subject: { kind: counters.kind, id: 'a' },
              ifRevision,
              async decide(unit) {
                const counts = decide((await unit.read(counters, 'a'))?.state ?? 0);
                const events = counts.map((data): Counted => ({ type: 'project-updated', data, before: null }));
                await unit.apply(counters, 'a', events);
              },
              result: () => undefined,
            },
          ],
          { actor: 'ada' },
        );
        return documents?.read(counters, 'a');
      },
    };
  }

  /** A storage with the counter at 7, at revision 2. */
  async function counted(): Promise<FlagsStorage> {
    const memory = memoryStorage();
    for (const count of [3, 7]) await loopThatRecalls(memory, undefined).change(() => [count]);
    return memory;
  }

  const increment = (count: number) => [count + 1];

  describe('a change of a known document', () => {
    it('does not read a cached document', async () => {
      const { change, asked } = loopThatRecalls(await counted(), { state: 7, revision: 2 });
      expect(await change(increment)).toEqual({ state: 8, revision: 3 });
      expect(asked).toEqual({ reads: 0, commits: 1 });
    });

    it('decides on the stored state if the cached one is outdated', async () => {
      const { change, asked } = loopThatRecalls(await counted(), { state: 3, revision: 1 });
      expect(await change(increment)).toEqual({ state: 8, revision: 3 });
      expect(asked).toEqual({ reads: 1, commits: 2 });
    });

    it('is not refused because of cached data alone', async () => {
      const { change } = loopThatRecalls(await counted(), { state: 3, revision: 1 });
      const unlessThree = (count: number) => {
        if (count === 3) throw new FlagsError('invalid_input', 'refused');
        return increment(count);
      };
      expect(await change(unlessThree)).toEqual({ state: 8, revision: 3 });
      expect(await change(increment, 3)).toEqual({ state: 9, revision: 4 });
      await expect(change(increment, 1)).rejects.toMatchObject({ code: 'revision_mismatch' });
    });

    it('throws a defect at once', async () => {
      const { change, asked } = loopThatRecalls(await counted(), { state: 3, revision: 1 });
      const defective = (count: number) => {
        if (count === 3) throw new TypeError('defect');
        return increment(count);
      };
      await expect(change(defective)).rejects.toThrow(TypeError);
      expect(asked).toEqual({ reads: 0, commits: 0 });
    });

    it('reads the document before it decides that nothing changes', async () => {
      const { change, asked } = loopThatRecalls(await counted(), { state: 3, revision: 1 });
      expect(await change((count) => (count === 3 ? [] : increment(count)))).toEqual({ state: 8, revision: 3 });
      expect(await change(() => [])).toEqual({ state: 8, revision: 3 });
      expect(asked.commits).toBe(1);
    });
  });

  describe('a set with many changes of one document', () => {
    it('copies the document once', async () => {
      const storage = await counted();
      let copies = 0;
      const { run } = createChangeSetWriter({
        storage,
        now: () => new Date(0),
        feed: { subscriptions: new Set<never>(), ready: async () => undefined, wake: () => undefined },
        applyUpdates: () => undefined,
        registry: REGISTRY,
        rules: joinRules([]),
        getCached() {
          copies += 1;
          return { state: 7, revision: 2 };
        },
      });
      const change = {
        subject: { kind: counters.kind, id: 'a' },
        async decide(unit: UnitOfWork) {
          const data = ((await unit.read(counters, 'a'))?.state ?? 0) + 1;
          await unit.apply(counters, 'a', [{ type: 'project-updated', data, before: null }]);
        },
        result: () => undefined,
      };
      const { documents } = await run(
        Array.from({ length: 50 }, () => change),
        { actor: 'ada' },
      );
      expect([await documents?.read(counters, 'a'), copies]).toEqual([{ state: 57, revision: 3 }, 1]);
    });
  });
});

describe('the check of an actor', () => {
  const CHECKOUT = { project: 'default', flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };

  /** Two instances on one storage. Each decides on its own copies first, and does not poll. */
  async function openTwo(): Promise<{ readonly flags: Flags; readonly other: Flags }> {
    const storage = { ...memoryStorage(), watch: () => () => undefined, close: () => undefined };
    const flags = await openFlags({ storage, pollInterval: 0 });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const other = await openFlags({ storage, pollInterval: 0 });
    return { flags, other };
  }

  const descriptionsIn = ({ documents }: PlannedSet) =>
    documents.map(({ before }) => (before as { readonly description: string } | null)?.description);

  it('receives the documents, the events and their operations, for every kind of change', async () => {
    const { flags } = await openTwo();
    const seen: (readonly (string | undefined)[])[] = [];
    const ada = flags.as('ada', {
      authorize: ({ documents }) => void seen.push(documents.flatMap(({ events }) => events.map(({ op }) => op))),
    });
    await ada.addStrategy(PRODUCTION, { name: 'default' });
    const { id } = await ada.apply([
      { op: 'enable', ref: PRODUCTION },
      { op: 'updateFlag', ref: CHECKOUT, input: { stale: true } },
    ]);
    await ada.plan([{ op: 'disable', ref: PRODUCTION }]);
    await ada.preview([{ op: 'disable', ref: PRODUCTION }], { environment: 'production', contexts: [] });
    await ada.history.undo({ changeSet: `${id}` });
    await ada.definitions.import({ version: 1, flags: [{ name: 'checkout', description: 'New' }] }, { dryRun: true });
    expect(seen).toEqual([
      ['addStrategy'],
      ['enable', 'updateFlag'],
      ['disable'],
      ['disable'],
      [undefined, undefined],
      [undefined],
    ]);
  });

  it('is not called if nothing would change', async () => {
    const { flags } = await openTwo();
    const ada = flags.as('ada', { authorize: () => Promise.reject(new Error('asked')) });
    await ada.disable(PRODUCTION);
    expect(await ada.apply([{ op: 'reviveFlag', ref: { flag: 'checkout' } }])).toMatchObject({ id: null });
    expect(await ada.plan([])).toEqual({ documents: [], effects: [], approval: null });
    expect(await ada.definitions.import({ version: 1 })).toMatchObject({ changeSet: null });
  });

  it('stays for every further actor, and can only be added to', async () => {
    const { flags } = await openTwo();
    const asked: string[] = [];
    const ada = flags.as('ada', { authorize: () => void asked.push('first') });
    await ada.as('grace').updateFlag(CHECKOUT, { stale: true });
    await ada.as('grace', { authorize: () => void asked.push('second') }).updateFlag(CHECKOUT, { stale: false });
    expect(asked).toEqual(['first', 'first', 'second']);
  });

  it('is called again with the current documents if the first ones were outdated', async () => {
    const { flags, other } = await openTwo();
    await other.updateFlag(CHECKOUT, { description: 'by another' });
    const seen: unknown[] = [];
    const ada = flags.as('ada', { authorize: (planned) => void seen.push(...descriptionsIn(planned)) });
    await ada.updateFlag(CHECKOUT, { stale: true });
    expect(seen).toEqual(['', 'by another']);
  });

  it('is called again if a document changes meanwhile, and then decides', async () => {
    const { flags, other } = await openTwo();
    const refusal = new Error('no');
    const ada = flags.as('ada', {
      async authorize(planned) {
        if (descriptionsIn(planned).includes('by another')) throw refusal;
        await other.updateFlag(CHECKOUT, { description: 'by another' });
      },
    });
    await expect(ada.apply([{ op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }])).rejects.toBe(refusal);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ description: 'by another', stale: false });
  });
});
