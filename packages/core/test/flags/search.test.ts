import { type FlagQuery, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { listReadableFlags } from '../../src/router.operations.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { SILENT } from '../replica/silent.js';
import { MINUTE, settableClock } from '../settable-clock.js';

const SHOP = { project: 'shop' };
const inProduction = (flag: string, project = 'default') => ({ project, flag, environment: 'production' });
const ROLLOUT = (rollout: unknown) => ({ name: 'flexibleRollout', parameters: { rollout } }) as never;

/** Flags of two projects, made a minute apart: apple, Banana, cherry, and an archived date. */
async function orchard(flags: Flags, clock = settableClock()): Promise<Flags> {
  await flags.createProject({ id: 'shop', name: 'Shop' });
  await flags.createFlag(DEFAULT, { name: 'cherry', description: 'Red FRUIT', type: 'operational', labels: ['red'] });
  clock.advance(MINUTE);
  await flags.createFlag(SHOP, { name: 'apple', labels: ['red', 'Team/Ünï'], owner: 'Ada@example.org' });
  clock.advance(MINUTE);
  await flags.createFlag(DEFAULT, { name: 'Banana', description: null, owner: 'grace' });
  await flags.createFlag(SHOP, { name: 'date', description: 'fruit', owner: 'grace' });
  await flags.addStrategy(inProduction('cherry'), ROLLOUT('25'));
  await flags.addStrategy(inProduction('cherry'), ROLLOUT(40));
  await flags.enable(inProduction('cherry'));
  await flags.updateFlag({ ...DEFAULT, flag: 'Banana' }, { stale: true });
  await flags.setVariants({ ...SHOP, flag: 'apple' }, [{ name: 'blue' }]);
  await flags.archiveFlag({ ...SHOP, flag: 'date' });
  return flags;
}

async function namesOf(flags: Flags, query?: FlagQuery): Promise<readonly string[]> {
  const { items, total } = await flags.listFlags(query);
  expect(total).toBe(items.length);
  return items.map(({ name }) => name);
}

onEveryStorage((start) => {
  describe('a list of flags across projects', () => {
    it('shows each flag with its environments', async () => {
      const clock = settableClock();
      const createdAt = clock.text();
      const flags = await orchard(await start({ now: clock.now }), clock);
      const counted = { start: clock.text(-MINUTE), stop: clock.text(), counts: { cherry: { yes: 1, no: 0 } } };
      await flags.reportMetrics({ application: 'web', ...counted });
      const off = {
        enabled: false,
        strategyCount: 0,
        rollout: 0,
        hasVariants: false,
        audience: [],
        offBecauseOf: null,
      };
      expect(await flags.listFlags({ query: 'cherry' })).toEqual({
        items: [
          {
            name: 'cherry',
            project: 'default',
            description: 'Red FRUIT',
            type: 'operational',
            stale: false,
            archived: false,
            archivedAt: null,
            labels: ['red'],
            owner: null,
            revision: 4,
            createdAt,
            lastSeenAt: clock.text(),
            environments: [
              { name: 'development', ...off },
              {
                ...{ name: 'production', enabled: true, strategyCount: 2, rollout: 40, hasVariants: false },
                ...{ audience: [{ rollout: 25 }, { rollout: 40 }], offBecauseOf: null },
              },
            ],
          },
        ],
        total: 1,
      });
      const [apple] = (await flags.listFlags({ project: 'shop' })).items;
      expect(apple?.environments.map(({ hasVariants }) => hasVariants)).toEqual([true, true]);
    });

    it('names the parent that switches a flag off, as soon as the parent changes', async () => {
      const flags = await start();
      for (const name of ['base', 'child']) {
        await flags.createFlag(DEFAULT, { name });
        await flags.addStrategy(inProduction(name), { name: 'default' });
        await flags.enable(inProduction(name));
      }
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'base' });
      const offBecauseOf = async (): Promise<unknown> =>
        (await flags.listFlags({ query: 'child' })).items[0]?.environments.map((one) => one.offBecauseOf);
      expect(await offBecauseOf()).toEqual([null, null]);
      await flags.disable(inProduction('base'));
      expect(await offBecauseOf()).toEqual([null, 'base']);
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'base', enabled: false });
      expect(await offBecauseOf()).toEqual([null, null]);
    });

    it('shows its own writes at once', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'a' });
      expect(await namesOf(flags)).toEqual(['a']);
      const { revision } = await flags.changeLabels({ ...DEFAULT, flag: 'a' }, { add: ['x'] });
      expect((await flags.listFlags({ label: 'x' })).items).toMatchObject([{ revision }]);
      await flags.archiveFlag({ ...DEFAULT, flag: 'a' });
      expect(await namesOf(flags)).toEqual([]);
      await flags.deleteFlag({ flag: 'a' });
      expect(await namesOf(flags, { archived: true })).toEqual([]);
    });

    it.each<[FlagQuery, readonly string[]]>([
      [{}, ['Banana', 'apple', 'cherry']],
      [{ archived: true }, ['date']],
      [{ archived: false }, ['Banana', 'apple', 'cherry']],
      [{ query: '' }, ['Banana', 'apple', 'cherry']],
      [{ query: 'AN' }, ['Banana']],
      [{ query: 'fruit' }, ['cherry']],
      [{ query: 'team/ÜNÏ' }, ['apple']],
      [{ query: 'ada@' }, ['apple']],
      [{ query: 'fruit', archived: true }, ['date']],
      [{ query: 'none' }, []],
      [{ namePrefix: 'ch' }, ['cherry']],
      [{ project: 'shop' }, ['apple']],
      [{ project: ['shop', 'default'] }, ['Banana', 'apple', 'cherry']],
      [{ type: 'operational' }, ['cherry']],
      [{ label: 'red' }, ['apple', 'cherry']],
      [{ label: ['Team/Ünï', 'none'] }, ['apple']],
      [{ label: [] }, []],
      [{ label: 'Red' }, []],
      [{ owner: 'grace' }, ['Banana']],
      [{ stale: true }, ['Banana']],
      [{ stale: false }, ['apple', 'cherry']],
      [{ enabledIn: 'production' }, ['cherry']],
      [{ enabledIn: 'development' }, []],
      [{ label: 'red', project: 'shop', query: 'APP' }, ['apple']],
      [{ sort: '-name' }, ['cherry', 'apple', 'Banana']],
      [{ sort: 'createdAt' }, ['cherry', 'apple', 'Banana']],
      [{ sort: '-createdAt' }, ['Banana', 'apple', 'cherry']],
      [{ sort: 'type' }, ['cherry', 'Banana', 'apple']],
      [{ sort: '-type' }, ['Banana', 'apple', 'cherry']],
    ])('selects by %j', async (query, names) => {
      const clock = settableClock();
      const flags = await orchard(await start({ now: clock.now }), clock);
      expect(await namesOf(flags, query)).toEqual(names);
    });

    it('sorts flags that were never seen before all others', async () => {
      const clock = settableClock();
      const flags = await orchard(await start({ now: clock.now }), clock);
      for (const name of ['cherry', 'apple']) {
        clock.advance(MINUTE);
        const counted = { start: clock.text(-MINUTE), stop: clock.text(), counts: { [name]: { yes: 1, no: 0 } } };
        await flags.reportMetrics({ application: 'web', ...counted });
      }
      expect(await namesOf(flags, { sort: 'lastSeenAt' })).toEqual(['Banana', 'cherry', 'apple']);
      expect(await namesOf(flags, { sort: '-lastSeenAt' })).toEqual(['apple', 'cherry', 'Banana']);
    });

    it.each(['name', '-name', 'createdAt', '-createdAt', 'lastSeenAt', '-lastSeenAt', 'type', '-type'] as const)(
      'pages through flags sorted by %s, each once, in the order of the whole list',
      async (sort) => {
        const flags = await start();
        for (const name of ['c', 'a', 'toString', 'B', '__proto__']) {
          await flags.createFlag(DEFAULT, { name, type: name === 'a' ? 'kill-switch' : 'release' });
        }
        const now = new Date().toISOString();
        const counted = { start: now, stop: now, counts: { a: { yes: 1, no: 0 } } };
        await flags.reportMetrics({ application: 'web', ...counted });
        const whole = await namesOf(flags, { sort });
        expect([...whole].sort()).toEqual(['B', '__proto__', 'a', 'c', 'toString']);
        const paged: string[] = [];
        let after: string | undefined;
        do {
          const page = await flags.listFlags({ sort }, { limit: 2, after });
          expect(page.total).toBe(5);
          paged.push(...page.items.map(({ name }) => name));
          after = page.next;
        } while (after !== undefined);
        expect(paged).toEqual(whole);
      },
    );

    it('is complete without limit, from the start and after a flag', async () => {
      const flags = await start();
      for (let n = 0; n < 103; n++) await flags.createFlag(DEFAULT, { name: `flag-${1000 + n}` });
      expect(await namesOf(flags)).toHaveLength(103);
      const page = await flags.listFlags({}, { after: 'flag-1001' });
      expect([page.items.length, page.items[0]?.name, page.next]).toEqual([101, 'flag-1002', undefined]);
    });

    it('omits the projects that the caller may not read, and checks each once', async () => {
      const flags = await orchard(await start());
      const asked: string[] = [];
      const canRead = async (project: string) => asked.push(project) > 0 && project === 'shop';
      expect(await listReadableFlags(flags, {}, { canRead })).toMatchObject({ items: [{ name: 'apple' }], total: 1 });
      expect(asked.sort()).toEqual(['default', 'shop']);
      expect(await listReadableFlags(flags, { project: ['shop', 'none'] }, { canRead })).toMatchObject({ total: 1 });
      const failing = () => Promise.reject(new Error('no answer'));
      await expect(listReadableFlags(flags, {}, { canRead: failing })).rejects.toThrow('no answer');
    });

    it.each<[object, string, object]>([
      [{}, '/limit', { limit: 0 }],
      [{}, '/limit', { limit: 1001 }],
      [{ project: undefined }, '/project', {}],
      [{ sort: 'owner' }, '/sort', {}],
      [{ query: 'x'.repeat(501) }, '/query', {}],
      [{ stale: 'yes' }, '/stale', {}],
      [{ label: [7] }, '/label/0', {}],
      [{ project: Array.from({ length: 101 }, () => 'a') }, '/project', {}],
      [{ sort: 'type' }, '/after', { after: 'no-key' }],
    ])('refuses %j for %s', async (query, path, page) => {
      const flags = await start();
      const refused = await expectRefusal(flags, 'invalid_input', () => flags.listFlags(query as FlagQuery, page));
      expect(refused.details).toContainEqual(expect.objectContaining({ path }));
    });

    it('refuses an unknown environment, and an unknown project among others', async () => {
      const flags = await start();
      await expectRefusal(flags, 'environment_not_found', () => flags.listFlags({ enabledIn: 'moon' }));
      await expectRefusal(flags, 'project_not_found', () => flags.listFlags({ project: ['default', 'none'] }));
    });

    it.each<[readonly object[], number]>([
      [[], 0],
      [[{ name: 'default' }], 100],
      [[{ name: 'own' }], 100],
      [[ROLLOUT(0), ROLLOUT('30')], 30],
      [[{ name: 'gradualRolloutUserId', parameters: { percentage: '70' } }], 70],
      [[{ name: 'flexibleRollout' }], 0],
      [[{ name: 'default', disabled: true }, ROLLOUT(5)], 5],
    ])('shows for the strategies %j the rollout %i', async (strategies, rollout) => {
      const flags = await start({ onProblem: () => undefined });
      await flags.createFlag(DEFAULT, { name: 'a' });
      for (const strategy of strategies) await flags.addStrategy(inProduction('a'), strategy as never);
      const [flag] = (await flags.listFlags()).items;
      expect(flag?.environments[1]).toMatchObject({ strategyCount: strategies.length, rollout });
    });
  });
});

describe('the list of flags of several instances on one storage', () => {
  it('sees the commits of another instance without a poll', async () => {
    const storage = memoryStorage();
    const one = await openFlags({ ...SILENT, storage, pollInterval: 0 });
    const other = await openFlags({ ...SILENT, storage, pollInterval: 0 });
    await one.createFlag(DEFAULT, { name: 'a', labels: ['x'] });
    expect(await namesOf(other, { label: 'x' })).toEqual(['a']);
    await other.archiveFlag({ ...DEFAULT, flag: 'a' });
    expect(await namesOf(one)).toEqual([]);
    await one.close();
    await other.close();
  });

  it('rejects while the storage cannot be read', async () => {
    const storage = memoryStorage();
    const fault = new Error('away');
    let isAway = false;
    const events: typeof storage.events = async (query) => {
      if (isAway) throw fault;
      return storage.events(query);
    };
    const flags = await openFlags({ ...SILENT, storage: { ...storage, events }, pollInterval: 0 });
    isAway = true;
    await expect(flags.listFlags()).rejects.toBe(fault);
    isAway = false;
    expect(await namesOf(flags)).toEqual([]);
    await flags.close();
  });
});
