import type { Flags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, PRODUCTION } from '../references.js';
import { refusalOf } from '../refusal.js';
import { DAY, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, facts, type Gradual, percentage, round, STEPS } from './start.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;
  let answer: 'go' | 'rollback';

  beforeEach(async () => {
    clock = settableClock();
    answer = 'go';
    flags = await start({ now: clock.now, due: { run: 'elsewhere', guard: () => answer } });
    ref = await addGradual(flags);
  });

  /** Returns the id of the newest set. */
  async function lastSet(): Promise<string> {
    return `${(await flags.events.list({ limit: 1 })).items[0]?.changeSet}`;
  }

  const undo = async (changeSet: string) => flags.history.undo({ changeSet });
  const rollouts = async () => (await flags.rollouts.list()).items;

  /** Nothing goes on by itself. */
  async function expectStill(percents: unknown): Promise<void> {
    expect(await percentage(flags)).toBe(percents);
    expect(await rollouts()).toEqual([]);
    clock.advance(10 * DAY);
    expect(await round(flags)).toEqual([]);
    expect(await percentage(flags)).toBe(percents);
  }

  it('of the start restores the parameter, and ends the rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    const started = await lastSet();
    await flags.rollouts.pause(ref);
    await undo(started);
    expect(await facts(flags, 2)).toEqual([['rollout-ended', 'changed'], ['strategy-updated']]);
    await expectStill('1');
  });

  it('of a start at an equal percentage ends that rollout too, and no later one', async () => {
    await flags.updateStrategy(ref, { name: 'flexibleRollout', parameters: { rollout: '5' } });
    await flags.rollouts.start(ref, STEPS);
    const started = await lastSet();
    await undo(started);
    expect(await facts(flags, 1)).toEqual([['rollout-ended', 'changed']]);
    expect(await rollouts()).toEqual([]);
    clock.advance(MINUTE);
    await flags.rollouts.start(ref, STEPS);
    expect(await undo(started)).toMatchObject({ id: null });
    expect(await rollouts()).toHaveLength(1);
  });

  it.each([
    ['another', STEPS],
    ['the same', { steps: [{ percentage: 5, hold: DAY }, { percentage: 5, hold: DAY }, { percentage: 9 }] }],
  ])('of the start is a conflict after a step to %s percentage, which names the rollback', async (_, steps) => {
    await flags.rollouts.start(ref, steps);
    const started = await lastSet();
    clock.advance(DAY);
    await flags.runDue();
    const error = await refusalOf(undo(started));
    expect(error.code).toBe('undo_conflict');
    expect(error.message).toContain('stopRollout({ rollback: true })');
    expect(error.details.some(({ message }) => message.includes(`at ${clock.text()}`))).toBe(true);
    expect(await rollouts()).toMatchObject([{ step: 1 }]);
  });

  it('of a step restores the percentage, and ends the rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    await flags.runDue();
    await undo(await lastSet());
    expect(await facts(flags, 2)).toEqual([['rollout-ended', 'changed'], ['strategy-updated']]);
    await expectStill('5');
  });

  it('of an earlier change of the strategy ends the rollout', async () => {
    const input = { name: 'flexibleRollout', parameters: { rollout: '5' } };
    await flags.updateStrategy(ref, input);
    await flags.updateStrategy(ref, { ...input, title: 'Renamed' });
    const renamed = await lastSet();
    await flags.rollouts.start(ref, STEPS);
    await undo(renamed);
    expect(await facts(flags, 2)).toEqual([['rollout-ended', 'changed'], ['strategy-updated']]);
    await expectStill('5');
  });

  it('of `disable` switches on, without the rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    await flags.disable(PRODUCTION);
    await undo(await lastSet());
    expect((await flags.getFlag(CHECKOUT)).environments).toContainEqual(
      expect.objectContaining({ name: 'production', enabled: true }),
    );
    await expectStill('5');
  });

  it('of a rollback by the guard writes the higher percentage once', async () => {
    await flags.rollouts.start(ref, STEPS);
    clock.advance(DAY);
    await flags.runDue();
    answer = 'rollback';
    clock.advance(MINUTE);
    await flags.runDue();
    expect(await percentage(flags)).toBe('1');
    answer = 'go';
    await undo(await lastSet());
    await expectStill('25');
  });

  it('of a stop with a rollback writes the percentage of the moment', async () => {
    await flags.rollouts.start(ref, STEPS);
    await flags.rollouts.stop(ref, { rollback: true });
    await undo(await lastSet());
    await expectStill('5');
  });

  it('of a deletion creates the flag without the rollout', async () => {
    await flags.rollouts.start(ref, STEPS);
    await flags.apply([
      { op: 'archiveFlag', ref: CHECKOUT },
      { op: 'deleteFlag', ref: CHECKOUT },
    ]);
    await undo(await lastSet());
    await expectStill('5');
  });

  it('of the creation of a flag deletes what rolls out', async () => {
    const place = { ...PRODUCTION, flag: 'new' };
    const parameters = { rollout: '5' };
    const set = await flags.apply([
      { op: 'createFlag', ref: { project: 'default' }, input: { name: 'new' } },
      { op: 'addStrategy', ref: place, input: { name: 'flexibleRollout', parameters } },
      { op: 'enable', ref: place },
    ]);
    const added = set.events.find(({ type }) => type === 'strategy-added')?.data as { readonly id: string };
    await flags.rollouts.start({ ...place, strategy: added.id }, { steps: [{ percentage: 5, hold: null }] });
    await undo(`${set.id}`);
    expect(await facts(flags, 2)).toEqual([['rollout-ended', 'changed'], ['flag-deleted']]);
    expect(await rollouts()).toEqual([]);
  });

  it('of another part leaves the rollout as it is', async () => {
    await flags.updateFlag(CHECKOUT, { description: 'other' });
    const described = await lastSet();
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
    const added = await lastSet();
    await flags.rollouts.start(ref, STEPS);
    await flags.rollouts.pause(ref);
    const [before] = await rollouts();
    for (const set of [described, added]) await undo(set);
    expect(await rollouts()).toEqual([before]);
    expect((await flags.getFlag(CHECKOUT)).environments.flatMap(({ strategies }) => strategies)).not.toContainEqual(
      expect.objectContaining({ id }),
    );
  });

  it.each<[string, () => Promise<unknown>]>([
    ['paused', () => flags.rollouts.pause(ref)],
    [
      'resumed',
      async () => {
        await flags.rollouts.pause(ref);
        await flags.rollouts.resume(ref);
      },
    ],
    ['stopped', () => flags.rollouts.stop(ref)],
    [
      'ended',
      async () => {
        for (let day = 0; day < 4; day++) {
          clock.advance(DAY);
          await flags.runDue();
        }
        // Each look asks the guard again.
        await flags.runDue();
      },
    ],
  ])('of a set that only %s a rollout is refused with a sentence', async (_, change) => {
    await flags.rollouts.start(ref, STEPS);
    await change();
    const error = await refusalOf(undo(await lastSet()));
    expect(error.code).toBe('undo_conflict');
    expect(error.message).toContain('changed only rollouts, which an undo does not restore');
  });
});
