import { type Flags, type ListPage, type PageQuery, paginate } from '../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';
import { settableClock } from './settable-clock.js';

type ReadPage<Item> = (query: PageQuery) => Promise<ListPage<Item>>;

/** Reads to the last page; every page but that one must be full. */
async function readAll<Item>(read: ReadPage<Item>, limit: number): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await read({ limit, after });
    expect(page.next === undefined || page.items.length === limit).toBe(true);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

async function createAll(flags: Flags, names: readonly string[], project = 'default'): Promise<void> {
  for (const name of names) await flags.createFlag({ project }, { name });
}

const many = (count: number, text: string) => Array.from({ length: count }, (_, index) => `${text}${index}`);

/** The members `total` of a page; none for a list that does not count its items. */
const totalOf = (page: ListPage<unknown>) => ('total' in page ? { total: page.total } : {});

const named = (names: readonly string[]) => names.map((name) => expect.objectContaining({ name }));

onEveryStorage((start) => {
  describe('a page of flags', () => {
    it('continues after the previous one, and the last has no next', async () => {
      const flags = await start();
      await createAll(flags, ['a', 'c', 'b', 'd']);
      const first = await flags.listFlags(DEFAULT, { limit: 2 });
      expect(first).toEqual({ items: named(['a', 'b']), next: 'b', total: 4 });
      const last = await flags.listFlags(DEFAULT, { limit: 2, after: first.next });
      expect(last).toEqual({ items: named(['c', 'd']), total: 4 });
      expect(await flags.listFlags(DEFAULT, { after: 'd' })).toEqual({ items: [], total: 4 });
    });

    it('has a part of the whole list, and everything that follows without a limit', async () => {
      const flags = await start();
      const names = Array.from({ length: 101 }, (_, index) => `flag-${100 + index}`);
      await createAll(flags, names);
      const { items: whole } = await flags.listFlags(DEFAULT);
      expect(await flags.listFlags(DEFAULT, {})).toEqual({ items: whole, total: 101 });
      await flags.createFlag(DEFAULT, { name: 'a' });
      expect(await flags.listFlags(DEFAULT, { after: 'a' })).toEqual({ items: whole, total: 102 });
      await flags.archiveFlag({ ...DEFAULT, flag: 'a' });
      expect((await flags.listFlags(DEFAULT, { limit: 101 })).next).toBeUndefined();
      const all: unknown[] = [];
      for await (const flag of paginate((page) => flags.listFlags(DEFAULT, { ...page, limit: 7 }))) all.push(flag);
      expect(all).toEqual(whole);
      for (const limit of [1, 7, 101, 1000]) {
        expect(await readAll((query) => flags.listFlags(DEFAULT, query), limit)).toEqual(whole);
      }
    });

    it('lists live flags or archived flags, however many others are between them', async () => {
      const flags = await start();
      const live = ['a', 'm', 'z'];
      const archived = Array.from({ length: 40 }, (_, index) => `b-${10 + index}`);
      await createAll(flags, [...live, ...archived]);
      for (const flag of archived) await flags.archiveFlag({ ...DEFAULT, flag });
      for (const limit of [1, 2, 3]) {
        expect(await readAll((query) => flags.listFlags(DEFAULT, query), limit)).toEqual(named(live));
      }
      const { items: whole } = await flags.listFlags({ archived: true });
      for (const limit of [1, 39, 40, 41]) {
        expect(await readAll((query) => flags.listFlags({ archived: true }, query), limit)).toEqual(whole);
        expect(await readAll((query) => flags.listFlags({ ...DEFAULT, archived: true }, query), limit)).toEqual(whole);
      }
    });

    it('does not shift when flags are created, deleted, archived and revived between pages', async () => {
      const flags = await start();
      await createAll(flags, ['b', 'd', 'f', 'h']);
      const { next } = await flags.listFlags(DEFAULT, { limit: 2 });
      await createAll(flags, ['a', 'e']);
      await flags.archiveFlag({ ...DEFAULT, flag: 'd' });
      await flags.deleteFlag({ flag: 'd' });
      await flags.archiveFlag({ ...DEFAULT, flag: 'f' });
      const rest = await flags.listFlags(DEFAULT, { limit: 2, after: next });
      expect(rest).toEqual({ items: named(['e', 'h']), total: 4 });
    });

    it('has the flags of its project only', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await createAll(flags, ['a', 'c']);
      await createAll(flags, ['b', 'd'], 'shop');
      expect(await readAll((query) => flags.listFlags({ project: 'shop' }, query), 1)).toEqual(named(['b', 'd']));
      for (const flag of ['b', 'd']) await flags.archiveFlag({ project: 'shop', flag });
      await flags.archiveFlag({ ...DEFAULT, flag: 'c' });
      const archived = await readAll((query) => flags.listFlags({ project: 'shop', archived: true }, query), 1);
      expect(archived).toEqual(named(['b', 'd']));
      expect(await readAll((query) => flags.listFlags({ archived: true }, query), 2)).toEqual(named(['b', 'c', 'd']));
    });

    it('is refused for an unknown project', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () => flags.listFlags({ project: 'none' }, {}));
      await expectRefusal(flags, 'project_not_found', () => flags.listFlags({ project: 'none', archived: true }, {}));
    });
  });

  describe('a page', () => {
    it.each([
      { limit: 0 },
      { limit: 1001 },
      { limit: -1 },
      { limit: 1.5 },
      { limit: '2' },
      { after: 7 },
      { after: null },
    ])('refuses %j', async (query) => {
      const flags = await start();
      const wrong = query as unknown as PageQuery;
      for (const attempt of [
        () => flags.listFlags(DEFAULT, wrong),
        () => flags.listFlags({ archived: true }, wrong),
        () => flags.listProjects(wrong),
        () => flags.segments.list({}, wrong),
        () => flags.tokens.list(wrong),
        () => flags.applications.list({}, wrong),
        () => flags.listPossibleParents({ ...DEFAULT, flag: 'a' }, wrong),
      ]) {
        const { details } = await expectRefusal(flags, 'invalid_input', attempt);
        expect(details).toEqual([{ message: expect.any(String), path: `/${Object.keys(query)[0]}` }]);
      }
    });

    it('is everything without a limit, after another page too, in every list but the log', async () => {
      const flags = await start();
      const count = 120;
      const names = Array.from({ length: count }, (_, index) => `name-${100 + index}`);
      const ref = { ...DEFAULT, environment: 'production' };
      await flags.apply(names.map((name) => ({ op: 'createFlag', ref: DEFAULT, input: { name } })));
      await flags.apply(names.map((name) => ({ op: 'createProject', input: { id: name, name } })));
      // Together larger than a page.
      const constraints = [{ contextName: 'x', operator: 'IN', values: many(2, 'v'.padEnd(9_900, 'v')) } as const];
      await flags.apply(names.slice(0, 99).map((name) => ({ op: 'createSegment', input: { name, constraints } })));
      const segments = (await flags.segments.list()).items.map(({ id }) => id);
      const { id: strategy } = await flags.addStrategy({ ...ref, flag: 'name-100' }, { name: 'default', segments });
      const at = new Date().toISOString();
      const counts = Object.fromEntries(names.map((name) => [name, { yes: 1, no: 0 }]));
      const strategies = many(10, 's'.padEnd(90, 's'));
      await flags.reportMetricsInBulk({
        registrations: names.map((application) => ({ application, strategies })),
        reports: [
          ...names.map((application) => ({
            application,
            start: at,
            stop: at,
            counts: { 'name-100': { yes: 1, no: 0 } },
          })),
          { application: 'name-100', start: at, stop: at, counts },
        ],
      });
      for (const name of names.slice(0, 110)) await flags.tokens.create({ name, kind: 'admin' });
      const lists: readonly ((page?: PageQuery) => Promise<ListPage<unknown>>)[] = [
        (page) => flags.listFlags(DEFAULT, page),
        (page) => flags.listFlags({}, page),
        (page) => flags.listPossibleParents({ ...DEFAULT, flag: 'name-100' }, page),
        (page) => flags.listProjects(page),
        (page) => flags.segments.list({}, page),
        (page) => flags.segments.list({ strategy }, page),
        (page) => flags.tokens.list(page),
        (page) => flags.applications.list({}, page),
        (page) => flags.applications.listByFlag(page),
        (page) => flags.usage.listSeenFlags(page),
        (page) => flags.usage.list({}, page),
      ];
      for (const list of lists) {
        const { items: whole, next: end } = await list();
        expect({ list: `${list}`, count: whole.length, end }).toEqual({
          list: `${list}`,
          count: expect.any(Number),
          end: undefined,
        });
        expect(whole.length).toBeGreaterThan(98);
        const { items, next } = await list({ limit: 2 });
        expect({ list: `${list}`, rest: await list({ after: next }) }).toEqual({
          list: `${list}`,
          rest: { ...(await list({ limit: 1 }).then(totalOf)), items: whole.slice(items.length) },
        });
      }
    });

    it('has the figures of the list for projects', async () => {
      const flags = await start();
      for (const id of ['shop', 'Zoo', 'lab']) await flags.createProject({ id, name: id });
      await createAll(flags, ['a', 'b'], 'shop');
      await flags.updateFlag({ project: 'shop', flag: 'a' }, { stale: true });
      const { items: whole } = await flags.listProjects();
      expect(whole.map(({ health }) => health)).toContain(50);
      for (const limit of [1, 3, 4]) expect(await readAll((page) => flags.listProjects(page), limit)).toEqual(whole);
    });

    it('sorts segments by their ids as numbers', async () => {
      const flags = await start();
      for (let n = 1; n <= 11; n++) await flags.segments.create({ name: `segment ${n}`, constraints: [] });
      expect(await readAll((page) => flags.segments.list({}, page), 2)).toEqual((await flags.segments.list()).items);
      await flags.segments.delete({ segment: 9 });
      const ids = (await flags.segments.list({}, { after: '9' })).items.map(({ id }) => id);
      expect(ids).toEqual([10, 11]);
      const { details } = await expectRefusal(flags, 'invalid_input', () => flags.segments.list({}, { after: 'nine' }));
      expect(details).toEqual([{ message: 'must be the id of a segment', path: '/after' }]);
    });

    it('sorts tokens from the oldest to the newest, also those of one moment', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      for (const name of ['1', '2', '3']) await flags.tokens.create({ name, kind: 'admin' });
      clock.advance(1000);
      for (const name of ['4', '5']) await flags.tokens.create({ name, kind: 'admin' });
      const { items: whole } = await flags.tokens.list();
      expect(
        whole
          .map(({ name }) => name)
          .slice(3)
          .toSorted(),
      ).toEqual(['4', '5']);
      for (const limit of [1, 2, 5]) expect(await readAll((page) => flags.tokens.list(page), limit)).toEqual(whole);
      const { items, next } = await flags.tokens.list({ limit: 2 });
      await flags.tokens.delete({ token: items[1]?.id ?? '' });
      expect((await flags.tokens.list({ after: next })).items).toEqual(whole.slice(2));
    });

    it('lists applications with the requested strategies only', async () => {
      const flags = await start();
      for (const [application, strategies] of [
        ['a', ['own']],
        ['b', []],
        ['c', ['own']],
      ] as const) {
        await flags.registerApplication({ application, strategies });
      }
      expect(await readAll((page) => flags.applications.list({}, page), 2)).toEqual(
        (await flags.applications.list()).items,
      );
      const filter = { strategies: ['own'] };
      const own = await readAll((query) => flags.applications.list(filter, query), 1);
      expect(own).toEqual((await flags.applications.list(filter)).items);
      expect(own).toHaveLength(2);
    });

    it('lists the same possible parents as the whole list', async () => {
      const flags = await start();
      await createAll(flags, ['a', 'b', 'c', 'd', 'e', 'f']);
      await flags.archiveFlag({ ...DEFAULT, flag: 'b' });
      await flags.addDependency({ ...DEFAULT, flag: 'd' }, { flag: 'e' });
      const child = { ...DEFAULT, flag: 'c' };
      const { items: whole } = await flags.listPossibleParents(child);
      expect(whole).toEqual(['a', 'e', 'f']);
      for (const limit of [1, 2, 3]) {
        expect(await readAll((query) => flags.listPossibleParents(child, query), limit)).toEqual(whole);
      }
      expect(await flags.listPossibleParents({ ...DEFAULT, flag: 'e' }, {})).toEqual({ items: [] });
      await expectRefusal(flags, 'flag_not_found', () => flags.listPossibleParents({ ...DEFAULT, flag: 'none' }, {}));
    });
  });
});
