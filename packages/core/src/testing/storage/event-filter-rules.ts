import assert from 'node:assert/strict';
import type { EventFilter, FlagsStorage } from '../../storage/port.js';
import { assertEqual, commit, eventsOf, flag, newEvent, project, put, type StorageRule } from './samples.js';

const MINUTE = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z', '2026-01-01T00:02:00.000Z'] as const;

export function eventFilterRules(rule: StorageRule): void {
  rule('filters by project; an event without a project matches no project', async (storage) => {
    await commitSamples(storage);
    assertEqual(await dataOf(storage, { project: 'shop' }), [1, 3]);
    assertEqual(await dataOf(storage, { project: 'lab' }), [2]);
    assertEqual(await dataOf(storage, { project: 'absent' }), []);
  });

  rule('filters by the kind and id of the subject', async (storage) => {
    await commitSamples(storage);
    assertEqual(await dataOf(storage, { subject: flag('a') }), [1, 3]);
    assertEqual(await dataOf(storage, { subject: project('a') }), [4]);
  });

  rule('filters by type', async (storage) => {
    await commitSamples(storage);
    assertEqual(await dataOf(storage, { type: 'created' }), [1, 2, 4]);
  });

  rule('filters by change set; an event without a change set matches none', async (storage) => {
    await commitSamples(storage);
    const [a, b] = [flag('set-a'), flag('set-b')];
    const events = [a, b, a].map((key, data) => newEvent(key, { data, changeSet: 'one', project: 'shop' }));
    await commit(storage, { writes: [put(a), put(b)], events });
    const other = newEvent(a, { data: 9, changeSet: 'other' });
    await commit(storage, { writes: [put(a, { expected: 1 })], events: [other] });
    assertEqual(await dataOf(storage, { changeSet: 'one' }), [0, 1, 2]);
    assertEqual(await dataOf(storage, { changeSet: 'one', subject: a }), [0, 2]);
    assertEqual(await dataOf(storage, { changeSet: 'one', project: 'lab' }), []);
    assertEqual(await dataOf(storage, { changeSet: 'other' }), [9]);
    assertEqual(await dataOf(storage, { changeSet: 'absent' }), []);
  });

  rule('returns the events of a commit without others in between', async (storage) => {
    const writers = ['one', 'two', 'three'].map((set) => async () => {
      for (let round = 0; round < 5; round++) {
        const keys = [flag(`${set}-a-${round}`), flag(`${set}-b-${round}`), flag(`${set}-c-${round}`)];
        const events = keys.map((key) => newEvent(key, { changeSet: `${set}-${round}` }));
        await commit(storage, { writes: keys.map((key) => put(key)), events });
      }
    });
    await Promise.all(writers.map((write) => write()));
    const sets = (await eventsOf(storage)).map(({ changeSet }) => changeSet);
    assert.equal(sets.filter((set, index) => index === 0 || set !== sets[index - 1]).length, 15);
  });

  rule('filters by time, including both ends', async (storage) => {
    await commitSamples(storage);
    assertEqual(await dataOf(storage, { from: MINUTE[1] }), [2, 3, 4]);
    assertEqual(await dataOf(storage, { to: MINUTE[1] }), [1, 2, 3]);
    assertEqual(await dataOf(storage, { from: MINUTE[1], to: MINUTE[1] }), [2, 3]);
    assertEqual(await dataOf(storage, { from: '2026-01-01T00:01:00.001Z', to: '2026-01-01T00:01:59.999Z' }), []);
  });

  rule('returns events that match all given filters', async (storage) => {
    await commitSamples(storage);
    assertEqual(await dataOf(storage, { project: 'shop', type: 'created' }), [1]);
    const filter = { project: 'shop', subject: flag('a'), type: 'changed', from: MINUTE[0], to: MINUTE[1] };
    assertEqual(await dataOf(storage, filter), [3]);
    assertEqual(await dataOf(storage, { ...filter, subject: flag('b') }), []);
  });

  rule('applies limit, offset, position and count to the matching events', async (storage) => {
    await commitSamples(storage);
    const filter = { type: 'created' };
    const page = await storage.events({ order: 'newest-first', filter, limit: 1, offset: 1, total: true });
    assertEqual([page.events.map(({ data }) => data), page.total], [[2], 3]);
    const after = (await eventsOf(storage))[0]?.position ?? '';
    const rest = await storage.events({ order: 'oldest-first', filter, after, limit: 1, total: true });
    assertEqual([rest.events.map(({ data }) => data), rest.total], [[2], 2]);
  });
}

/** Four events with different data. */
async function commitSamples(storage: FlagsStorage): Promise<void> {
  await commit(storage, {
    writes: [put(flag('a'))],
    events: [newEvent(flag('a'), { data: 1, type: 'created', project: 'shop', at: MINUTE[0] })],
  });
  await commit(storage, {
    writes: [put(flag('b'))],
    events: [newEvent(flag('b'), { data: 2, type: 'created', project: 'lab', at: MINUTE[1] })],
  });
  await commit(storage, {
    writes: [put(flag('a'), { expected: 1 })],
    events: [newEvent(flag('a'), { data: 3, project: 'shop', at: MINUTE[1] })],
  });
  await commit(storage, {
    writes: [put(project('a'))],
    events: [newEvent(project('a'), { data: 4, type: 'created', at: MINUTE[2] })],
  });
}

/** Returns the data of the matching events. */
async function dataOf(storage: FlagsStorage, filter: EventFilter): Promise<unknown[]> {
  const events = await eventsOf(storage, { filter });
  return events.map(({ data }) => data);
}
