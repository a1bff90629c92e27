import { createChangeSetWriter } from '../../src/changesets/change-set-writer.js';
import type { Aggregate, Versioned } from '../../src/changesets/documents.js';
import type { UnitOfWork } from '../../src/changesets/unit-of-work.js';
import { FlagsError } from '../../src/errors.js';
import type { DomainEvent } from '../../src/events/event.types.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Storage } from '../../src/storage/port.js';

type Counted = DomainEvent<'project-updated', number>;

const counters: Aggregate<number, Counted> = {
  kind: 'counter',
  evolve: (_, event) => event.data,
  parentOf: () => null,
  projectOf: () => null,
  summarize: (count) => ({ count }),
};

/** Changes of a counter that is remembered as this; reads and commits are counted. */
function loopThatRecalls(memory: Storage, known: Versioned<number> | undefined) {
  const asked = { reads: 0, commits: 0 };
  const storage: Storage = {
    ...memory,
    get: (key) => {
      asked.reads += 1;
      return memory.get(key);
    },
    peek: (key) => {
      asked.reads += 1;
      return memory.peek?.(key);
    },
    commit: (commit) => {
      asked.commits += 1;
      return memory.commit(commit);
    },
  };
  const feed = { subscriptions: new Set(), ready: async () => undefined, wake: () => undefined };
  const { run } = createChangeSetWriter({
    storage,
    now: () => new Date(0),
    feed,
    applyUpdates: () => undefined,
    forgetFlags: async () => undefined,
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
      return documents.read(counters, 'a');
    },
  };
}

/** A storage with the counter at 7, at revision 2. */
async function counted(): Promise<Storage> {
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
      feed: { subscriptions: new Set(), ready: async () => undefined, wake: () => undefined },
      applyUpdates: () => undefined,
      forgetFlags: async () => undefined,
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
    expect([await documents.read(counters, 'a'), copies]).toEqual([{ state: 57, revision: 3 }, 1]);
  });
});
