import { until } from '../../../../test/until.js';
import { type Flags, memoryStorage, openFlags, type UsageFilter } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, MINUTE, settableClock } from '../settable-clock.js';
import { faultyUsage, withUsage } from './faulty-usage.js';

async function reporting(start: Start) {
  const clock = settableClock('2026-03-01T12:30:00.000Z');
  const flags = await start({ now: clock.now, usage: { interval: 2 } });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const report = (age: number, given: { application?: string; environment?: string; flag?: string } = {}) => {
    const { application = 'web', environment, flag = 'checkout' } = given;
    const counted = { start: clock.text(-age - MINUTE), stop: clock.text(-age), counts: { [flag]: { yes: 1, no: 0 } } };
    return flags.reportMetrics({ application, ...counted, ...(environment !== undefined && { environment }) });
  };
  return { flags, clock, report };
}

async function yesOf(flags: Flags, filter: UsageFilter) {
  return (await flags.usage.list(filter)).items.map(({ yes }) => yes);
}

onEveryStorage((start) => {
  describe('usage over time', () => {
    it('lists every hour of an evaluated flag, and none of other flags', async () => {
      const { flags, report } = await reporting(start);
      expect((await flags.usage.list({ flag: 'checkout' })).items).toEqual([]);
      for (const age of [0, 2 * HOUR, 2 * HOUR, 30 * HOUR]) await report(age);
      const { items: hours } = await flags.usage.list({ flag: 'checkout' });
      expect(hours).toHaveLength(24);
      expect(hours.map(({ yes }) => yes).reduce((one, other) => one + other)).toBe(3);
      expect(new Set(hours.map(({ hour }) => hour)).size).toBe(24);
      expect(await yesOf(flags, { flag: 'checkout', hours: 168 })).toHaveLength(168);
      expect((await yesOf(flags, { flag: 'checkout', days: 30 })).reduce((one, other) => one + other)).toBe(4);
      expect((await flags.usage.list({ hours: 168 })).items.map(({ yes }) => yes)).toEqual([1, 2, 1]);
    });

    it('lists zeros for one application in one environment without evaluations', async () => {
      const { flags } = await reporting(start);
      const filter = { flag: 'checkout', environment: 'production', application: 'silent' };
      expect(await yesOf(flags, { ...filter, hours: 3 })).toEqual([0, 0, 0]);
    });

    it('prefers the environment of the token to that of the report, and uses the default for an unknown one', async () => {
      const { flags, clock } = await reporting(start);
      const counted = { start: clock.text(), stop: clock.text(), counts: { checkout: { yes: 1, no: 0 } } };
      const report = { application: 'web', ...counted };
      await flags.reportMetrics({ ...report, environment: 'development' });
      await flags.reportMetrics({ ...report, environment: 'production' }, { environment: 'development' });
      await flags.reportMetrics({ ...report, environment: 'development' }, { environment: '*' });
      await flags.reportMetrics({ ...report, environment: 'invented' });
      await flags.reportMetrics(report);
      const { items: usage } = await flags.usage.list({ hours: 1 });
      expect(usage.map(({ environment, yes }) => [environment, yes])).toEqual([
        ['development', 3],
        ['production', 2],
      ]);
    });

    it('counts the evaluations of this process by environment and variant', async () => {
      const { flags, clock } = await reporting(start);
      const ref = { ...DEFAULT, flag: 'checkout', environment: 'production' };
      await flags.setVariants({ ...DEFAULT, flag: 'checkout' }, [
        { name: 'blue', weightType: 'variable', weight: 1000 },
      ]);
      await flags.addStrategy(ref, { name: 'default' });
      await flags.enable(ref);
      for (const environment of ['production', 'production', 'development']) {
        flags.getVariant('checkout', { userId: '7' }, { environment });
      }
      flags.isEnabled('checkout', {}, { environment: 'production' });
      await until(async () => (await yesOf(flags, { hours: 1 })).reduce((one, other) => one + other, 0) === 3);
      const hour = clock.text().replace(/:.*/, ':00:00.000Z');
      expect(
        (await flags.usage.list({ hours: 1 })).items.map((row) => ({ ...row, variants: [...row.variants] })),
      ).toEqual([
        {
          flag: 'checkout',
          environment: 'development',
          application: 'default',
          hour,
          yes: 0,
          no: 1,
          variants: [['disabled', 1]],
        },
        {
          flag: 'checkout',
          environment: 'production',
          application: 'default',
          hour,
          yes: 3,
          no: 0,
          variants: [['blue', 2]],
        },
      ]);
    });

    it('lists pages that together are the whole list', async () => {
      const { flags, report } = await reporting(start);
      await flags.createFlag(DEFAULT, { name: 'search' });
      for (const flag of ['search', 'checkout']) {
        for (const application of ['web', 'billing']) {
          for (const age of [0, 3 * HOUR]) await report(age, { flag, application });
        }
      }
      for (const filter of [
        {},
        { flag: 'search' },
        { flag: 'search', days: 3 },
        { flag: 'search', application: 'web' },
      ]) {
        const { items: whole } = await flags.usage.list(filter);
        for (const limit of [1, 7]) {
          const found: unknown[] = [];
          let after: string | undefined;
          do {
            const page = await flags.usage.list(filter, { limit, ...(after !== undefined && { after }) });
            found.push(...page.items);
            after = page.next;
          } while (after !== undefined);
          expect(found).toEqual(whole);
        }
      }
    });

    it('starts from zero for a flag that was deleted and created again', async () => {
      const { flags, report } = await reporting(start);
      await report(0);
      await report(2 * DAY);
      await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
      await flags.deleteFlag({ ...DEFAULT, flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect((await flags.usage.list({ flag: 'checkout', days: 30 })).items).toEqual([]);
    });

    it('refuses an unknown flag, hours beside days, and a cursor of another list', async () => {
      const { flags } = await reporting(start);
      await expectRefusal(flags, 'flag_not_found', () => flags.usage.list({ flag: 'unknown' }));
      await expectRefusal(flags, 'invalid_input', () => flags.usage.list({ hours: 1, days: 1 }));
      await expectRefusal(flags, 'invalid_input', () => flags.usage.list({ hours: 169 }));
      await expectRefusal(flags, 'invalid_input', () => flags.usage.list({ days: 31 }));
      await expectRefusal(flags, 'environment_not_found', () => flags.usage.list({ environment: 'unknown' }));
      await expectRefusal(flags, 'invalid_input', () => flags.usage.list({}, { after: '["checkout"]' }));
    });
  });
});

describe('an operation while usage fails', () => {
  const FAULT = new Error('The usage cannot be reached.');
  const ref = { ...DEFAULT, flag: 'checkout' };

  /** An engine whose usage fails on demand. */
  async function running() {
    const errors: unknown[] = [];
    const usage = faultyUsage(memoryUsage());
    const flags = await openFlags({
      storage: withUsage(memoryStorage(), usage),
      onError: (error) => errors.push(error),
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.createFlag(DEFAULT, { name: 'archived' });
    await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
    const breakUsage = () => usage.inject({ method: ['lastSeen', 'forget'], error: FAULT });
    return { flags, errors, breakUsage };
  }

  it.each<[string, (flags: Flags) => Promise<unknown>]>([
    ['creation', (flags) => flags.createFlag(DEFAULT, { name: 'payments' })],
    ['clone', (flags) => flags.cloneFlag(ref, { name: 'payments' })],
    ['update', (flags) => flags.updateFlag(ref, { description: 'new' })],
    ['change of labels', (flags) => flags.changeLabels(ref, { add: ['a'] })],
    ['revival', (flags) => flags.reviveFlag({ flag: 'archived' })],
  ])('reads no usage for a %s of a flag', async (_, attempt) => {
    const { flags, errors, breakUsage } = await running();
    breakUsage();
    await attempt(flags);
    expect(errors).toEqual([]);
  });

  it('deletes a flag, and notifies the host', async () => {
    const { flags, errors, breakUsage } = await running();
    breakUsage();
    await flags.deleteFlag({ flag: 'archived' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getFlag({ ...DEFAULT, flag: 'archived' })).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('deletes a project, and notifies the host', async () => {
    const { flags, errors, breakUsage } = await running();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag({ project: 'shop' }, { name: 'old' });
    await flags.archiveFlag({ project: 'shop', flag: 'old' });
    breakUsage();
    await flags.deleteProject({ project: 'shop' });
    expect(errors).toEqual([FAULT]);
    await expect(flags.getProject({ project: 'shop' })).rejects.toMatchObject({ code: 'project_not_found' });
  });
});
