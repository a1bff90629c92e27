import { randomUUID } from 'node:crypto';
import { processorTime } from '../../../../test/processor-time.js';
import { type Change, type Flags, type FlagsOptions, LIMITS, memoryStorage, openFlags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { DAY, HOUR, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, facts, type Gradual, parametersOf, percentage, round, STEPS, strategiesOf } from './start.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;

  /** A node whose rollouts take their steps by the calls of the test. */
  async function node(options: Omit<FlagsOptions, 'storage'> = {}, rollout: string | number = '1'): Promise<void> {
    flags = await start({ now: clock.now, due: { run: 'elsewhere' }, ...options });
    ref = await addGradual(flags, rollout);
  }

  beforeEach(() => {
    clock = settableClock();
  });

  const current = async () => (await flags.rollouts.list()).items[0];

  describe('a rollout', () => {
    it('takes its first step in the commit that starts it, and is a member of its strategy', async () => {
      await node();
      const started = await flags.as({ name: 'Ada', id: 'u-7' }).rollouts.start(ref, STEPS, { reason: 'Launch' });
      const rollout = {
        steps: STEPS.steps,
        step: 0,
        since: clock.text(),
        state: 'running',
        guarded: false,
        author: { name: 'Ada', id: 'u-7' },
        startedFrom: { value: '1' },
        failure: null,
      };
      expect(started).toEqual({ ref, percentage: 5, nextAt: clock.text(DAY), ...rollout });
      expect(await percentage(flags)).toBe('5');
      expect((await strategiesOf(flags))[0]?.rollout).toEqual(rollout);
      expect((await flags.rollouts.list()).items).toEqual([started]);
      const { items } = await flags.events.list({ limit: 2 });
      const common = { actor: 'Ada', reason: 'Launch', origin: null, project: 'default', flag: 'checkout' };
      const data = { strategy: ref.strategy, rollout };
      expect(items).toEqual([
        expect.objectContaining({ ...common, type: 'strategy-updated', environment: 'production' }),
        expect.objectContaining({ ...common, type: 'rollout-started', environment: 'production', data, before: null }),
      ]);
      expect(new Set(items.map(({ changeSet }) => changeSet)).size).toBe(1);
    });

    it('takes one step after each hold, as a set of its author, and is done after the last one', async () => {
      await node();
      await flags.as('ada').rollouts.start(ref, STEPS);
      clock.advance(DAY - 1);
      expect(await round(flags)).toEqual([]);
      clock.advance(1);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await percentage(flags)).toBe('25');
      const { items } = await flags.events.list({ limit: 2 });
      expect(items).toMatchObject([
        { type: 'strategy-updated', actor: 'ada', origin: 'rollout' },
        {
          type: 'rollout-stepped',
          actor: 'ada',
          origin: 'rollout',
          data: { strategy: ref.strategy, rollout: { step: 1, since: clock.text() } },
          before: { strategy: ref.strategy, rollout: { step: 0 } },
        },
      ]);
      expect(Object.keys(Object(items[1]?.data)).sort()).toEqual(['rollout', 'strategy']);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 2]]);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 3]]);
      expect(await percentage(flags)).toBe('100');
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [{ ref, percentage: 100, nextAt: null }] });
      const [end] = (await flags.events.list({ limit: 1 })).items;
      expect(end).toMatchObject({ type: 'rollout-ended', actor: 'system', origin: 'rollout' });
      expect(end?.data).toEqual({ strategy: ref.strategy, rollout: null, reason: 'done' });
      expect(await current()).toBeUndefined();
      expect(await strategiesOf(flags)).toEqual([expect.not.objectContaining({ rollout: expect.anything() })]);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([]);
    });

    it('counts the hold from when the step was really taken', async () => {
      await node();
      await flags.rollouts.start(ref, STEPS);
      clock.advance(10 * DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await round(flags)).toEqual([]);
      clock.advance(DAY - 1);
      expect(await round(flags)).toEqual([]);
      clock.advance(1);
      expect(await round(flags)).toEqual([['running', 2]]);
    });

    it.each([
      ['1', '5'],
      [1, 5],
    ])('keeps the type of the parameter: %j', async (from, to) => {
      await node({}, from);
      await flags.rollouts.start(ref, STEPS);
      expect(await percentage(flags)).toBe(to);
    });

    it.each([
      ['no parameters', null],
      ['without the parameter', { groupId: 'a' }],
    ])('restores exactly what was before: %s', async (_, parameters) => {
      await node();
      await flags.updateStrategy(ref, { name: 'flexibleRollout', parameters });
      const before = await parametersOf(flags);
      const { startedFrom } = await flags.rollouts.start(ref, STEPS);
      expect(startedFrom).toEqual(before === null ? null : {});
      expect(await percentage(flags)).toBe('5');
      expect(await flags.rollouts.stop(ref, { rollback: true })).toEqual({ ref, percentage: 0, nextAt: null });
      expect(await parametersOf(flags)).toEqual(before);
    });

    it('is possible for every strategy with a percentage, and down as well as up', async () => {
      await node();
      const { id } = await flags.addStrategy(PRODUCTION, {
        name: 'gradualRolloutUserId',
        parameters: { groupId: 'a' },
      });
      const other = { ...PRODUCTION, strategy: id };
      const steps = [{ percentage: 50, hold: HOUR }, { percentage: 10 }];
      expect(await flags.rollouts.start(other, { steps })).toMatchObject({ percentage: 50, startedFrom: {} });
      clock.advance(HOUR);
      expect(await flags.runDue()).toMatchObject({ items: [{ percentage: 10, step: 1, nextAt: clock.text() }] });
      expect(await flags.runDue()).toEqual({ items: [{ ref: other, percentage: 10, nextAt: null }] });
    });

    it('runs for seven days in 50 ms of processor time', async () => {
      const steps = [1, 5, 10, 25, 50, 75, 100].map((one) => ({ percentage: one, hold: DAY }));
      let fastest = Number.POSITIVE_INFINITY;
      // A garbage collection falls into some of them.
      for (let attempt = 1; attempt <= 5 && fastest >= 50; attempt++) {
        flags = await openFlags({ ...SILENT, storage: memoryStorage(), now: clock.now });
        ref = await addGradual(flags);
        await flags.rollouts.start(ref, { steps });
        const begun = processorTime();
        for (let day = 0; day < 7; day++) {
          clock.advance(DAY);
          await flags.runDue();
        }
        fastest = Math.min(fastest, processorTime() - begun);
        expect(await percentage(flags)).toBe('100');
        expect((await flags.rollouts.list()).items).toEqual([]);
        await flags.close();
      }
      expect(fastest).toBeLessThan(50);
    });

    it('returns what a repeated id has done, and refuses another use of the id', async () => {
      await node();
      const id = randomUUID();
      const started = await flags.rollouts.start(ref, STEPS, { id });
      clock.advance(DAY);
      await flags.runDue();
      expect(await flags.rollouts.start(ref, STEPS, { id })).toEqual(started);
      expect(await percentage(flags)).toBe('25');
      const other = { steps: [{ percentage: 5 }] };
      await expectRefusal(flags, 'id_taken', () => flags.rollouts.start(ref, other, { id }));
      await expectRefusal(flags, 'id_taken', () => flags.as('bob').rollouts.start(ref, STEPS, { id }));
      const stop = randomUUID();
      const stopped = await flags.rollouts.stop(ref, { rollback: true }, { id: stop });
      await flags.rollouts.start(ref, STEPS);
      expect(await flags.rollouts.stop(ref, { rollback: true }, { id: stop })).toEqual(stopped);
      expect(await current()).toMatchObject({ state: 'running', step: 0 });
    });

    it('is listed by state, project and flag, in pages, by the present project', async () => {
      await node();
      const other = await addGradual(flags, '1', 'banner');
      await flags.rollouts.start(ref, STEPS);
      await flags.rollouts.start(other, STEPS);
      await flags.rollouts.pause(other);
      const listed = async (query?: Parameters<typeof flags.rollouts.list>[0]) =>
        (await flags.rollouts.list(query)).items.map(({ ref: { flag } }) => flag);
      expect(await listed()).toEqual(['banner', 'checkout']);
      expect(await listed({ state: 'running' })).toEqual(['checkout']);
      expect(await listed({ state: 'paused', project: 'default' })).toEqual(['banner']);
      expect(await listed({ flag: 'other' })).toEqual([]);
      expect(await listed({ project: 'shop' })).toEqual([]);
      const page = await flags.rollouts.list({}, { limit: 1 });
      expect(page).toMatchObject({ items: [{ ref: other }], next: expect.any(String) });
      const rest = await flags.rollouts.list({}, { limit: 1, after: page.next });
      expect(rest).toEqual({ items: [expect.objectContaining({ ref })] });
      await expectRefusal(flags, 'invalid_input', () => flags.rollouts.list({ state: 'done' } as never));
    });

    it('starts by a change set, which may start, advance and stop others', async () => {
      await node();
      const other = await addGradual(flags, '1', 'banner');
      await flags.rollouts.start(other, STEPS);
      const set = await flags.apply([
        { op: 'startRollout', ref, input: { ...STEPS, guarded: true } },
        { op: 'advanceRollout', ref },
        { op: 'stopRollout', ref: other, input: { rollback: true } },
      ]);
      expect(set.events.map(({ type, flag }) => `${flag} ${type}`)).toEqual([
        'checkout rollout-started',
        'checkout strategy-updated',
        'checkout rollout-stepped',
        'checkout strategy-updated',
        'banner rollout-ended',
        'banner strategy-updated',
      ]);
      expect((await flags.rollouts.list()).items).toMatchObject([{ ref, guarded: true, step: 1, percentage: 25 }]);
      await flags.history.undo({ changeSet: `${set.id}` });
      expect(await percentage(flags)).toBe('1');
      expect((await flags.rollouts.list()).items).toEqual([]);
    });

    it('is shown as of a time, but evaluation, clients and exports know the percentage only', async () => {
      await node();
      await flags.rollouts.start(ref, STEPS);
      const then = clock.text();
      clock.advance(DAY);
      await flags.runDue();
      await flags.rollouts.stop(ref);
      const past = await flags.history.asOf(then).getFlag(CHECKOUT);
      const production = past.environments.find(({ name }) => name === 'production');
      expect(production?.strategies).toMatchObject([{ parameters: { rollout: '5' }, rollout: { step: 0 } }]);
      await flags.rollouts.start(ref, STEPS);
      expect(JSON.stringify(flags.configuration({ environment: 'production' }))).not.toContain('guarded');
      const { flags: [exported] = [] } = await flags.definitions.export();
      expect(JSON.stringify(exported)).not.toContain('guarded');
      expect(exported?.environments?.production?.strategies).toMatchObject([{ parameters: { rollout: '5' } }]);
    });
  });

  describe('a person', () => {
    it('pauses and resumes: the hold runs on, and one step follows', async () => {
      await node();
      const { nextAt } = await flags.rollouts.start(ref, STEPS);
      const { revision } = await flags.getFlag(CHECKOUT);
      const paused = await flags.rollouts.pause(ref, { actor: 'ada', reason: 'Errors', ifRevision: revision });
      expect(paused).toMatchObject({ state: 'paused', step: 0, failure: null, nextAt });
      expect(await flags.rollouts.pause(ref)).toEqual(paused);
      const [event] = (await flags.events.list({ limit: 1 })).items;
      expect(event).toMatchObject({
        type: 'rollout-paused',
        actor: 'ada',
        reason: 'Errors',
        data: { rollout: { state: 'paused' } },
        before: { rollout: { state: 'running' } },
      });
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
      const resumed = await flags.rollouts.resume(ref);
      expect(resumed).toMatchObject({ state: 'running', step: 0 });
      expect(await flags.rollouts.resume(ref)).toEqual(resumed);
      expect(await facts(flags, 1)).toEqual([['rollout-resumed']]);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect(await round(flags)).toEqual([]);
    });

    it('advances, once for each index, also a step that waits', async () => {
      await node();
      const steps = [
        { percentage: 5, hold: null },
        { percentage: 25, hold: DAY },
        { percentage: 60, hold: null },
      ];
      expect(await flags.rollouts.start(ref, { steps })).toMatchObject({ state: 'waiting', nextAt: null });
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
      const reached = await flags.rollouts.advance(ref, { step: 1 }, { actor: 'bob' });
      expect(reached).toMatchObject({ state: 'running', step: 1, since: clock.text(), nextAt: clock.text(DAY) });
      expect((await flags.events.list({ limit: 2 })).items).toMatchObject([
        { actor: 'bob' },
        { actor: 'bob', data: expect.not.objectContaining({ early: true }) },
      ]);
      expect(await flags.rollouts.advance(ref, { step: 1 })).toEqual(reached);
      const { details } = await expectRefusal(flags, 'invalid_input', () => flags.rollouts.advance(ref, { step: 3 }));
      const message = 'must be the next step, 2: a rollout takes one step at a time';
      expect(details).toEqual([{ message, path: '/step' }]);
      await flags.rollouts.pause(ref);
      expect(await flags.rollouts.advance(ref)).toMatchObject({ state: 'paused', step: 2, percentage: 60 });
      expect((await flags.events.list({ type: 'rollout-stepped', limit: 1 })).items).toMatchObject([
        { data: { early: true } },
      ]);
      expect(await flags.rollouts.resume(ref)).toMatchObject({ state: 'waiting' });
      expect(await flags.rollouts.advance(ref, { step: 3 })).toEqual({ ref, percentage: 60, nextAt: null });
      expect(await facts(flags, 1)).toEqual([['rollout-ended', 'done']]);
      await expectRefusal(flags, 'rollout_not_found', () => flags.rollouts.advance(ref));
    });

    it('stops: the percentage stays', async () => {
      await node();
      await flags.rollouts.start(ref, STEPS);
      expect(await flags.rollouts.stop(ref, {}, { reason: 'Enough' })).toEqual({ ref, percentage: 5, nextAt: null });
      expect(await facts(flags, 1)).toEqual([['rollout-ended', 'stopped']]);
      expect(await percentage(flags)).toBe('5');
      clock.advance(3 * DAY);
      expect(await round(flags)).toEqual([]);
    });

    it.each(['1', 1, '01.0'])('stops with a rollback to exactly %j', async (original) => {
      await node({}, original);
      await flags.rollouts.start(ref, STEPS);
      clock.advance(DAY);
      await flags.runDue();
      expect(await flags.rollouts.stop(ref, { rollback: true })).toEqual({ ref, percentage: 1, nextAt: null });
      expect(await percentage(flags)).toBe(original);
      expect(await facts(flags, 2)).toEqual([['rollout-ended', 'rolled-back'], ['strategy-updated']]);
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
      await expectRefused('invalid_input', () => flags.rollouts.start(at(plain.id), STEPS));
      await expectRefused('environment_disabled', () => flags.rollouts.start(at(disabled.id), STEPS));
      await expectRefused('environment_disabled', () =>
        flags.rollouts.start({ ...DEVELOPMENT, strategy: off.id }, STEPS),
      );
      await expectRefused('strategy_not_found', () => flags.rollouts.start(at('none'), STEPS));
      await expectRefused('flag_not_found', () => flags.rollouts.start({ ...ref, flag: 'none' }, STEPS));
      await expectRefused('project_not_found', () => flags.rollouts.start({ ...ref, project: 'none' }, STEPS));
      await expectRefused('environment_not_found', () => flags.rollouts.start({ ...ref, environment: 'none' }, STEPS));
      await expectRefused('revision_mismatch', () => flags.rollouts.start(ref, STEPS, { ifRevision: 1 }));
      for (const [path, steps] of Object.entries({
        '/steps': [],
        '/steps/0/percentage': [{ percentage: 101 }],
        '/steps/0/hold': [{ percentage: 1 }, { percentage: 2 }],
        '/steps/1/hold': [
          { percentage: 1, hold: 1 },
          { percentage: 2, hold: 0.5 },
        ],
        '/steps/1/percentage': [{ percentage: 1, hold: 1 }, { percentage: 2.5 }],
      })) {
        const error = await expectRefused('invalid_input', () => flags.rollouts.start(ref, { steps }));
        expect(error.details).toMatchObject([{ path }]);
      }
      const many = Array.from({ length: 21 }, () => ({ percentage: 1, hold: 1 }));
      await expectRefused('invalid_input', () => flags.rollouts.start(ref, { steps: many }));
      await flags.rollouts.start(ref, STEPS);
      await expectRefused('rollout_exists', () => flags.rollouts.start(ref, STEPS));
      await flags.archiveFlag(CHECKOUT);
      await expectRefused('flag_archived', () => flags.rollouts.start(ref, STEPS));
    });

    it('to start more than 1,000 changes nothing, also in one set', async () => {
      await node();
      await flags.rollouts.start(ref, STEPS);
      const place = (flag: number) => ({ ...PRODUCTION, flag: `flag-${flag}` });
      const strategies = Array.from({ length: 100 }, () => ({ name: 'flexibleRollout' as const }));
      const changes: Change[] = [];
      for (let flag = 0; flag < LIMITS.activeRollouts / 100; flag++) {
        await flags.createFlag(DEFAULT, { name: `flag-${flag}` });
        const added = await flags.configureEnvironment(place(flag), { enabled: true, strategies });
        for (const { id } of added.strategies) {
          changes.push({ op: 'startRollout', ref: { ...place(flag), strategy: id }, input: STEPS });
        }
      }
      await flags.apply(changes.slice(0, 500));
      const { details } = await expectRefusal(flags, 'invalid_input', () => flags.apply(changes.slice(500)));
      expect(details).toMatchObject([{ path: expect.stringMatching(/^\/changes\/499/) }]);
      await flags.apply(changes.slice(500, 999));
      await expectRefusal(flags, 'invalid_input', () => flags.apply(changes.slice(999)));
      await flags.rollouts.stop(ref);
      await flags.apply(changes.slice(999));
    });

    it('names the change of a set that is refused', async () => {
      await node();
      const changes = [{ op: 'enable', ref: PRODUCTION } as const, { op: 'startRollout', ref, input: {} } as never];
      const { details } = await expectRefusal(flags, 'invalid_input', () => flags.apply(changes));
      expect(details).toMatchObject([{ path: '/changes/1/input/steps' }]);
    });

    it('tells what is missing', async () => {
      await node();
      for (const attempt of [
        () => flags.rollouts.pause(ref),
        () => flags.rollouts.resume(ref),
        () => flags.rollouts.advance(ref),
        () => flags.rollouts.stop(ref),
      ]) {
        await expectRefusal(flags, 'rollout_not_found', attempt);
      }
      await flags.rollouts.start(ref, STEPS);
      await expectRefusal(flags, 'revision_mismatch', () => flags.rollouts.pause(ref, { ifRevision: 1 }));
      await expectRefusal(flags, 'strategy_not_found', () => flags.rollouts.pause({ ...ref, strategy: 'none' }));
    });

    it('of `due.authorize` pauses it, with the reason, and a person may go on', async () => {
      let answer = false;
      const asked: unknown[] = [];
      await node({
        due: {
          run: 'elsewhere',
          authorize: (author, { documents }) => {
            asked.push([author, documents.map(({ kind, id }) => `${kind}/${id}`)]);
            return answer;
          },
        },
      });
      await flags.as('ada').rollouts.start(ref, STEPS);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['paused', 0]]);
      // A decision on the replica's copies is asked about again on the stored documents.
      for (const one of asked) expect(one).toEqual([{ name: 'ada' }, ['flag/checkout']]);
      expect(asked.length).toBeGreaterThan(0);
      const failure = { code: 'forbidden', message: 'due.authorize refused the changes of ada.' };
      expect(await current()).toMatchObject({ state: 'paused', failure });
      const [event] = (await flags.events.list({ limit: 1 })).items;
      expect(event).toMatchObject({ type: 'rollout-paused', actor: 'system', origin: 'rollout' });
      expect(await percentage(flags)).toBe('5');
      expect(await round(flags)).toEqual([]);
      answer = true;
      expect(await flags.rollouts.resume(ref)).toMatchObject({ state: 'running', failure: null });
      expect(await round(flags)).toEqual([['running', 1]]);
    });

    it('of the author does not matter to its end', async () => {
      await node({ due: { run: 'elsewhere', authorize: () => false } });
      const { token } = await flags.tokens.create({ name: 'ci', kind: 'admin' });
      await flags.as(token).rollouts.start(ref, { steps: [{ percentage: 5 }] });
      await flags.tokens.delete({ token: token.id });
      expect(await round(flags)).toEqual([['ended', undefined]]);
      const [end] = (await flags.events.list({ limit: 1 })).items;
      expect(end).toMatchObject({ type: 'rollout-ended', actor: 'system', actorTokenId: null });
    });

    it('for the author’s token pauses it', async () => {
      await node();
      const { token } = await flags.tokens.create({ name: 'ci', kind: 'admin' });
      const { author } = await flags.as(token).rollouts.start(ref, STEPS);
      expect(author).toEqual({ name: 'ci', token: { id: token.id, kind: 'admin' } });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
      expect((await flags.events.list({ limit: 1 })).items).toMatchObject([{ actor: 'ci', actorTokenId: token.id }]);
      await flags.tokens.delete({ token: token.id });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['paused', 1]]);
      expect(await current()).toMatchObject({ failure: { code: 'author_revoked' } });
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
      await person.rollouts.start(ref, STEPS);
      await person.rollouts.advance(ref);
      expect(seen).toEqual([
        ['startRollout', 'rollout-started'],
        ['startRollout', 'strategy-updated'],
        ['advanceRollout', 'rollout-stepped'],
        ['advanceRollout', 'strategy-updated'],
      ]);
      await expect(person.rollouts.pause(ref)).rejects.toThrow('no');
      expect(await current()).toMatchObject({ state: 'running' });
    });

    it('says that nobody takes the steps', async () => {
      await node({ due: { run: false } });
      await expectRefusal(flags, 'due_disabled', () => flags.rollouts.start(ref, STEPS));
      await expectRefusal(flags, 'due_disabled', () => flags.plan([{ op: 'startRollout', ref, input: STEPS }]));
    });
  });
});
