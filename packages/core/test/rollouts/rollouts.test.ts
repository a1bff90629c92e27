import { randomUUID } from 'node:crypto';
import { processorTime } from '../../../../test/processor-time.js';
import { createFlags, type Flags, type FlagsOptions, memoryStorage, type Rollout } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, parametersOf, percentage, round, STEPS } from './start.js';

onEveryStorage((start, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;

  /** A node whose rollouts take their steps by the calls of the test. */
  async function node(options: Omit<FlagsOptions, 'storage'> = {}, rollout: string | number = '1'): Promise<void> {
    flags = await start({ now: clock.now, runSchedules: 'elsewhere', ...options });
    ref = await addGradual(flags, rollout);
  }

  beforeEach(() => {
    clock = settableClock();
  });

  const idOf = ({ id }: Rollout) => ({ rollout: id });
  const stateOf = async (rollout: Rollout) => (await flags.getRollout(idOf(rollout))).state;

  describe('a rollout', () => {
    it('takes its first step in the commit that starts it', async () => {
      await node();
      const started = await flags.as('ada').startRollout(ref, STEPS, { reason: 'Launch' });
      expect(started).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'running',
        ref,
        steps: STEPS.steps,
        step: 0,
        startedFrom: 1,
        since: clock.text(),
        nextAt: clock.text(DAY),
        guarded: false,
        approval: null,
        author: { name: 'ada' },
        createdAt: clock.text(),
        reason: 'Launch',
        endedAt: null,
        ended: null,
        failure: null,
        revision: 1,
      });
      expect(await percentage(flags)).toBe('5');
      const { items } = await flags.listEvents({ limit: 2 });
      const common = { actor: 'ada', reason: 'Launch', origin: `rollout/${started.id}`, project: 'default' };
      const data = { id: started.id, state: 'running', ref, steps: STEPS.steps, step: 0 };
      expect(items).toEqual([
        expect.objectContaining({ ...common, type: 'rollout-started', flag: null, data, before: null }),
        expect.objectContaining({ ...common, type: 'strategy-updated', flag: 'checkout' }),
      ]);
      expect(new Set(items.map(({ changeSet }) => changeSet)).size).toBe(1);
      expect(await flags.getRollout(idOf(started))).toEqual(started);
    });

    it('takes one step after each hold, as a set of its author, and is done after the last one', async () => {
      await node();
      const started = await flags.as('ada').startRollout(ref, STEPS, { reason: 'Launch' });
      clock.advance(DAY - 1);
      expect(await round(flags)).toEqual([]);
      clock.advance(1);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await percentage(flags)).toBe('25');
      const { items } = await flags.listEvents({ limit: 2 });
      expect(items).toEqual([
        expect.objectContaining({ type: 'rollout-stepped', actor: 'ada', origin: `rollout/${started.id}` }),
        expect.objectContaining({ type: 'strategy-updated', actor: 'ada', reason: 'Launch' }),
      ]);
      expect(items[0]).toMatchObject({ data: { id: started.id, state: 'running', step: 1 } });
      for (const step of [2, 3]) {
        clock.advance(DAY);
        expect(await round(flags)).toEqual([['running', step]]);
      }
      expect(await percentage(flags)).toBe('100');
      clock.advance(HOUR);
      expect(await round(flags)).toEqual([['done', 3]]);
      expect(await flags.getRollout(idOf(started))).toMatchObject({ endedAt: clock.text(), ended: null, nextAt: null });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([]);
      expect(await percentage(flags)).toBe('100');
    });

    it.each([0, 1, 2, 3])('takes one step at a time after an outage of three days after step %i', async (outage) => {
      await node();
      await flags.startRollout(ref, STEPS);
      const percentages: unknown[] = [await percentage(flags)];
      for (let step = 0; step < 3; step++) {
        clock.advance(step === outage ? 3 * DAY + DAY : DAY);
        expect(await round(flags)).toEqual([['running', step + 1]]);
        percentages.push(await percentage(flags));
        // The hold counts from the real application.
        expect(await round(flags)).toEqual([]);
        clock.advance(HOUR - 1);
        expect(await round(flags)).toEqual([]);
        clock.advance(1 - HOUR);
      }
      expect(percentages).toEqual(['5', '25', '60', '100']);
      clock.advance(outage === 3 ? 3 * DAY : HOUR);
      expect(await round(flags)).toEqual([['done', 3]]);
    });

    it('keeps the type of the parameter, and what else the strategy has', async () => {
      await node({}, 1);
      const { id } = await flags.addStrategy(DEVELOPMENT, {
        name: 'gradualRolloutUserId',
        parameters: { groupId: 'a' },
      });
      await flags.enable(DEVELOPMENT);
      await flags.startRollout(ref, { steps: [{ rollout: 7 }] });
      expect(await parametersOf(flags)).toEqual({ rollout: 7, stickiness: 'default', groupId: 'checkout' });
      const other = await flags.startRollout(
        { ...DEVELOPMENT, strategy: id },
        { steps: [{ rollout: 50, hold: null }] },
      );
      const strategyOf = async () =>
        (await flags.getFlag(CHECKOUT)).environments.find(({ name }) => name === 'development')?.strategies[0];
      expect(other).toMatchObject({ startedFrom: 0, state: 'waiting', nextAt: null });
      expect(await strategyOf()).toMatchObject({ parameters: { groupId: 'a', percentage: '50' } });
      await flags.stopRollout(idOf(other), { rollback: true });
      expect((await strategyOf())?.parameters).toEqual({ groupId: 'a' });
    });

    it('runs for seven days in 50 ms of processor time', async () => {
      const steps = [1, 5, 10, 25, 50, 75, 100].map((rollout) => ({ rollout, hold: DAY }));
      let fastest = Number.POSITIVE_INFINITY;
      // A garbage collection may fall into some of them.
      for (let attempt = 1; attempt <= 5 && fastest >= 50; attempt++) {
        flags = await createFlags({ ...SILENT, storage: memoryStorage(), now: clock.now });
        ref = await addGradual(flags);
        await flags.startRollout(ref, { steps });
        const begun = processorTime();
        for (let day = 0; day < 7; day++) {
          clock.advance(DAY);
          await flags.runDue();
        }
        fastest = Math.min(fastest, processorTime() - begun);
        expect((await flags.listRollouts()).items).toMatchObject([{ state: 'done', step: 6 }]);
        await flags.close();
      }
      expect(fastest).toBeLessThan(50);
    });

    it('returns what a repeated id has started, as it is now, and refuses another use of the id', async () => {
      await node();
      const id = randomUUID();
      await flags.startRollout(ref, STEPS, { id });
      clock.advance(DAY);
      await flags.runDue();
      expect(await flags.startRollout(ref, STEPS, { id })).toMatchObject({ id, step: 1 });
      expect(await percentage(flags)).toBe('25');
      await expectRefusal(flags, 'id_taken', () => flags.startRollout(ref, { steps: [{ rollout: 5 }] }, { id }));
      await expectRefusal(flags, 'id_taken', () => flags.as('bob').startRollout(ref, STEPS, { id }));
    });

    it('is listed by state, project and flag, in pages', async () => {
      await node();
      const first = await flags.startRollout(ref, STEPS);
      await flags.stopRollout(idOf(first));
      clock.advance(MINUTE);
      const second = await flags.startRollout(ref, STEPS);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const listed = async (query?: Parameters<Flags['listRollouts']>[0]) =>
        (await flags.listRollouts(query)).items.map(({ id }) => id);
      expect(await listed()).toEqual([first.id, second.id]);
      expect(await listed({ state: 'ended' })).toEqual([first.id]);
      expect(await listed({ state: 'running' })).toEqual([second.id]);
      expect(await listed({ flag: 'other' })).toEqual([]);
      expect(await listed({ project: 'shop' })).toEqual([]);
      await flags.moveFlag(CHECKOUT, { project: 'shop' });
      expect(await listed({ project: 'shop', flag: 'checkout' })).toEqual([first.id, second.id]);
      const page = await flags.listRollouts({}, { limit: 1 });
      expect(page).toMatchObject({ items: [{ id: first.id }], next: first.id });
      expect((await flags.listRollouts({}, { after: first.id })).items).toHaveLength(1);
    });

    it('is deleted 90 days after its end', async () => {
      await node();
      const { id } = await flags.startRollout(ref, STEPS);
      await flags.stopRollout({ rollout: id });
      clock.advance(90 * DAY);
      await flags.runDue();
      expect(await flags.getRollout({ rollout: id })).toMatchObject({ state: 'ended' });
      clock.advance(DAY);
      await flags.runDue();
      await expectRefusal(flags, 'rollout_not_found', () => flags.getRollout({ rollout: id }));
      expect((await flags.listEvents({ type: 'rollout-ended' })).items).toHaveLength(1);
    });
  });

  describe('a person', () => {
    it('pauses and resumes: the hold runs on, and one step follows', async () => {
      await node();
      const rollout = await flags.startRollout(ref, STEPS);
      const paused = await flags.pauseRollout(idOf(rollout), { actor: 'ada', reason: 'Errors', ifRevision: 1 });
      expect(paused).toMatchObject({ state: 'paused', step: 0, failure: null, nextAt: clock.text(DAY) });
      expect(await flags.pauseRollout(idOf(rollout))).toEqual(paused);
      const [event] = (await flags.listEvents({ limit: 1 })).items;
      const data = { id: rollout.id, state: 'paused', failure: null };
      expect(event).toMatchObject({ type: 'rollout-updated', data, actor: 'ada', reason: 'Errors' });
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
      const resumed = await flags.resumeRollout(idOf(rollout));
      expect(resumed).toMatchObject({ state: 'running', step: 0 });
      expect(await flags.resumeRollout(idOf(rollout))).toEqual(resumed);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await round(flags)).toEqual([]);
    });

    it('advances, once for each index, also a step that waits', async () => {
      await node();
      const steps = [
        { rollout: 5, hold: null },
        { rollout: 25, hold: DAY },
        { rollout: 60, hold: null },
      ];
      const rollout = await flags.startRollout(ref, { steps });
      expect(rollout).toMatchObject({ state: 'waiting', nextAt: null });
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
      const reached = await flags.advanceRollout(idOf(rollout), { step: 1 }, { actor: 'bob' });
      expect(reached).toMatchObject({ state: 'running', step: 1, since: clock.text(), nextAt: clock.text(DAY) });
      expect((await flags.listEvents({ limit: 2 })).items).toMatchObject([{ actor: 'bob' }, { actor: 'bob' }]);
      expect(await flags.advanceRollout(idOf(rollout), { step: 1 })).toEqual(reached);
      const { details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.advanceRollout(idOf(rollout), { step: 3 }),
      );
      const message = 'must be the next step, 2: a rollout takes one step at a time';
      expect(details).toEqual([{ message, path: '/step' }]);
      await flags.pauseRollout(idOf(rollout));
      expect(await flags.advanceRollout(idOf(rollout))).toMatchObject({ state: 'paused', step: 2 });
      expect(await percentage(flags)).toBe('60');
      expect(await flags.resumeRollout(idOf(rollout))).toMatchObject({ state: 'waiting' });
      const done = await flags.advanceRollout(idOf(rollout), { step: 3 });
      expect(done).toMatchObject({ state: 'done', step: 2, ended: null });
      expect(await flags.advanceRollout(idOf(rollout), { step: 3 })).toEqual(done);
      await expectRefusal(flags, 'rollout_not_active', () => flags.advanceRollout(idOf(rollout)));
    });

    it('tells each move with the state before it', async () => {
      await node();
      const first = await flags.startRollout(ref, STEPS);
      clock.advance(DAY);
      await round(flags);
      await flags.pauseRollout(idOf(first));
      await flags.resumeRollout(idOf(first));
      await flags.stopRollout(idOf(first), { rollback: true });
      const hour = { steps: [{ rollout: 100, hold: HOUR }] };
      const second = await flags.startRollout(ref, hour);
      await flags.stopRollout(idOf(second));
      const third = await flags.startRollout(ref, hour);
      clock.advance(HOUR);
      await round(flags);
      const { items } = await flags.listEvents({ limit: 100 });
      const moves = items.filter(({ type }) => type.startsWith('rollout-')).toReversed();
      expect(moves.map(({ type, before }) => [type, before])).toEqual([
        ['rollout-started', null],
        ['rollout-stepped', { id: first.id, state: 'running', step: 0 }],
        ['rollout-updated', { id: first.id, state: 'running' }],
        ['rollout-updated', { id: first.id, state: 'paused' }],
        ['rollout-ended', { id: first.id, state: 'running' }],
        ['rollout-started', null],
        ['rollout-ended', { id: second.id, state: 'running' }],
        ['rollout-started', null],
        ['rollout-ended', { id: third.id, state: 'running' }],
      ]);
    });

    it('cannot undo a set that changed only a rollout', async () => {
      await node();
      const rollout = await flags.startRollout(ref, STEPS);
      await flags.pauseRollout(idOf(rollout));
      const [event] = (await flags.listEvents({ limit: 1 })).items;
      const undo = () => flags.undoChangeSet({ changeSet: `${event?.changeSet}` });
      expect((await expectRefusal(flags, 'undo_conflict', undo)).message).toContain('only rollouts');
    });

    it('stops: the percentage stays', async () => {
      await node();
      const rollout = await flags.startRollout(ref, STEPS);
      const stopped = await flags.stopRollout(idOf(rollout), {}, { reason: 'Enough' });
      const ended = { reason: 'stopped', changeSet: null };
      expect(stopped).toMatchObject({ state: 'ended', ended, endedAt: clock.text(), nextAt: null });
      expect(await percentage(flags)).toBe('5');
      expect(await flags.stopRollout(idOf(rollout))).toEqual(stopped);
      for (const attempt of [
        () => flags.stopRollout(idOf(rollout), { rollback: true }),
        () => flags.pauseRollout(idOf(rollout)),
        () => flags.resumeRollout(idOf(rollout)),
      ]) {
        expect((await expectRefusal(flags, 'rollout_not_active', attempt)).message).toContain('is ended');
      }
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
    });

    it.each(['1', 1, '01.0'])('stops with a rollback to exactly %j, which can be undone', async (original) => {
      await node({}, original);
      const rollout = await flags.startRollout(ref, STEPS);
      clock.advance(DAY);
      await flags.runDue();
      const back = await flags.stopRollout(idOf(rollout), { rollback: true });
      expect(back).toMatchObject({ state: 'rolled-back', ended: { reason: 'stopped', changeSet: expect.any(String) } });
      expect(await percentage(flags)).toBe(original);
      expect(await flags.stopRollout(idOf(rollout), { rollback: true })).toEqual(back);
      const changeSet = `${back.ended?.changeSet}`;
      expect((await flags.getChangeSet({ changeSet })).events).toMatchObject([
        { type: 'strategy-updated', origin: `rollout/${rollout.id}` },
        { type: 'rollout-ended', data: { state: 'rolled-back' } },
      ]);
      await flags.undoChangeSet({ changeSet });
      expect(`${await percentage(flags)}`).toBe('25');
      expect(await stateOf(rollout)).toBe('rolled-back');
    });
  });

  describe('another change', () => {
    /** Each, with the reason that the rollout tells. */
    const CHANGES: Readonly<Record<string, readonly [string, () => Promise<unknown>]>> = {
      'of the strategy': [
        'strategy-changed',
        () => flags.updateStrategy(ref, { name: 'flexibleRollout', parameters: { rollout: '5' }, title: 'x' }),
      ],
      'that removes the strategy': [
        'strategy-changed',
        async () => {
          await flags.addStrategy(PRODUCTION, { name: 'default' });
          await flags.removeStrategy(ref);
        },
      ],
      'that switches the environment off': ['environment-switched', () => flags.disable(PRODUCTION)],
      'that switches the environment off and on': [
        'environment-switched',
        async () => {
          await flags.disable(PRODUCTION);
          await flags.enable(PRODUCTION);
        },
      ],
      'that archives the flag': ['flag-archived', () => flags.archiveFlag(CHECKOUT)],
      'that moves the flag': [
        'flag-moved',
        async () => {
          await flags.createProject({ id: 'shop', name: 'Shop' });
          await flags.moveFlag(CHECKOUT, { project: 'shop' });
        },
      ],
      'that deletes the flag': [
        'flag-deleted',
        async () => {
          await flags.archiveFlag(CHECKOUT);
          await flags.deleteFlag(CHECKOUT);
        },
      ],
      'that undoes a step': [
        'strategy-changed',
        async () => {
          const [event] = (await flags.listEvents({ type: 'rollout-started' })).items;
          await flags.undoChangeSet({ changeSet: `${event?.changeSet}` });
        },
      ],
    };

    it.each(Object.keys(CHANGES))('%s ends it, with its id', async (name) => {
      await node();
      const rollout = await flags.startRollout(ref, STEPS);
      const [given, change] = CHANGES[name] ?? [];
      await change?.();
      const left = /deletes|moves/.test(name) ? undefined : await percentage(flags);
      const { items } = await flags.runDue();
      // The archive comes first.
      const reason = name.includes('deletes') ? 'flag-archived' : given;
      expect(items).toMatchObject([{ id: rollout.id, state: 'ended', ended: { reason } }]);
      const { ended } = await flags.getRollout(idOf(rollout));
      const { events } = await flags.getChangeSet({ changeSet: `${ended?.changeSet}` });
      expect(events.every(({ flag }) => flag === 'checkout')).toBe(true);
      expect(events.length).toBeGreaterThan(0);
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
      if (left !== undefined) expect(await percentage(flags)).toBe(left);
    });

    it('ends it also while it is paused or waits', async () => {
      await node();
      const rollout = await flags.startRollout(ref, { steps: [{ rollout: 5, hold: null }, { rollout: 100 }] });
      await flags.pauseRollout(idOf(rollout));
      await flags.disable(PRODUCTION);
      expect(await round(flags)).toEqual([['ended', 0]]);
    });

    it('that matters nothing to it leaves it as it is', async () => {
      await node();
      const rollout = await flags.startRollout(ref, STEPS);
      await flags.updateFlag(CHECKOUT, { description: 'changed', stale: true });
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      await flags.enable(DEVELOPMENT);
      const other = await flags.addStrategy(PRODUCTION, { name: 'default' });
      await flags.removeStrategy({ ...PRODUCTION, strategy: other.id });
      expect(await round(flags)).toEqual([]);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await stateOf(rollout)).toBe('running');
    });

    it('refuses a step of a person, and ends the rollout', async () => {
      await node();
      for (const attempt of [
        (one: Rollout) => flags.advanceRollout(idOf(one)),
        (one: Rollout) => flags.stopRollout(idOf(one), { rollback: true }),
      ]) {
        const rollout = await flags.startRollout(ref, STEPS);
        await flags.disable(PRODUCTION);
        const error = await refusalOf(attempt(rollout));
        expect(error).toMatchObject({ code: 'rollout_not_active' });
        expect(error.message).toContain('environment-switched');
        expect(await stateOf(rollout)).toBe('ended');
        await flags.enable(PRODUCTION);
      }
    });
  });

  describe('a refusal', () => {
    it('to start changes nothing', async () => {
      await node();
      const expectRefused = (code: Parameters<typeof expectRefusal>[1], attempt: () => Promise<unknown>) =>
        expectRefusal(flags, code, attempt);
      const plain = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const disabled = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', disabled: true });
      const off = await flags.addStrategy(DEVELOPMENT, { name: 'flexibleRollout' });
      const at = (strategy: string) => ({ ...PRODUCTION, strategy });
      await expectRefused('invalid_input', () => flags.startRollout(at(plain.id), STEPS));
      await expectRefused('environment_disabled', () => flags.startRollout(at(disabled.id), STEPS));
      await expectRefused('environment_disabled', () =>
        flags.startRollout({ ...DEVELOPMENT, strategy: off.id }, STEPS),
      );
      await expectRefused('strategy_not_found', () => flags.startRollout(at('none'), STEPS));
      await expectRefused('flag_not_found', () => flags.startRollout({ ...ref, flag: 'none' }, STEPS));
      await expectRefused('project_not_found', () => flags.startRollout({ ...ref, project: 'none' }, STEPS));
      await expectRefused('environment_not_found', () => flags.startRollout({ ...ref, environment: 'none' }, STEPS));
      await expectRefused('revision_mismatch', () => flags.startRollout(ref, STEPS, { ifRevision: 1 }));
      for (const [path, steps] of Object.entries({
        '/steps': [],
        '/steps/0/rollout': [{ rollout: 101 }],
        '/steps/1/rollout': [
          { rollout: 1, hold: 1 },
          { rollout: 2.5, hold: 1 },
        ],
        '/steps/0/hold': [{ rollout: 1 }, { rollout: 2 }],
        '/steps/1/hold': [
          { rollout: 1, hold: 1 },
          { rollout: 2, hold: 0.5 },
        ],
      })) {
        const error = await expectRefused('invalid_input', () => flags.startRollout(ref, { steps }));
        expect(error.details).toMatchObject([{ path }]);
      }
      const many = Array.from({ length: 21 }, () => ({ rollout: 1, hold: 1 }));
      await expectRefused('invalid_input', () => flags.startRollout(ref, { steps: many }));
      await flags.startRollout(ref, STEPS);
      await expectRefused('rollout_exists', () => flags.startRollout(ref, STEPS));
      await flags.archiveFlag(CHECKOUT);
      await expectRefused('flag_archived', () => flags.startRollout(ref, STEPS));
    });

    it('tells what is missing or ended', async () => {
      await node();
      const none = { rollout: randomUUID() };
      for (const attempt of [
        () => flags.getRollout(none),
        () => flags.pauseRollout(none),
        () => flags.resumeRollout(none),
        () => flags.advanceRollout(none),
        () => flags.stopRollout(none),
      ]) {
        await expectRefusal(flags, 'rollout_not_found', attempt);
      }
      const rollout = await flags.startRollout(ref, STEPS);
      await expectRefusal(flags, 'revision_mismatch', () => flags.pauseRollout(idOf(rollout), { ifRevision: 7 }));
      const withId = { id: randomUUID(), reason: 'x' };
      await expectRefusal(flags, 'invalid_input', () => flags.pauseRollout(idOf(rollout), withId));
    });

    it('of `authorizeDue` pauses it, with the reason, and a person may go on', async () => {
      let answer = false;
      const asked: unknown[] = [];
      await node({
        authorizeDue: (author, { documents }) => {
          asked.push([author, documents.map(({ kind, id }) => `${kind}/${id}`)]);
          return answer;
        },
      });
      const rollout = await flags.as('ada').startRollout(ref, STEPS);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['paused', 0]]);
      // A decision on the replica's copies is asked about again on the stored documents.
      for (const one of asked) expect(one).toEqual([{ name: 'ada' }, ['flag/checkout']]);
      expect(asked.length).toBeGreaterThan(0);
      const failure = { code: 'forbidden', message: 'authorizeDue refused the changes of ada.' };
      expect(await flags.getRollout(idOf(rollout))).toMatchObject({ state: 'paused', failure });
      expect(await percentage(flags)).toBe('5');
      expect(await round(flags)).toEqual([]);
      answer = true;
      expect(await flags.resumeRollout(idOf(rollout))).toMatchObject({ state: 'running', failure: null });
      expect(await round(flags)).toEqual([['running', 1]]);
    });

    it('for the author’s token pauses it', async () => {
      await node();
      const { token } = await flags.createToken({ name: 'ci', kind: 'admin' });
      const rollout = await flags.as(token).startRollout(ref, STEPS);
      expect(rollout.author).toEqual({ name: 'ci', token: { id: token.id, kind: 'admin' } });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
      await flags.deleteToken({ token: token.id });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['paused', 1]]);
      expect(await flags.getRollout(idOf(rollout))).toMatchObject({ failure: { code: 'author_revoked' } });
    });

    it('of `authorize` sees the operation, and the change of the strategy', async () => {
      await node();
      const seen: unknown[] = [];
      const person = flags.as('ada', {
        authorize: ({ documents }) => {
          for (const { events } of documents) for (const { op, type } of events) seen.push([op, type]);
          if (seen.length > 4) throw new Error('no');
        },
      });
      const rollout = await person.startRollout(ref, STEPS);
      await person.advanceRollout(idOf(rollout));
      expect(seen).toEqual([
        ['updateStrategy', 'strategy-updated'],
        ['startRollout', 'rollout-started'],
        ['updateStrategy', 'strategy-updated'],
        ['advanceRollout', 'rollout-stepped'],
      ]);
      await expect(person.pauseRollout(idOf(rollout))).rejects.toThrow('no');
      expect(await stateOf(rollout)).toBe('running');
    });
  });

  describe('two nodes', () => {
    it('take each step once', async () => {
      const startShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere' } as const;
      const nodes = [await startShared(options), await startShared(options)] as const;
      [flags] = nodes;
      ref = await addGradual(flags);
      await flags.startRollout(ref, STEPS);
      for (const expected of ['25', '60', '100']) {
        clock.advance(DAY);
        const moved = await Promise.all(nodes.map(round));
        expect(moved.flat()).toHaveLength(1);
        expect(await percentage(flags)).toBe(expected);
      }
      expect((await flags.listEvents({ type: 'rollout-stepped' })).items).toHaveLength(3);
    });

    it('start one rollout of a strategy, also if it has the percentage already', async () => {
      const startShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere' } as const;
      const nodes = [await startShared(options), await startShared(options)] as const;
      [flags] = nodes;
      ref = await addGradual(flags, '5');
      await nodes[1].refresh();
      const started = await Promise.allSettled(nodes.map((one) => one.startRollout(ref, STEPS)));
      expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const rejected = started.find((one) => one.status === 'rejected');
      expect(rejected?.reason).toMatchObject({ code: 'rollout_exists' });
      expect((await flags.listRollouts()).items).toHaveLength(1);
    });

    it('end a rollout on the other node’s change', async () => {
      const startShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere' } as const;
      const [one, other] = [await startShared(options), await startShared(options)] as const;
      flags = one;
      ref = await addGradual(flags);
      const rollout = await flags.startRollout(ref, STEPS);
      await other.disable(PRODUCTION);
      await other.enable(PRODUCTION);
      clock.advance(DAY);
      // Also if its replica does not know the change yet: the step compares the stored flag.
      expect(await round(one)).toEqual([['ended', 0]]);
      expect(await flags.getRollout(idOf(rollout))).toMatchObject({ ended: { reason: 'environment-switched' } });
      expect(await percentage(flags)).toBe('5');
    });
  });

  it('is refused while schedules are off', async () => {
    await node({ runSchedules: false });
    await expectRefusal(flags, 'schedules_disabled', () => flags.startRollout(ref, STEPS));
    expect(DEFAULT.project).toBe(ref.project);
  });
});
