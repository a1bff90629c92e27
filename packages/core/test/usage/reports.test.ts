import { extent } from '../../../../test/extent.js';
import type { Flags, ListPage, PageQuery } from '../../src/index.js';
import type { BulkReport, ClientRegistration, FlagCounts, MetricsReport } from '../../src/types.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from '../settable-clock.js';

describe('metrics', () => {
  type Counts = Readonly<Record<string, FlagCounts>>;

  async function reporting(start: Start) {
    const clock = settableClock();
    const flags = await start({ now: clock.now });
    const report = (counts: Counts, stop = clock.text()) =>
      flags.reportMetrics({ application: 'web', start: clock.text(-DAY), stop, counts });
    return { flags, clock, report };
  }

  const REGISTRATION: ClientRegistration = { application: 'web', instance: 'web-1', strategies: ['default'] };

  async function countsIn(flags: Flags) {
    const { lastHour, lastMinute } = await flags.usage.count();
    return { lastHour: Object.fromEntries(lastHour), lastMinute: Object.fromEntries(lastMinute) };
  }

  onEveryStorage((start) => {
    describe('evaluation counts', () => {
      it('are summed per flag', async () => {
        const { flags, report } = await reporting(start);
        await report({ checkout: { yes: 3, no: 1 }, other: { yes: 0, no: 2 } });
        await report({ checkout: { yes: 4, no: 0 } });
        const expected = { checkout: { yes: 7, no: 1 }, other: { yes: 0, no: 2 } };
        expect(await countsIn(flags)).toEqual({ lastHour: expected, lastMinute: expected });
      });

      it('move with the clock: out of the minute first, then out of the hour', async () => {
        const { flags, clock, report } = await reporting(start);
        await report({ checkout: { yes: 1, no: 0 } });
        clock.advance(MINUTE - SECOND);
        expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 1, no: 0 } });
        clock.advance(MINUTE + 2 * SECOND);
        expect(await countsIn(flags)).toEqual({
          lastMinute: { checkout: { yes: 0, no: 0 } },
          lastHour: { checkout: { yes: 1, no: 0 } },
        });
        clock.advance(HOUR - 2 * MINUTE - 3 * SECOND);
        expect((await countsIn(flags)).lastHour).toEqual({ checkout: { yes: 1, no: 0 } });
        clock.advance(MINUTE + 3 * SECOND);
        expect(await countsIn(flags)).toEqual({ lastHour: {}, lastMinute: {} });
      });

      it('belong to the end of the reported period, not to the arrival of the report', async () => {
        const { flags, clock, report } = await reporting(start);
        await report({ checkout: { yes: 1, no: 0 } }, clock.text(-10 * MINUTE));
        await report({ old: { yes: 1, no: 0 } }, clock.text(-2 * HOUR));
        expect(await countsIn(flags)).toEqual({
          lastMinute: { checkout: { yes: 0, no: 0 } },
          lastHour: { checkout: { yes: 1, no: 0 } },
        });
      });

      it('treat a period that ends in the future as ending now', async () => {
        const { flags, clock, report } = await reporting(start);
        await report({ checkout: { yes: 1, no: 0 } }, clock.text(DAY));
        clock.advance(HOUR + MINUTE);
        expect((await countsIn(flags)).lastHour).toEqual({});
      });

      it('of a bulk report with an id are stored once', async () => {
        const { flags, clock } = await reporting(start);
        const [begin, stop] = [clock.text(-MINUTE), clock.text()];
        const reporter = (token: string) => ({ reporter: { token, isPublic: false } });
        const names = Array.from({ length: 1200 }, (_, index) => `flag-${1000 + index}`);
        const counts = Object.fromEntries(names.map((name) => [name, { yes: 2, no: 1 }]));
        // Known names are counted by others than unknown ones. A part must not move when a flag is created.
        await flags.apply(names.slice(0, 400).map((name) => ({ op: 'createFlag', ref: DEFAULT, input: { name } })));
        const bulk = { registrations: [REGISTRATION], reports: [{ application: 'web', start: begin, stop, counts }] };
        const created = names.slice(0, 500);
        const summed = async () => {
          const { lastHour } = await countsIn(flags);
          return created.map((name) => lastHour[name]?.yes ?? 0);
        };
        await flags.reportMetricsInBulk(bulk, { id: 'first', ...reporter('one') });
        await flags.apply(names.slice(400, 500).map((name) => ({ op: 'createFlag', ref: DEFAULT, input: { name } })));
        await flags.reportMetricsInBulk(bulk, { id: 'first', ...reporter('one') });
        expect((await summed()).slice(0, 400)).toEqual(Array(400).fill(2));
        expect(Math.max(...(await summed()))).toBe(2);
        await flags.reportMetricsInBulk(bulk, { id: 'second', ...reporter('one') });
        await flags.reportMetricsInBulk(bulk, { id: 'first', ...reporter('two') });
        expect((await summed()).slice(0, 400)).toEqual(Array(400).fill(6));
        for (const id of ['', 'x'.repeat(201), 7 as never]) {
          await expectRefusal(flags, 'invalid_input', () => flags.reportMetricsInBulk(bulk, { id }));
        }
      });

      it('are stored for any name', async () => {
        const { flags, clock } = await reporting(start);
        const counts = JSON.parse(`{${INHERITED_NAMES.map((name) => `"${name}":{"yes":1,"no":2}`).join(',')}}`);
        await flags.reportMetrics({
          application: '__proto__',
          start: clock.text(),
          stop: clock.text(),
          counts,
        });
        const { lastHour } = await flags.usage.count();
        expect([...lastHour]).toEqual([...INHERITED_NAMES].sort().map((name) => [name, { yes: 1, no: 2 }]));
        expect((await flags.usage.listSeenFlags()).items).toEqual([
          { application: '__proto__', flags: [...INHERITED_NAMES].sort(), evaluations: 12 },
        ]);
        const { items } = await flags.applications.listByFlag();
        expect(items.map(({ flag }) => flag)).toEqual([...INHERITED_NAMES].sort());
      });

      it('are all counted when reports are simultaneous', async () => {
        const { flags, report } = await reporting(start);
        await Promise.all(Array.from({ length: 25 }, () => report({ checkout: { yes: 1, no: 2 } })));
        expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 25, no: 50 } });
      });
    });

    describe('a report', () => {
      it('sets when a flag was last seen: the latest end of a period that counted it', async () => {
        const { flags, clock, report } = await reporting(start);
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        await report({ checkout: { yes: 1, no: 0 } }, clock.text(-MINUTE));
        await report({ checkout: { yes: 1, no: 0 } }, clock.text(-HOUR));
        const lastSeenAt = clock.text(-MINUTE);
        expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt });
        expect((await flags.listFlags(DEFAULT)).items).toMatchObject([{ lastSeenAt }]);
        expect((await flags.getProject(DEFAULT)).flags).toMatchObject([{ lastSeenAt }]);
        expect(await flags.updateFlag(CHECKOUT, { stale: true })).not.toHaveProperty('lastSeenAt');
      });

      it('never changes a flag’s revision nor adds an event', async () => {
        const { flags, report } = await reporting(start);
        const { revision } = await flags.createFlag(DEFAULT, { name: 'checkout' });
        const { total } = await flags.events.list();
        await report({ checkout: { yes: 1, no: 0 } });
        expect((await flags.getFlag(CHECKOUT)).revision).toBe(revision);
        expect((await flags.events.list()).total).toBe(total);
      });

      it.each<[string, (clock: SettableClock) => unknown]>([
        ['no application', ({ text }) => ({ start: text(), stop: text(), counts: {} })],
        ['no period', ({ text }) => ({ application: 'web', counts: {}, stop: text() })],
        ['no counts', ({ text }) => ({ application: 'web', start: text(), stop: text() })],
        ['an invalid time', ({ text }) => ({ application: 'web', start: text(), stop: 'now', counts: {} })],
        [
          'an impossible date',
          ({ text }) => ({ application: 'a', start: text(), stop: '2026-02-30T00:00:00Z', counts: {} }),
        ],
        ['an end before its start', ({ text }) => ({ application: 'web', start: text(), stop: text(-1), counts: {} })],
        ...[-1, 1.5, '1', null, Number.NaN].map((yes): [string, (clock: SettableClock) => unknown] => [
          `a count of ${yes}`,
          ({ text }) => ({
            application: 'web',
            start: text(),
            stop: text(),
            counts: { good: { yes: 1, no: 1 }, checkout: { yes, no: 0 } },
          }),
        ]),
      ])('is refused with %s, and nothing of it is counted', async (_, input) => {
        const { flags, clock } = await reporting(start);
        await expectRefusal(flags, 'invalid_input', () => flags.reportMetrics(input(clock) as MetricsReport));
      });
    });

    describe('a report in bulk', () => {
      it('contains the registrations and the counts of many clients', async () => {
        const { flags, clock } = await reporting(start);
        const period = { start: clock.text(-MINUTE), stop: clock.text() };
        await flags.reportMetricsInBulk({
          registrations: [REGISTRATION],
          reports: [
            { application: 'web', ...period, counts: { checkout: { yes: 3, no: 1 } } },
            { application: 'shop', ...period, stop: clock.text(DAY), counts: { checkout: { yes: 4, no: 0 } } },
          ],
        });
        expect((await countsIn(flags)).lastMinute).toEqual({ checkout: { yes: 7, no: 1 } });
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({
          strategies: ['default'],
          instances: [{ id: 'default' }, { id: 'web-1' }],
        });
        expect((await flags.usage.listSeenFlags()).items).toMatchObject([
          { application: 'shop' },
          { application: 'web', evaluations: 4 },
        ]);
      });

      it('changes nothing if it is empty', async () => {
        const { flags } = await reporting(start);
        await flags.reportMetricsInBulk({});
        expect((await flags.applications.list()).items).toEqual([]);
      });

      it.each<[string, (clock: SettableClock) => unknown]>([
        ['a registration without a name', () => ({ registrations: [{ strategies: [] }] })],
        [
          'an end before its start',
          ({ text }) => ({ reports: [{ application: 'b', start: text(), stop: text(-1), counts: {} }] }),
        ],
        [
          'too many flags in all',
          ({ text }) => ({
            reports: ['a', 'b'].map((application) => {
              const counts = Array.from({ length: 5001 }, (_, number) => [`flag-${number}`, { yes: 1, no: 0 }]);
              return { application, start: text(), stop: text(), counts: Object.fromEntries(counts) };
            }),
          }),
        ],
      ])('is refused with %s, and nothing of it is counted', async (_, input) => {
        const { flags, clock } = await reporting(start);
        const good = { application: 'good', start: clock.text(), stop: clock.text(), counts: {} };
        const { registrations = [], reports = [] } = input(clock) as BulkReport;
        await expectRefusal(flags, 'invalid_input', () =>
          flags.reportMetricsInBulk({
            registrations: [REGISTRATION, ...registrations],
            reports: [good, ...reports],
          }),
        );
      });
    });

    describe('applications', () => {
      it('are known by registration, with their instances', async () => {
        const { flags, clock } = await reporting(start);
        await flags.registerApplication(REGISTRATION, { clientIp: '10.0.0.1' });
        const created = clock.text();
        clock.advance(MINUTE);
        await flags.registerApplication({ ...REGISTRATION, instance: 'web-2', strategies: ['own'] });
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({
          name: 'web',
          strategies: ['own'],
          createdAt: created,
          updatedAt: clock.text(),
          seenFlags: [],
          instances: [
            { id: 'web-1', clientIp: '10.0.0.1', createdAt: created, lastSeenAt: created },
            { id: 'web-2', clientIp: '', createdAt: clock.text(), lastSeenAt: clock.text() },
          ],
        });
      });

      it('are known by reports as well', async () => {
        const { flags, report } = await reporting(start);
        await report({ b: { yes: 1, no: 0 }, a: { yes: 2, no: 3 } });
        expect((await flags.applications.list()).items).toMatchObject([{ name: 'web', strategies: [] }]);
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({ seenFlags: ['a', 'b'] });
        expect((await flags.usage.listSeenFlags()).items).toEqual([
          { application: 'web', flags: ['a', 'b'], evaluations: 6 },
        ]);
        const { items: byFlag } = await flags.applications.listByFlag();
        expect(byFlag.map(({ flag, application }) => [flag, application.name])).toEqual([
          ['a', 'web'],
          ['b', 'web'],
        ]);
      });

      it('are listed while seen within the last day', async () => {
        const { flags, clock } = await reporting(start);
        await flags.registerApplication(REGISTRATION);
        clock.advance(DAY - SECOND);
        expect((await flags.applications.list()).items).toHaveLength(1);
        clock.advance(2 * SECOND);
        expect((await flags.applications.list()).items).toEqual([]);
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({ name: 'web' });
      });

      it('are listed by the strategies they implement', async () => {
        const { flags } = await reporting(start);
        const named = (strategies: readonly string[]) =>
          flags.applications.list({ strategies }).then(({ items }) => items.map(({ name }) => name));
        await flags.registerApplication({ ...REGISTRATION, application: 'a', strategies: ['default', 'own'] });
        await flags.registerApplication({ ...REGISTRATION, application: 'b', strategies: ['other'] });
        expect(await named(['own'])).toEqual(['a']);
        expect(await named(['own', 'other'])).toEqual(['a', 'b']);
        expect(await named(['toString'])).toEqual([]);
        expect(await named([])).toEqual(['a', 'b']);
      });

      it('are refused when unknown or invalid', async () => {
        const { flags } = await reporting(start);
        await expectRefusal(flags, 'application_not_found', () =>
          flags.applications.get({ application: 'constructor' }),
        );
        for (const fault of [
          { application: '' },
          { application: 'x'.repeat(256) },
          { strategies: 'default' },
          { instance: 7 },
        ]) {
          const input = { ...REGISTRATION, ...fault } as unknown as ClientRegistration;
          await expectRefusal(flags, 'invalid_input', () => flags.registerApplication(input));
        }
      });
    });
  });
});

