import { extent } from '../../../../test/extent.js';
import { processorTime } from '../../../../test/processor-time.js';
import { createFlags, type Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { SILENT } from '../replica/silent.js';
import { createSwitchedOn, onlyFor } from '../replica/switched-on.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { type OpenStorage, STORAGES } from '../storage-kinds.js';

const INVALID = { name: 'FlagsError', code: 'invalid_input' };

describe.each(STORAGES)('asOf on $name', ({ open }) => {
  let time = Date.UTC(2026, 0, 1);
  let opened: OpenStorage;
  let flags: Flags;

  beforeEach(async () => {
    opened = await open();
    flags = await createFlags({ ...SILENT, storage: opened.storage, now: () => new Date(time) });
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  /** Lets some time pass, and gives the time in between. */
  function tick(): Date {
    time += 2_000;
    return new Date(time - 1_000);
  }

  it('returns the past state, evaluation and explanation', async () => {
    await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
    const then = await flags.getFlag(CHECKOUT);
    const explained = flags.explain('checkout', { userId: 'ada' });
    const at = tick();
    await flags.disable(PRODUCTION);
    await flags.updateFlag(CHECKOUT, { description: 'later' });
    const view = flags.asOf(at);
    expect(await view.getFlag(CHECKOUT)).toEqual(then);
    expect(await view.isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(await view.isEnabled('checkout', { userId: 'grace' })).toBe(false);
    expect((await view.getVariant('checkout', { userId: 'ada' })).name).toBe('blue');
    expect(await view.explain('checkout', { userId: 'ada' })).toEqual(explained);
    expect(flags.isEnabled('checkout', { userId: 'ada' })).toBe(false);
  });

  it('evaluates with the parents, the segments and the time of then', async () => {
    const { id } = await flags.createSegment({
      name: 'early',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
    });
    await createSwitchedOn(flags, { flag: 'parent' });
    await createSwitchedOn(flags, {
      flag: 'checkout',
      strategies: [
        {
          name: 'default',
          segments: [id],
          constraints: [
            { contextName: 'currentTime', operator: 'DATE_BEFORE', value: new Date(time + 10_000).toISOString() },
          ],
        },
      ],
    });
    await flags.addDependency(CHECKOUT, { flag: 'parent' });
    const at = tick();
    const child = await flags.getFlag(CHECKOUT);
    const parent = await flags.getFlag({ ...DEFAULT, flag: 'parent' });
    await flags.updateSegment({ segment: id }, { constraints: [] });
    await flags.disable({ ...PRODUCTION, flag: 'parent' });
    await flags.removeDependency(CHECKOUT, { flag: 'parent' });
    await flags.archiveFlag(CHECKOUT);
    await flags.deleteFlag(CHECKOUT);
    time += 100_000;
    const view = flags.asOf(at.toISOString());
    expect(await view.isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(await view.isEnabled('checkout', { userId: 'grace' })).toBe(false);
    expect(await view.getFlag(CHECKOUT)).toEqual(child);
    expect((await view.getFlag({ ...DEFAULT, flag: 'parent' })).children).toEqual(parent.children);
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('knows no flag that was created later, was archived, or belongs to another project', async () => {
    await createSwitchedOn(flags, { flag: 'archived' });
    await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
    const view = flags.asOf(tick());
    await createSwitchedOn(flags, { flag: 'checkout' });
    await expect(view.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'flag_not_found' });
    await expect(view.getFlag({ project: 'none', flag: 'archived' })).rejects.toMatchObject({
      code: 'project_not_found',
    });
    expect((await view.getFlag({ ...DEFAULT, flag: 'archived' })).archived).toBe(true);
    expect(await view.isEnabled('checkout', {}, { fallback: true })).toBe(true);
    expect(await view.isEnabled('archived', {}, { fallback: true })).toBe(true);
    expect((await view.explain('checkout')).reason).toBe('unknown_flag');
  });

  it('is the state after the event at a position', async () => {
    await createSwitchedOn(flags, { flag: 'checkout' });
    const { events } = await flags.listEvents({ flag: 'checkout' });
    const answers = await Promise.all(
      events.map(async ({ position }) => (await flags.asOf({ position }).isEnabled('checkout')) === true),
    );
    expect(answers).toEqual([true, false, false]);
  });

  it('refuses an invalid time, a time before the log, and unknown projects or flags', async () => {
    for (const time of ['yesterday', '', new Date(Number.NaN), 7, null, undefined, {}, { position: 7 }]) {
      expect(() => flags.asOf(time as never)).toThrow(expect.objectContaining(INVALID));
    }
    await expect(flags.asOf('2000-01-01T00:00:00Z').getFlag(CHECKOUT)).rejects.toMatchObject(INVALID);
    await expect(flags.asOf({ position: 'x' }).isEnabled('a')).rejects.toMatchObject(INVALID);
    const view = flags.asOf(new Date(time));
    await expect(view.isEnabled('a', {}, { environment: 'nowhere' })).rejects.toMatchObject({
      code: 'environment_not_found',
    });
    await expect(view.isEnabled(7 as never)).rejects.toMatchObject(INVALID);
    await expect(view.getFlag({ project: 'default', flag: 7 } as never)).rejects.toMatchObject(INVALID);
  });
});

describe('asOf of a flag with many events', () => {
  const EVENTS = extent({ short: 450, full: 10_000 });

  it('takes milliseconds at any time', async () => {
    const directory = temporaryDirectory();
    let time = Date.UTC(2026, 0, 1);
    const storage = sqliteStorage(`${directory.path}/flags.db`);
    const flags = await createFlags({ ...SILENT, storage, now: () => new Date(time) });
    await createSwitchedOn(flags, { flag: 'checkout' });
    for (let round = 1; round <= EVENTS; round++) {
      time += 1_000;
      await flags.updateFlag(CHECKOUT, { description: `round ${round}` });
    }
    const durations: number[] = [];
    for (let round = 1; round <= EVENTS; round += Math.floor(EVENTS / 50)) {
      const start = processorTime();
      const view = flags.asOf(new Date(Date.UTC(2026, 0, 1) + round * 1_000 + 500));
      const { description } = await view.getFlag(CHECKOUT);
      durations.push(processorTime() - start);
      expect(description).toBe(`round ${round}`);
      expect(await view.isEnabled('checkout')).toBe(true);
    }
    durations.sort((one, other) => one - other);
    expect(durations[Math.floor(durations.length / 2)]).toBeLessThan(20);
    await flags.close();
    directory.remove();
  });
});
