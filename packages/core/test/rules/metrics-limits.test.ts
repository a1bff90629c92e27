import { extent } from '../../../../test/extent.js';
import type { ClientRegistration, Flags, Page, PageQuery } from '../../src/index.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';
import { settableClock } from './settable-clock.js';

async function reporting(start: Start) {
  const clock = settableClock();
  const flags = await start({ now: clock.now });
  const report = (names: readonly string[], projects?: readonly string[]) =>
    flags.reportMetrics(
      {
        appName: 'web',
        bucket: {
          start: clock.text(),
          stop: clock.text(),
          toggles: Object.fromEntries(names.map((name) => [name, { yes: 1, no: 0 }])),
        },
      },
      { ...(projects && { projects }) },
    );
  const register = (given: Partial<ClientRegistration> = {}) =>
    flags.registerApplication({ appName: 'web', strategies: [], started: clock.text(), interval: 0, ...given });
  return { flags, clock, report, register };
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name-${10_000 + index}`);
}

async function all<Item>(pageOf: (query: PageQuery) => Promise<Page<Item>>, limit: number): Promise<Item[]> {
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
      const application = await flags.getApplication({ application: 'web' });
      expect(application.seenFlags).toEqual(['checkout', ...names(1000).slice(900)]);
      expect(application.droppedNames).toBe(900);
      expect((await flags.countEvaluations()).lastHour.size).toBe(101);
      clock.advance(1);
      await report(['another']);
      expect((await flags.getApplication({ application: 'web' })).seenFlags).not.toContain('name-10900');
      expect(flags.status().dropped).toEqual({ names: 901, reports: 0 });
    });

    it('are neither those of flags, nor those of archived flags, and do not make a flag seen', async () => {
      const { flags, clock, report } = await reporting(start);
      const flagNames = names(150);
      for (const name of flagNames) await flags.createFlag(DEFAULT, { name });
      await flags.archiveFlag({ ...DEFAULT, flag: 'name-10000' });
      await report([...flagNames, 'checkout']);
      expect((await flags.getApplication({ application: 'web' })).seenFlags).toEqual(['checkout', ...flagNames]);
      expect(await flags.getFlag({ ...DEFAULT, flag: 'name-10000' })).toMatchObject({ lastSeenAt: clock.text() });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: null });
      await report(['checkout']);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: clock.text() });
      expect((await flags.countEvaluations()).lastHour.get('checkout')).toEqual({ yes: 2, no: 0 });
    });

    it('are at most a thousand of one report in bulk', async () => {
      const { flags, clock } = await reporting(start);
      const toggles = Object.fromEntries(names(90).map((name) => [name, { yes: 1, no: 0 }]));
      const bucket = { start: clock.text(), stop: clock.text(), toggles };
      const reports = Array.from({ length: 20 }, (_, index) => ({ appName: `app-${10 + index}`, bucket }));
      const before = flags.status().dropped?.names ?? 0;
      await flags.reportMetricsInBulk({ reports });
      const kept = (await flags.listSeenFlags()).map(({ appName, flags: seen }) => [appName, seen.length]);
      expect(kept).toEqual([['app-18', 10], ...names(11).map((_, index) => [`app-${19 + index}`, 90])]);
      expect(flags.status().dropped).toEqual({ names: before + 800, reports: 0 });
    });
  });

  describe('a report for some projects', () => {
    it('counts flags of these projects alone; names of other flags are dropped', async () => {
      const { flags, report } = await reporting(start);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.createFlag({ project: 'shop' }, { name: 'theirs' });
      await flags.createFlag({ project: 'shop' }, { name: 'archived' });
      await flags.archiveFlag({ project: 'shop', flag: 'archived' });
      const before = flags.status().dropped?.names ?? 0;
      await report(['checkout', 'theirs', 'archived', 'chekcout'], ['default', 'other']);
      expect((await flags.getApplication({ application: 'web' })).seenFlags).toEqual(['checkout', 'chekcout']);
      expect([...(await flags.countEvaluations()).lastHour.keys()]).toEqual(['checkout', 'chekcout']);
      expect(await flags.getFlag({ project: 'shop', flag: 'theirs' })).toMatchObject({ lastSeenAt: null });
      expect(flags.status().dropped).toEqual({ names: before + 2, reports: 0 });
    });
  });

  describe('a registration', () => {
    const long = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(70, 'x'));

    it('of more than 64 KiB is refused', async () => {
      const { flags, clock, register } = await reporting(start);
      await register({ strategies: long.slice(0, 800) });
      await expectRefusal(flags, 'invalid_input', () => register({ strategies: long }));
      const registration = { appName: 'web', started: clock.text(), interval: 0, strategies: long.slice(0, 800) };
      const bulk = (count: number) => ({ registrations: Array.from({ length: count }, () => registration) });
      await expectRefusal(flags, 'invalid_input', () => flags.reportMetricsInBulk(bulk(20)));
      await flags.reportMetricsInBulk(bulk(10));
    });

    it('and a report may tell times as epoch milliseconds', async () => {
      const { flags, clock, register } = await reporting(start);
      const now = clock.now().getTime();
      await register({ started: now });
      const toggles = { checkout: { yes: 1, no: 0 } };
      await flags.reportMetrics({ appName: 'web', bucket: { start: now - 60_000, stop: now - 1000, toggles } });
      expect((await flags.countEvaluations()).lastMinute.get('checkout')).toEqual({ yes: 1, no: 0 });
      for (const stop of [now - 60_001, 1e300, Number.NaN]) {
        await expectRefusal(flags, 'invalid_input', () =>
          flags.reportMetrics({ appName: 'web', bucket: { start: now - 60_000, stop, toggles } }),
        );
      }
    });
  });

  describe('a deleted application', () => {
    it('is deleted with its usage, and starts from zero', async () => {
      const { flags, report, register } = await reporting(start);
      await register({ description: 'The web shop' });
      await report(['checkout']);
      await flags.deleteApplication({ application: 'web' });
      await expectRefusal(flags, 'application_not_found', () => flags.deleteApplication({ application: 'web' }));
      expect(await flags.listSeenFlags()).toEqual([]);
      await report([]);
      expect(await flags.getApplication({ application: 'web' })).toMatchObject({ description: '', seenFlags: [] });
    });
  });

  describe('a paged read', () => {
    it('equals the complete read', async () => {
      const { flags, clock, report } = await reporting(start);
      for (let index = 0; index < 120; index++) {
        const toggles = Object.fromEntries(names(10 + (index % 20)).map((name) => [name, { yes: 1, no: 1 }]));
        const bucket = { start: clock.text(), stop: clock.text(), toggles };
        await flags.reportMetrics({ appName: `app-${1000 + index}`, bucket });
      }
      await report(names(3));
      const pairs = [...(await flags.listApplicationsByFlag())].flatMap(([flag, applications]) =>
        applications.map((application) => ({ flag, application })),
      );
      expect(pairs.length).toBeGreaterThan(1000);
      for (const limit of extent({ short: [41, 1000], full: [7, 1000] })) {
        expect(await all((page) => flags.listSeenFlags(page), limit)).toEqual(await flags.listSeenFlags());
        expect(await all((page) => flags.listApplications({}, page), limit)).toEqual(await flags.listApplications());
        expect(await all((page) => flags.listApplicationsByFlag(page), limit)).toEqual(pairs);
      }
      for (const after of ['', '{', '[1,2]', 'null']) {
        await expectRefusal(flags, 'invalid_input', () => flags.listApplicationsByFlag({ after }));
      }
    });

    it('ends a page where it would be too long', async () => {
      const { flags, register } = await reporting(start);
      const strategies = Array.from({ length: 600 }, (_, index) => `${index}`.padEnd(100, 'x'));
      for (let index = 0; index < 20; index++) await register({ appName: `app-${10 + index}`, strategies });
      const first = await flags.listApplications({}, { limit: 100 });
      expect(first.items.length).toBe(17);
      const second = await flags.listApplications({}, { limit: 100, after: first.next });
      expect(second.items.map(({ appName }) => appName)).toEqual(['app-27', 'app-28', 'app-29']);
      expect(second.next).toBeUndefined();
    });
  });
});