describe('metrics limits', () => {
  async function reporting(start: Start) {
    const clock = settableClock();
    const flags = await start({ now: clock.now });
    const report = (names: readonly string[], projects?: readonly string[]) =>
      flags.reportMetrics(
        {
          application: 'web',
          start: clock.text(),
          stop: clock.text(),
          counts: Object.fromEntries(names.map((name) => [name, { yes: 1, no: 0 }])),
        },
        { ...(projects && { projects }) },
      );
    const register = (given: Partial<ClientRegistration> = {}) =>
      flags.registerApplication({ application: 'web', strategies: [], ...given });
    return { flags, clock, report, register };
  }

  function names(count: number): string[] {
    return Array.from({ length: count }, (_, index) => `name-${10_000 + index}`);
  }

  async function all<Item>(pageOf: (query: PageQuery) => Promise<ListPage<Item>>, limit: number): Promise<Item[]> {
    const found: Item[] = [];
    let after: string | undefined;
    do {
      const { items, next } = await pageOf({ limit, after });
      found.push(...items);
      after = next;
    } while (after !== undefined);
    return found;
  }

  const nothing = (flags: Flags) => flags.status().dropped;

  onEveryStorage((start) => {
    describe('names of flags that do not exist', () => {
      it('are limited to the last hundred of an application; others are counted', async () => {
        const { flags, clock, report } = await reporting(start);
        expect(nothing(flags)).toBeUndefined();
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        await report(['checkout', ...names(1000)]);
        const application = await flags.applications.get({ application: 'web' });
        expect(application.seenFlags).toEqual(['checkout', ...names(1000).slice(900)]);
        expect(application.droppedNames).toBe(900);
        expect((await flags.usage.count()).lastHour.size).toBe(101);
        clock.advance(1);
        await report(['another']);
        expect((await flags.applications.get({ application: 'web' })).seenFlags).not.toContain('name-10900');
        expect(flags.status().dropped).toEqual({ names: 901, reports: 0 });
      });

      it('do not include flags nor archived flags, and do not make a flag seen', async () => {
        const { flags, clock, report } = await reporting(start);
        const flagNames = names(150);
        for (const name of flagNames) await flags.createFlag(DEFAULT, { name });
        await flags.archiveFlag({ ...DEFAULT, flag: 'name-10000' });
        await report([...flagNames, 'checkout']);
        expect((await flags.applications.get({ application: 'web' })).seenFlags).toEqual(['checkout', ...flagNames]);
        expect(await flags.getFlag({ ...DEFAULT, flag: 'name-10000' })).toMatchObject({ lastSeenAt: clock.text() });
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: null });
        await report(['checkout']);
        expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: clock.text() });
        expect((await flags.usage.count()).lastHour.get('checkout')).toEqual({ yes: 2, no: 0 });
      });

      it('are limited to a thousand of one report in bulk', async () => {
        const { flags, clock } = await reporting(start);
        const counts = Object.fromEntries(names(90).map((name) => [name, { yes: 1, no: 0 }]));
        const period = { start: clock.text(), stop: clock.text(), counts };
        const reports = Array.from({ length: 20 }, (_, index) => ({ application: `app-${10 + index}`, ...period }));
        const before = flags.status().dropped?.names ?? 0;
        await flags.reportMetricsInBulk({ reports });
        const kept = (await flags.usage.listSeenFlags()).items.map(({ application, flags: seen }) => [
          application,
          seen.length,
        ]);
        expect(kept).toEqual([['app-18', 10], ...names(11).map((_, index) => [`app-${19 + index}`, 90])]);
        expect(flags.status().dropped).toEqual({ names: before + 800, reports: 0 });
      });
    });

    describe('a report for some projects', () => {
      it('counts flags of these projects only; names of other flags are dropped', async () => {
        const { flags, report } = await reporting(start);
        await flags.createProject({ id: 'shop', name: 'Shop' });
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        await flags.createFlag({ project: 'shop' }, { name: 'theirs' });
        await flags.createFlag({ project: 'shop' }, { name: 'archived' });
        await flags.archiveFlag({ project: 'shop', flag: 'archived' });
        const before = flags.status().dropped?.names ?? 0;
        await report(['checkout', 'theirs', 'archived', 'chekcout'], ['default', 'other']);
        expect((await flags.applications.get({ application: 'web' })).seenFlags).toEqual(['checkout', 'chekcout']);
        expect([...(await flags.usage.count()).lastHour.keys()]).toEqual(['checkout', 'chekcout']);
        expect(await flags.getFlag({ project: 'shop', flag: 'theirs' })).toMatchObject({ lastSeenAt: null });
        expect(flags.status().dropped).toEqual({ names: before + 2, reports: 0 });
      });
    });

    describe('a registration', () => {
      const long = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(70, 'x'));

      it('is refused above 64 KiB', async () => {
        const { flags, register } = await reporting(start);
        await register({ strategies: long.slice(0, 800) });
        await expectRefusal(flags, 'invalid_input', () => register({ strategies: long }));
        const registration = { application: 'web', strategies: long.slice(0, 800) };
        const bulk = (count: number) => ({ registrations: Array.from({ length: count }, () => registration) });
        await expectRefusal(flags, 'invalid_input', () => flags.reportMetricsInBulk(bulk(20)));
        await flags.reportMetricsInBulk(bulk(10));
      });

      it('accepts times as epoch milliseconds', async () => {
        const { flags, clock } = await reporting(start);
        const now = clock.now().getTime();
        const counts = { checkout: { yes: 1, no: 0 } };
        await flags.reportMetrics({ application: 'web', start: now - 60_000, stop: now - 1000, counts });
        expect((await flags.usage.count()).lastMinute.get('checkout')).toEqual({ yes: 1, no: 0 });
        for (const stop of [now - 60_001, 1e300, Number.NaN]) {
          await expectRefusal(flags, 'invalid_input', () =>
            flags.reportMetrics({ application: 'web', start: now - 60_000, stop, counts }),
          );
        }
      });
    });

    describe('a deleted application', () => {
      it('is deleted with its usage, and starts from zero', async () => {
        const { flags, report, register } = await reporting(start);
        await register({ description: 'The web shop' });
        await report(['checkout']);
        await flags.applications.delete({ application: 'web' });
        await expectRefusal(flags, 'application_not_found', () => flags.applications.delete({ application: 'web' }));
        expect((await flags.usage.listSeenFlags()).items).toEqual([]);
        await report([]);
        expect(await flags.applications.get({ application: 'web' })).toMatchObject({ description: '', seenFlags: [] });
      });
    });

    describe('a paged read', () => {
      it('equals the complete read', async () => {
        const { flags, clock, report } = await reporting(start);
        for (let index = 0; index < 60; index++) {
          const counts = Object.fromEntries(names(10 + (index % 20)).map((name) => [name, { yes: 1, no: 1 }]));
          const period = { start: clock.text(), stop: clock.text(), counts };
          await flags.reportMetrics({ application: `app-${1000 + index}`, ...period });
        }
        await report(names(3));
        const { items: pairs } = await flags.applications.listByFlag();
        expect(pairs.length).toBeGreaterThan(1000);
        for (const limit of extent({ short: [400, 1000], full: [7, 400, 1000] })) {
          expect(await all((page) => flags.usage.listSeenFlags(page), limit)).toEqual(
            (await flags.usage.listSeenFlags()).items,
          );
          expect(await all((page) => flags.applications.list({}, page), limit)).toEqual(
            (await flags.applications.list()).items,
          );
          expect(await all((page) => flags.applications.listByFlag(page), limit)).toEqual(pairs);
        }
        for (const after of ['', '{', '[1,2]', 'null']) {
          await expectRefusal(flags, 'invalid_input', () => flags.applications.listByFlag({ after }));
        }
      });

      it('ends a page where it would be too long', async () => {
        const { flags, register } = await reporting(start);
        const strategies = Array.from({ length: 600 }, (_, index) => `${index}`.padEnd(100, 'x'));
        for (let index = 0; index < 20; index++) await register({ application: `app-${10 + index}`, strategies });
        const first = await flags.applications.list({}, { limit: 100 });
        expect(first.items.length).toBe(17);
        const second = await flags.applications.list({}, { limit: 100, after: first.next });
        expect(second.items.map(({ name }) => name)).toEqual(['app-27', 'app-28', 'app-29']);
        expect(second.next).toBeUndefined();
      });
    });
  });
});
