import type { EventFilter, Storage } from '../../storage/port.js';
import type { Rule } from './rule.js';
import { commit, eventsOf, flag, happened, project, put, same } from './samples.js';

const MINUTE = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z', '2026-01-01T00:02:00.000Z'] as const;

export function eventFilterRules(rule: Rule): void {
  rule('filters by project, and an event of no project matches none', async (storage) => {
    await tellStory(storage);
    same(await told(storage, { project: 'shop' }), [1, 3]);
    same(await told(storage, { project: 'lab' }), [2]);
    same(await told(storage, { project: 'absent' }), []);
  });

  rule('filters by subject, by kind and id', async (storage) => {
    await tellStory(storage);
    same(await told(storage, { subject: flag('a') }), [1, 3]);
    same(await told(storage, { subject: project('a') }), [4]);
  });

  rule('filters by type', async (storage) => {
    await tellStory(storage);
    same(await told(storage, { type: 'created' }), [1, 2, 4]);
  });

  rule('filters by time, both ends included', async (storage) => {
    await tellStory(storage);
    same(await told(storage, { from: MINUTE[1] }), [2, 3, 4]);
    same(await told(storage, { to: MINUTE[1] }), [1, 2, 3]);
    same(await told(storage, { from: MINUTE[1], to: MINUTE[1] }), [2, 3]);
    same(await told(storage, { from: '2026-01-01T00:01:00.001Z', to: '2026-01-01T00:01:59.999Z' }), []);
  });

  rule('matches only what all given filters match', async (storage) => {
    await tellStory(storage);
    same(await told(storage, { project: 'shop', type: 'created' }), [1]);
    const filter = { project: 'shop', subject: flag('a'), type: 'changed', from: MINUTE[0], to: MINUTE[1] };
    same(await told(storage, filter), [3]);
    same(await told(storage, { ...filter, subject: flag('b') }), []);
  });

  rule('limits, skips, resumes and counts among the matching events', async (storage) => {
    await tellStory(storage);
    const filter = { type: 'created' };
    const page = await storage.events({ order: 'newest-first', filter, limit: 1, offset: 1, total: true });
    same([page.events.map(({ data }) => data), page.total], [[2], 3]);
    const after = (await eventsOf(storage))[0]?.position ?? '';
    const rest = await storage.events({ order: 'oldest-first', filter, after, limit: 1, total: true });
    same([rest.events.map(({ data }) => data), rest.total], [[2], 2]);
  });
}

/** Four events, told apart by their data. */
async function tellStory(storage: Storage): Promise<void> {
  await commit(storage, {
    writes: [put(flag('a'))],
    events: [happened(flag('a'), { data: 1, type: 'created', project: 'shop', at: MINUTE[0] })],
  });
  await commit(storage, {
    writes: [put(flag('b'))],
    events: [happened(flag('b'), { data: 2, type: 'created', project: 'lab', at: MINUTE[1] })],
  });
  await commit(storage, {
    writes: [put(flag('a'), { expected: 1 })],
    events: [happened(flag('a'), { data: 3, project: 'shop', at: MINUTE[1] })],
  });
  await commit(storage, {
    writes: [put(project('a'))],
    events: [happened(project('a'), { data: 4, type: 'created', at: MINUTE[2] })],
  });
}

/** The data of the events that match. */
async function told(storage: Storage, filter: EventFilter): Promise<unknown[]> {
  const events = await eventsOf(storage, { filter });
  return events.map(({ data }) => data);
}
