import { memoryStorage, openFlags } from '../../src/index.js';
import { refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { addGradual, STEPS } from './start.js';

/** A rollout was a document of its own, whose events had some of the names of today. */
it('shows the events of rollouts that were documents as those of an unknown type', async () => {
  const storage = memoryStorage();
  const flags = await openFlags({ ...SILENT, storage });
  const ref = await addGradual(flags);
  const id = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a03';
  const changeSet = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a04';
  const subject = { kind: 'rollout', id };
  const common = {
    at: '2026-01-01T00:00:00.000Z',
    actor: 'ada',
    changeSet,
    subject,
    project: 'default',
    environment: null,
  };
  const started = { ...common, type: 'rollout-started', data: { id, state: 'running', ref, step: 0 }, before: null };
  const ended = { ...common, type: 'rollout-ended', data: { id, state: 'ended' }, before: { id, state: 'running' } };
  const write = { key: subject, expected: 0, parent: 'ended', body: { id }, summary: null };
  await storage.commit({ writes: [write], events: [started, ended] });

  const { items } = await flags.events.list({ limit: 2 });
  expect(items).toMatchObject([
    { type: 'rollout-ended', flag: null, data: { state: 'ended' } },
    { type: 'rollout-started', flag: null, data: { state: 'running' } },
  ]);
  const { differences } = await flags.history.get({ changeSet });
  expect(differences).toEqual([{ kind: 'rollout', id, parts: expect.arrayContaining([]) }]);
  expect((await refusalOf(flags.history.undo({ changeSet }))).code).toBe('undo_conflict');
  await flags.rollouts.start(ref, STEPS);
  expect((await flags.rollouts.list()).items).toMatchObject([{ ref }]);
  await flags.close();
});

/** Schedules and proposals were documents too. No event has their names today. */
it.each(['schedule', 'proposal'])('shows the events of a %s as those of an unknown type', async (kind) => {
  const storage = memoryStorage();
  const flags = await openFlags({ ...SILENT, storage });
  const id = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a03';
  const changeSet = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a04';
  const subject = { kind, id };
  const at = '2026-01-01T00:00:00.000Z';
  const common = { at, actor: 'ada', changeSet, subject, project: null, environment: null, before: null };
  const type = `${kind}-created`;
  const write = { key: subject, expected: 0, parent: 'open', body: { id, changes: [] }, summary: { id } };
  await storage.commit({ writes: [write], events: [{ ...common, type, data: { id, state: 'open' } }] });

  expect((await flags.events.list({ limit: 1 })).items).toMatchObject([{ type, flag: null, data: { state: 'open' } }]);
  expect((await flags.history.get({ changeSet })).differences).toMatchObject([{ kind, id }]);
  expect((await flags.history.list({}, { limit: 1 })).items).toMatchObject([{ id: changeSet }]);
  expect((await refusalOf(flags.history.undo({ changeSet }))).code).toBe('undo_conflict');
  expect((await flags.changeRequests.list()).items).toEqual([]);
  expect((await flags.runDue()).items).toEqual([]);
  await flags.close();
});
