import type { Flags, FlagsOptions } from '../../src/index.js';
import type { GuardAnswer, GuardedRollout } from '../../src/types.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, PRODUCTION } from '../references.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, percentage, round, STEPS } from './start.js';

onEveryStorage((start, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;
  let asked: GuardedRollout[];
  let errors: unknown[];
  /** What the guard of the test answers. */
  let answer: (rollout: GuardedRollout) => unknown;

  function guarding(): Omit<FlagsOptions, 'storage'> {
    return {
      now: clock.now,
      onError: (error) => errors.push(error),
      due: {
        run: 'elsewhere',
        guard: (rollout) => {
          asked.push(rollout);
          return answer(rollout) as GuardAnswer;
        },
      },
    };
  }

  beforeEach(async () => {
    clock = settableClock();
    asked = [];
    errors = [];
    answer = () => 'go';
    flags = await start(guarding());
    ref = await addGradual(flags);
  });

  it('is asked before each step, and every minute of a hold, for every rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    expect(await round(flags)).toEqual([]);
    expect(asked).toEqual([]);
    const since = clock.text();
    clock.advance(MINUTE);
    await round(flags);
    expect(asked).toEqual([{ ref, percentage: 5, step: 0, since, signal: expect.any(AbortSignal) }]);
    clock.advance(MINUTE - 1);
    await round(flags);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await round(flags);
    expect(asked).toHaveLength(2);
    clock.advance(DAY - 2 * MINUTE);
    expect(await round(flags)).toEqual([['running', 1]]);
    expect(asked).toHaveLength(3);
    expect(asked.every(({ signal }) => signal.aborted)).toBe(true);
    clock.advance(MINUTE);
    await round(flags);
    expect(asked.at(-1)).toMatchObject({ percentage: 25, step: 1, since: clock.text(-MINUTE) });
    expect(errors).toEqual([]);
  });

  it('is asked while a rollout waits for a person, not while it is paused, and not before a person’s step', async () => {
    const steps = [
      { percentage: 5, hold: null },
      { percentage: 25, hold: HOUR },
    ];
    await flags.rollouts.start(ref, { steps });
    clock.advance(MINUTE);
    await round(flags);
    expect(asked).toHaveLength(1);
    await flags.rollouts.pause(ref);
    clock.advance(HOUR);
    await round(flags);
    expect(asked).toHaveLength(1);
    answer = () => 'hold';
    await flags.rollouts.resume(ref);
    await flags.rollouts.advance(ref);
    expect(asked).toHaveLength(1);
    expect(await percentage(flags)).toBe('25');
  });

  it('holds until its answer is another one', async () => {
    answer = () => 'hold';
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    for (let minute = 0; minute < 3; minute++) {
      expect(await round(flags)).toEqual([]);
      clock.advance(MINUTE);
    }
    expect(asked).toHaveLength(3);
    answer = () => 'go';
    expect(await round(flags)).toEqual([['running', 1]]);
    expect(errors).toEqual([]);
  });

  const BROKEN: Readonly<Record<string, (rollout: GuardedRollout) => unknown>> = {
    throws: () => {
      throw new Error('no metrics');
    },
    rejects: () => Promise.reject(new Error('no metrics')),
    'answers true': () => true,
    'answers garbage': () => ({ go: true }),
    'answers nothing': () => undefined,
  };

  it.each(Object.keys(BROKEN))('that %s holds, and is reported once', async (name) => {
    answer = BROKEN[name] ?? answer;
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    for (let minute = 0; minute < 3; minute++) {
      expect(await round(flags)).toEqual([]);
      clock.advance(MINUTE);
    }
    expect(errors.map(String)).toEqual([expect.stringMatching(/due\.guard .* holds\.$/)]);
    expect(await percentage(flags)).toBe('5');
    answer = () => 'go';
    expect(await round(flags)).toEqual([['running', 1]]);
  });

  it('that flips its answer moves the rollout by what it says each time', async () => {
    const answers: unknown[] = ['go', 'hold', 'go', 'nonsense', 'go', 'hold', 'rollback', 'go'];
    answer = () => answers.shift();
    await flags.rollouts.start(ref, STEPS);
    const seen: unknown[] = [];
    for (let day = 0; day < 8; day++) {
      clock.advance(DAY);
      seen.push(...(await round(flags)));
    }
    expect(seen).toEqual([
      ['running', 1],
      ['running', 2],
      ['running', 3],
      ['ended', undefined],
    ]);
    expect(answers).toEqual(['go']);
    expect(await percentage(flags)).toBe('1');
  });

  it('rolls back in the middle of a hold: one set, with its reason, which can be undone', async () => {
    await flags.as('ada').rollouts.start(ref, STEPS);
    clock.advance(DAY);
    await round(flags);
    answer = () => 'rollback';
    clock.advance(MINUTE);
    expect(await flags.runDue()).toEqual({ items: [{ ref, percentage: 1, nextAt: null }] });
    expect(await percentage(flags)).toBe('1');
    const [{ changeSet } = { changeSet: '' }] = (await flags.events.list({ limit: 1 })).items;
    const { events, reason } = await flags.history.get({ changeSet });
    expect(reason).toContain('guard');
    expect(events).toMatchObject([
      { type: 'rollout-ended', actor: 'system', origin: 'rollout', data: { reason: 'guard' } },
      { type: 'strategy-updated', actor: 'system', origin: 'rollout' },
    ]);
    await flags.history.undo({ changeSet });
    expect(await percentage(flags)).toBe('25');
    clock.advance(DAY);
    expect(await round(flags)).toEqual([]);
  });

  it('is asked again at once after a refused step was resumed', async () => {
    let mayStep = false;
    flags = await start({ ...guarding(), due: { ...guarding().due, authorize: () => mayStep } });
    ref = await addGradual(flags);
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    expect(await round(flags)).toEqual([['paused', 0]]);
    mayStep = true;
    await flags.rollouts.resume(ref);
    clock.advance(5 * SECOND);
    expect(await round(flags)).toEqual([['running', 1]]);
  });

  it('rolls back although the author is gone, and `due.authorize` refuses', async () => {
    const { token } = await flags.tokens.create({ name: 'ci', kind: 'admin' });
    await flags.as(token).rollouts.start(ref, STEPS);
    await flags.tokens.delete({ token: token.id });
    answer = () => 'rollback';
    clock.advance(MINUTE);
    expect(await round(flags)).toEqual([['ended', undefined]]);
  });

  it('does not roll back what another change has ended, nor what was started again', async () => {
    let change: () => Promise<unknown> = () => flags.disable(PRODUCTION);
    answer = async () => {
      await change();
      change = async () => undefined;
      return 'rollback';
    };
    await flags.rollouts.start(ref, STEPS);
    clock.advance(MINUTE);
    expect(await round(flags)).toEqual([]);
    expect(await percentage(flags)).toBe('5');
    await flags.enable(PRODUCTION);
    await flags.rollouts.start(ref, STEPS);
    change = async () => {
      await flags.rollouts.stop(ref);
      await flags.rollouts.start(ref, STEPS);
    };
    clock.advance(MINUTE);
    expect(await round(flags)).toEqual([]);
    expect(await percentage(flags)).toBe('5');
  });

  it('rolls back in the middle of a race of two nodes, and nothing follows', async () => {
    const startShared = await share();
    const one = await startShared(guarding());
    const other = await startShared({ ...guarding(), due: { run: 'elsewhere', guard: () => 'go' } });
    flags = one;
    ref = await addGradual(one);
    for (let attempt = 0; attempt < 5; attempt++) {
      answer = () => 'rollback';
      await one.rollouts.start(ref, STEPS);
      await other.refresh();
      clock.advance(DAY);
      await Promise.all([one.runDue(), other.runDue(), other.updateFlag(CHECKOUT, { description: `${attempt}` })]);
      await one.refresh();
      // The other node may have taken its step before; then the guard of this one is asked again in a minute.
      clock.advance(MINUTE);
      await one.runDue();
      expect((await one.rollouts.list()).items).toEqual([]);
      const [end] = (await one.events.list({ type: 'rollout-ended', limit: 1 })).items;
      expect(end).toMatchObject({ data: { reason: 'guard' } });
      expect(await percentage(one)).toBe('1');
      clock.advance(DAY);
      await other.runDue();
      expect(await percentage(one)).toBe('1');
    }
  });

  it('is needed for a guarded rollout: a node without one never steps it', async () => {
    const startShared = await share();
    const guarded = await startShared(guarding());
    const plain = await startShared({ now: clock.now, due: { run: 'elsewhere' } });
    ref = await addGradual(guarded);
    await guarded.rollouts.start(ref, { ...STEPS, guarded: true });
    await plain.refresh();
    clock.advance(DAY);
    expect(await round(plain)).toEqual([]);
    expect(await percentage(plain)).toBe('5');
    expect(await round(guarded)).toEqual([['running', 1]]);
    // Its end is no step: a change of the flag ends it on every node.
    await plain.disable(PRODUCTION);
    await guarded.refresh();
    clock.advance(DAY);
    expect(await round(guarded)).toEqual([]);
  });
});
