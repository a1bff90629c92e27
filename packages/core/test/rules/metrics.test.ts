import type { BulkReport, ClientRegistration, FlagCounts, Flags, MetricsReport } from '../../src/index.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from './references.js';
import { expectRefusal } from './refusal.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from './settable-clock.js';

type Toggles = Readonly<Record<string, FlagCounts>>;

async function reporting(start: Start) {
  const clock = settableClock();
  const flags = await start({ now: clock.now });
  const report = (toggles: Toggles, stop = clock.text()) =>
    flags.reportMetrics({ appName: 'web', bucket: { start: clock.text(-DAY), stop, toggles } });
  return { flags, clock, report };
}

function registration(clock: SettableClock): ClientRegistration {
  return { appName: 'web', instanceId: 'web-1', strategies: ['default'], started: clock.text(), interval: 60_000 };
}

async function countsIn(flags: Flags) {
  const { lastHour, lastMinute } = await flags.countEvaluations();
  return { lastHour: Object.fromEntries(lastHour), lastMinute: Object.fromEntries(lastMinute) };
}

onEveryStorage((start) => {
  describe('evaluation counts', () => {
    it('add up per flag', async () => {
      const { flags, report } = await reporting(start);
      await report({ checkout: { yes: 3, no: 1 }, other: { yes: 0, no: 2 } });
      await report({ checkout: { yes: 4, no: 0 } });
      const expected = { checkout: { yes: 7, no: 1 }, other: { yes: 0, no: 2 } };
      expect(await countsIn(flags)).toEqual({ lastHour: expected, lastMinute: expected });
    });

    it('slide with the clock: out of the minute first, then out of the hour', async () => {
      const { flags, clock, report } = await reporting(start);
      await report({ checkout: { yes: 1, no: 0 } });
      clock.advance(MINUTE - SECOND);
      expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 1, no: 0 } });
      clock.advance(2 * SECOND);
      expect(await countsIn(flags)).toEqual({
        lastMinute: { checkout: { yes: 0, no: 0 } },
        lastHour: { checkout: { yes: 1, no: 0 } },
      });
      clock.advance(HOUR - MINUTE - 3 * SECOND);
      expect((await countsIn(flags)).lastHour).toEqual({ checkout: { yes: 1, no: 0 } });
      clock.advance(MINUTE + 3 * SECOND);
      expect(await countsIn(flags)).toEqual({ lastHour: {}, lastMinute: {} });
    });

    it('are placed by the end of the reported period, not by when the report arrives', async () => {
      const { flags, clock, report } = await reporting(start);
      await report({ checkout: { yes: 1, no: 0 } }, clock.text(-10 * MINUTE));
      await report({ old: { yes: 1, no: 0 } }, clock.text(-2 * HOUR));
      expect(await countsIn(flags)).toEqual({
        lastMinute: { checkout: { yes: 0, no: 0 } },
        lastHour: { checkout: { yes: 1, no: 0 } },
      });
    });

    it('take a period that ends in the future as ending now', async () => {
      const { flags, clock, report } = await reporting(start);
      await report({ checkout: { yes: 1, no: 0 } }, clock.text(DAY));
      clock.advance(HOUR + MINUTE);
      expect((await countsIn(flags)).lastHour).toEqual({});
    });

    it('count under any name', async () => {
      const { flags, clock } = await reporting(start);
      const toggles = JSON.parse(`{${INHERITED_NAMES.map((name) => `"${name}":{"yes":1,"no":2}`).join(',')}}`);
      await flags.reportMetrics({ appName: '__proto__', bucket: { start: clock.text(), stop: clock.text(), toggles } });
      const { lastHour } = await flags.countEvaluations();
      expect([...lastHour]).toEqual([...INHERITED_NAMES].sort().map((name) => [name, { yes: 1, no: 2 }]));
      expect(await flags.listSeenFlags()).toEqual([
        { appName: '__proto__', flags: [...INHERITED_NAMES].sort(), metricsCount: 12 },
      ]);
      expect([...(await flags.listApplicationsByFlag()).keys()]).toEqual([...INHERITED_NAMES].sort());
    });

    it('all count when reports are simultaneous', async () => {
      const { flags, report } = await reporting(start);
      await Promise.all(Array.from({ length: 25 }, () => report({ checkout: { yes: 1, no: 2 } })));
      expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 25, no: 50 } });
    });
  });

  describe('a report', () => {
    it('tells when a flag was last seen: the latest end of a period that counted it', async () => {
      const { flags, clock, report } = await reporting(start);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await report({ checkout: { yes: 1, no: 0 } }, clock.text(-MINUTE));
      await report({ checkout: { yes: 1, no: 0 } }, clock.text(-HOUR));
      const lastSeenAt = clock.text(-MINUTE);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt });
      expect(await flags.listFlags(DEFAULT)).toMatchObject([{ lastSeenAt }]);
      expect((await flags.getProject(DEFAULT)).flags).toMatchObject([{ lastSeenAt }]);
      expect(await flags.updateFlag(CHECKOUT, { stale: true })).not.toHaveProperty('lastSeenAt');
    });

    it('never moves a flag’s revision nor makes an event', async () => {
      const { flags, report } = await reporting(start);
      const { revision } = await flags.createFlag(DEFAULT, { name: 'checkout' });
      const { total } = await flags.listEvents();
      await report({ checkout: { yes: 1, no: 0 } });
      expect((await flags.getFlag(CHECKOUT)).revision).toBe(revision);
      expect((await flags.listEvents()).total).toBe(total);
    });

    it.each<[string, (clock: SettableClock) => unknown]>([
      ['no application', ({ text }) => ({ bucket: { start: text(), stop: text(), toggles: {} } })],
      ['no bucket', () => ({ appName: 'web' })],
      ['no times', () => ({ appName: 'web', bucket: { toggles: {} } })],
      ['a time that is none', ({ text }) => ({ appName: 'web', bucket: { start: text(), stop: 'now', toggles: {} } })],
      [
        'an impossible date',
        ({ text }) => ({ appName: 'a', bucket: { start: text(), stop: '2026-02-30T00:00:00Z', toggles: {} } }),
      ],
      [
        'an end before its start',
        ({ text }) => ({ appName: 'web', bucket: { start: text(), stop: text(-1), toggles: {} } }),
      ],
      ...[-1, 1.5, '1', null, Number.NaN].map((yes): [string, (clock: SettableClock) => unknown] => [
        `a count of ${yes}`,
        ({ text }) => ({
          appName: 'web',
          bucket: { start: text(), stop: text(), toggles: { good: { yes: 1, no: 1 }, checkout: { yes, no: 0 } } },
        }),
      ]),
    ])('with %s is refused, and nothing of it counts', async (_, input) => {
      const { flags, clock } = await reporting(start);
      await expectRefusal(flags, 'invalid_input', () => flags.reportMetrics(input(clock) as MetricsReport));
    });
  });

  describe('a report in bulk', () => {
    it('takes the registrations and the counts of many clients', async () => {
      const { flags, clock } = await reporting(start);
      const bucket = { start: clock.text(-MINUTE), stop: clock.text() };
      await flags.reportMetricsInBulk({
        registrations: [registration(clock)],
        reports: [
          { appName: 'web', bucket: { ...bucket, toggles: { checkout: { yes: 3, no: 1 } } } },
          { appName: 'shop', bucket: { ...bucket, stop: clock.text(DAY), toggles: { checkout: { yes: 4, no: 0 } } } },
        ],
      });
      expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 7, no: 1 } });
      expect(await flags.getApplication({ application: 'web' })).toMatchObject({
        strategies: ['default'],
        instances: [{ instanceId: 'default' }, { instanceId: 'web-1' }],
      });
      expect(await flags.listSeenFlags()).toMatchObject([{ appName: 'shop' }, { appName: 'web', metricsCount: 4 }]);
    });

    it('with nothing in it changes nothing', async () => {
      const { flags } = await reporting(start);
      await flags.reportMetricsInBulk({});
      expect(await flags.listApplications()).toEqual([]);
    });

    it.each<[string, (clock: SettableClock) => unknown]>([
      ['a registration without a name', () => ({ registrations: [{ strategies: [] }] })],
      [
        'an end before its start',
        ({ text }) => ({ reports: [{ appName: 'b', bucket: { start: text(), stop: text(-1), toggles: {} } }] }),
      ],
      [
        'too many flags in all',
        ({ text }) => ({
          reports: ['a', 'b'].map((appName) => {
            const counts = Array.from({ length: 5001 }, (_, number) => [`flag-${number}`, { yes: 1, no: 0 }]);
            return { appName, bucket: { start: text(), stop: text(), toggles: Object.fromEntries(counts) } };
          }),
        }),
      ],
    ])('with %s is refused, and nothing of it counts', async (_, input) => {
      const { flags, clock } = await reporting(start);
      const good = { appName: 'good', bucket: { start: clock.text(), stop: clock.text(), toggles: {} } };
      const { registrations = [], reports = [] } = input(clock) as BulkReport;
      await expectRefusal(flags, 'invalid_input', () =>
        flags.reportMetricsInBulk({
          registrations: [registration(clock), ...registrations],
          reports: [good, ...reports],
        }),
      );
    });
  });

  describe('applications', () => {
    it('are known by registration, with their instances', async () => {
      const { flags, clock } = await reporting(start);
      await flags.registerApplication(registration(clock), { clientIp: '10.0.0.1' });
      const created = clock.text();
      clock.advance(MINUTE);
      await flags.registerApplication({ ...registration(clock), instanceId: 'web-2', strategies: ['own'] });
      expect(await flags.getApplication({ application: 'web' })).toMatchObject({
        appName: 'web',
        strategies: ['own'],
        createdAt: created,
        updatedAt: clock.text(),
        seenFlags: [],
        instances: [
          { instanceId: 'web-1', clientIp: '10.0.0.1', createdAt: created, lastSeen: created },
          { instanceId: 'web-2', clientIp: '', createdAt: clock.text(), lastSeen: clock.text() },
        ],
      });
    });

    it('are known by reports as well', async () => {
      const { flags, report } = await reporting(start);
      await report({ b: { yes: 1, no: 0 }, a: { yes: 2, no: 3 } });
      expect(await flags.listApplications()).toMatchObject([{ appName: 'web', strategies: [] }]);
      expect(await flags.getApplication({ application: 'web' })).toMatchObject({ seenFlags: ['a', 'b'] });
      expect(await flags.listSeenFlags()).toEqual([{ appName: 'web', flags: ['a', 'b'], metricsCount: 6 }]);
      const byFlag = await flags.listApplicationsByFlag();
      expect([...byFlag].map(([flag, apps]) => [flag, apps.map(({ appName }) => appName)])).toEqual([
        ['a', ['web']],
        ['b', ['web']],
      ]);
    });

    it('are listed while seen within the last day', async () => {
      const { flags, clock } = await reporting(start);
      await flags.registerApplication(registration(clock));
      clock.advance(DAY - SECOND);
      expect(await flags.listApplications()).toHaveLength(1);
      clock.advance(2 * SECOND);
      expect(await flags.listApplications()).toEqual([]);
      expect(await flags.getApplication({ application: 'web' })).toMatchObject({ appName: 'web' });
    });

    it('are listed by the strategies they implement', async () => {
      const { flags, clock } = await reporting(start);
      const named = (strategies: readonly string[]) =>
        flags.listApplications({ strategies }).then((list) => list.map(({ appName }) => appName));
      await flags.registerApplication({ ...registration(clock), appName: 'a', strategies: ['default', 'own'] });
      await flags.registerApplication({ ...registration(clock), appName: 'b', strategies: ['other'] });
      expect(await named(['own'])).toEqual(['a']);
      expect(await named(['own', 'other'])).toEqual(['a', 'b']);
      expect(await named(['toString'])).toEqual([]);
      expect(await named([])).toEqual(['a', 'b']);
    });

    it('are refused when unknown or not well described', async () => {
      const { flags, clock } = await reporting(start);
      await expectRefusal(flags, 'application_not_found', () => flags.getApplication({ application: 'constructor' }));
      for (const fault of [
        { appName: '' },
        { appName: 'x'.repeat(256) },
        { strategies: 'default' },
        { started: 'then' },
      ]) {
        const input = { ...registration(clock), ...fault } as unknown as ClientRegistration;
        await expectRefusal(flags, 'invalid_input', () => flags.registerApplication(input));
      }
    });
  });
});
