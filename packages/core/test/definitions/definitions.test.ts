import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasShortTurns } from '../../../../test/processor-time.js';
import {
  type DefinedFlag,
  type Definitions,
  definitionsSchema,
  type Flags,
  LIMITS,
  memoryStorage,
  openFlags,
} from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { expectConsistent } from '../log/shown-content.js';
import { KINDS } from '../on-every-storage.js';

const DEFAULT = { project: 'default' };
const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };

const DOCUMENT: Definitions = {
  version: 1,
  projects: [{ id: 'shop', name: 'Shop', members: [{ userId: 7, roleId: 4 }] }],
  segments: [{ name: 'beta', constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] }],
  flags: [
    {
      name: 'checkout',
      project: 'shop',
      labels: ['payments'],
      variants: [{ name: 'red' }, { name: 'blue' }],
      dependencies: [{ flag: 'payments' }],
      environments: {
        production: { enabled: true, strategies: [{ name: 'default', segments: ['beta'] }, { name: 'default' }] },
      },
    },
    { name: 'payments', project: 'shop' },
  ],
};

describe.each(KINDS)('definitions on $name', ({ open }) => {
  let storage: FlagsStorage;
  let flags: Flags;
  let dispose: () => Promise<void>;

  beforeEach(async () => {
    ({ storage, dispose } = await open());
    flags = await openFlags({ storage, pollInterval: 0 });
  });
  afterEach(async () => {
    await expectConsistent(storage);
    await flags.close();
    await dispose();
  });

  const importing = (document: unknown, options = {}) => flags.definitions.import(document as Definitions, options);
  const flagsOnly = (...all: readonly DefinedFlag[]): Definitions => ({ version: 1, flags: all });

  it('imports a document in one change set, once', async () => {
    const result = await importing(DOCUMENT, { actor: 'ada', reason: 'Launch' });
    expect(result.differences.map(({ kind, id }) => `${kind}/${id}`)).toEqual([
      ...['project/shop', 'segment/1', 'flag/checkout', 'flag/payments'],
    ]);
    const { actor, reason } = await flags.history.get({ changeSet: `${result.changeSet?.id}` });
    expect({ actor, reason }).toEqual({ actor: 'ada', reason: 'Launch' });
    expect(await importing(DOCUMENT)).toEqual({
      dryRun: false,
      changeSet: null,
      differences: [],
      rollouts: [],
    });
    expect(await flags.getFlag({ project: 'shop', flag: 'checkout' })).toMatchObject({
      labels: ['payments'],
      dependencies: [{ flag: 'payments', enabled: true, variants: [] }],
      environments: [{ enabled: false }, { enabled: true, strategies: [{ segments: [1] }, { name: 'default' }] }],
    });
    await flags.history.undo({ changeSet: `${result.changeSet?.id}` });
    expect((await flags.listProjects()).items).toHaveLength(1);
  });

  it('keeps members that a definition omits', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout', description: 'Kept', owner: 'ada' });
    const strategy = await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.enable(PRODUCTION);
    const before = await flags.getFlag(CHECKOUT);
    await importing(flagsOnly({ name: 'checkout', createdAt: '2020-01-01T00:00:00.000Z' }));
    expect(await flags.getFlag(CHECKOUT)).toEqual(before);
    const { differences } = await importing(
      flagsOnly({
        name: 'checkout',
        labels: ['new'],
        environments: { production: { strategies: [{ name: 'default', title: 'All' }] } },
      }),
    );
    expect(differences[0]?.parts.map(({ path }) => path)).toEqual([
      `/environments/production/strategies/${strategy.id}/title`,
      '/labels',
    ]);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({
      description: 'Kept',
      owner: 'ada',
      environments: [{}, { enabled: true, strategies: [{ id: strategy.id, title: 'All' }] }],
    });
  });

  it('gives new documents defaults, and keeps what existing projects and segments have', async () => {
    const bare = {
      version: 1,
      projects: [{ id: 'shop' }],
      segments: [{ name: 'beta' }],
      flags: [{ name: 'checkout' }],
    };
    await importing(bare, { actor: 'ada' });
    expect(await flags.getProject({ project: 'shop' })).toMatchObject({ name: 'shop', description: '' });
    expect((await flags.listMembers({ project: 'shop' })).items).toEqual([]);
    const now = { createdAt: expect.any(String), createdBy: 'ada' };
    const segment = { name: 'beta', description: '', constraints: [], project: null, ...now };
    expect(await flags.segments.get({ segment: 1 })).toMatchObject(segment);
    const { description, type, stale, impressionData, archived, variants, labels, owner } =
      await flags.getFlag(CHECKOUT);
    expect({ description, type, stale, impressionData, archived, variants, labels, owner }).toEqual({
      ...{ description: '', type: 'release', stale: false, impressionData: false, archived: false },
      ...{ variants: [], labels: [], owner: null },
    });

    const members = [9, 7].map((userId) => ({ userId, roleId: 4 }));
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
    const full = {
      version: 1,
      projects: [{ id: 'shop', name: 'Shop', description: 'Sells', members, createdAt: '2020-01-01T00:00:00.000Z' }],
      segments: [{ name: 'beta', description: 'First', constraints, project: 'shop', createdBy: 'bob' }],
      flags: [],
    };
    await importing(full);
    const { createdAt } = await flags.getProject({ project: 'shop' });
    expect(createdAt).not.toContain('2020');
    await importing({ ...bare, flags: [] });
    const kept = { name: 'Shop', description: 'Sells', createdAt };
    expect(await flags.getProject({ project: 'shop' })).toMatchObject(kept);
    const listed = (await flags.listMembers({ project: 'shop' })).items.map(({ userId }) => userId);
    expect(listed).toEqual([7, 9]);
    const reordered = await importing({ version: 1, projects: [{ id: 'shop', members: members.toReversed() }] });
    expect(reordered.changeSet).toBeNull();
    expect(await flags.segments.get({ segment: 1 })).toMatchObject({
      ...{ description: 'First', constraints, project: 'shop', createdBy: 'ada' },
    });
    await importing({ version: 1, segments: [{ name: 'beta', project: null }] });
    expect(await flags.segments.get({ segment: 1 })).toMatchObject({ project: null, constraints });
  });

  it('finds strategies without ids again: equal ones first, then those of the same name, each once', async () => {
    const strategies = async () => {
      const { environments } = await flags.getFlag(CHECKOUT);
      return environments[1]?.strategies.map(({ id, title }) => ({ id, title })) ?? [];
    };
    const define = (...given: readonly object[]) =>
      importing({ version: 1, flags: [{ name: 'checkout', environments: { production: { strategies: given } } }] });
    const titled = (title: string, id?: string) => ({ name: 'default', title, ...(id !== undefined && { id }) });
    await define(titled('a'), titled('b'), titled('c'));
    const [a, b, c] = await strategies();
    await define(titled('c'), titled('new'), titled('b'));
    expect(await strategies()).toEqual([c, { ...a, title: 'new' }, b]);
    await define(titled('x', b?.id), titled('c'), titled('y'), titled('z'));
    const [x, same, y, z] = await strategies();
    expect([x, same, y]).toEqual([{ ...b, title: 'x' }, c, { ...a, title: 'y' }]);
    expect([a?.id, b?.id, c?.id]).not.toContain(z?.id);
    expect(z?.title).toBe('z');
    await define({ name: 'userWithId', parameters: { userIds: '1' } });
    expect([b?.id, c?.id, a?.id, z?.id]).not.toContain((await strategies())[0]?.id);
  });

  it('leaves a strategy to the definition that names it, although another one is equal to it', async () => {
    const define = (...strategies: readonly object[]) =>
      importing({ version: 1, flags: [{ name: 'checkout', environments: { production: { strategies } } }] });
    const read = async () => (await flags.getFlag(CHECKOUT)).environments[1]?.strategies ?? [];
    await define({ name: 'default', title: 'a' }, { name: 'default', title: 'b' });
    const [a, b] = await read();
    await define({ id: a?.id, name: 'default', title: 'b' }, { name: 'default', title: 'b' });
    expect(await read()).toEqual([{ ...a, title: 'b' }, b]);
  });

  it('gives new strategies ids of their own, in each environment', async () => {
    const strategies = [{ name: 'default' }, { name: 'default' }];
    const environments = { development: { strategies }, production: { strategies } };
    await importing({ version: 1, flags: [{ name: 'checkout', environments }] });
    const all = (await flags.getFlag(CHECKOUT)).environments.flatMap((environment) => environment.strategies);
    expect(new Set(all.map(({ id }) => id)).size).toBe(4);
  });

  it('keeps the times of new documents, and sets those that are missing', async () => {
    const createdAt = '2020-01-01T00:00:00.000Z';
    const [name, id] = ['checkout', 'shop'];
    await importing({
      ...{ version: 1, projects: [{ id, createdAt }], segments: [{ name: 'beta', createdAt }] },
      flags: [{ name, createdAt, archived: true, archivedAt: createdAt }],
    });
    expect(await flags.getProject({ project: id })).toMatchObject({ createdAt });
    expect(await flags.segments.get({ segment: 1 })).toMatchObject({ createdAt });
    expect((await flags.listFlags({ archived: true })).items).toMatchObject([{ createdAt, archivedAt: createdAt }]);
    await importing({ version: 1, flags: [{ name: 'payments' }], segments: [{ name: 'gamma' }] });
    const year = `${new Date().getUTCFullYear()}`;
    expect((await flags.getFlag({ ...DEFAULT, flag: 'payments' })).createdAt).toContain(year);
    expect((await flags.segments.get({ segment: 2 })).createdAt).toContain(year);
  });

  it('returns a plan and changes nothing in a dry run', async () => {
    const before = await storage.list({ kind: 'flag', part: 'body' });
    const { changeSet, differences } = await importing(DOCUMENT, { dryRun: true });
    expect(changeSet).toBeNull();
    expect(differences).toHaveLength(4);
    expect(await storage.list({ kind: 'flag', part: 'body' })).toEqual(before);
  });

  it('archives absent flags of the named projects only, children before parents', async () => {
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag({ project: 'shop' }, { name: 'elsewhere' });
    for (const name of ['a-parent', 'child', 'kept']) await flags.createFlag(DEFAULT, { name });
    await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'a-parent' });
    await importing(flagsOnly({ name: 'kept' }), { prune: true });
    expect((await flags.listFlags({ archived: true })).items.map(({ name }) => name)).toEqual(['a-parent', 'child']);
  });

  it('revives a flag, off unless the document enables it', async () => {
    await importing(
      flagsOnly({
        name: 'checkout',
        environments: { production: { enabled: true, strategies: [{ name: 'default' }] } },
      }),
    );
    await importing(flagsOnly({ name: 'checkout', archived: true }));
    await importing(flagsOnly({ name: 'checkout', archived: false }));
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ archived: false, environments: [{}, { enabled: false }] });
    await importing(flagsOnly({ name: 'checkout', environments: { production: { enabled: true } } }));
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ environments: [{}, { enabled: true }] });
  });

  it('keeps an archived flag in the archive, unless the document revives it or names all live flags', async () => {
    await importing(flagsOnly({ name: 'checkout', archived: true }));
    await importing(flagsOnly({ name: 'checkout', labels: ['kept'] }));
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ archived: true, labels: ['kept'] });
    const { differences } = await importing(flagsOnly({ name: 'checkout' }), { prune: true, dryRun: true });
    expect(differences[0]?.parts).toContainEqual({ path: '/archived', before: true, after: false });
    await importing(flagsOnly({ name: 'checkout' }), { prune: true });
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ archived: false });
    await importing(flagsOnly({ name: 'checkout', archived: true }), { prune: true });
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ archived: true });
  });

  it('gives segments of another store new ids, and renames those of this store', async () => {
    await flags.segments.create({ name: 'premium', constraints: [] });
    await importing({
      version: 1,
      segments: [{ id: 1, name: 'beta', createdAt: '2020-01-01T00:00:00.000Z' }],
      flags: [{ name: 'checkout', environments: { production: { strategies: [{ name: 'default', segments: [1] }] } } }],
    });
    expect((await flags.segments.list()).items.map(({ id, name }) => [id, name])).toEqual([
      [1, 'premium'],
      [2, 'beta'],
    ]);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ environments: [{}, { strategies: [{ segments: [2] }] }] });
    const { segments = [] } = await flags.definitions.export();
    await importing({ version: 1, segments: segments.map((one) => (one.id === 1 ? { ...one, name: 'gold' } : one)) });
    expect((await flags.segments.list()).items.map(({ name }) => name)).toEqual(['gold', 'beta']);
  });

  describe('the id of a segment', () => {
    const HIGHEST = LIMITS.segmentId;
    const segment = (name: string, id?: number) => ({ name, ...(id !== undefined && { id }) });
    const importSegments = (...segments: readonly object[]) => importing({ version: 1, segments });
    const idsByName = async () =>
      Object.fromEntries((await flags.segments.list()).items.map(({ id, name }) => [name, id]));
    const create = async (name: string) => (await flags.segments.create({ name, constraints: [] })).id;

    afterEach(() => jest.restoreAllMocks());

    it('is another one if it is beyond the limit, and the next ones differ', async () => {
      await importSegments(segment('huge', Number.MAX_SAFE_INTEGER), segment('beyond', HIGHEST + 1));
      expect(await idsByName()).toEqual({ huge: 1, beyond: 2 });
      expect([await create('a'), await create('b'), await create('c')]).toEqual([3, 4, 5]);
      await importSegments(segment('further'));
      expect(await idsByName()).toMatchObject({ further: 6 });
    });

    it('is the lowest that no segment has ever had, after the highest one', async () => {
      expect([await create('first'), await create('gone')]).toEqual([1, 2]);
      await flags.segments.delete({ segment: 2 });
      await importSegments(segment('highest', HIGHEST), segment('beside'), segment('fourth', 4));
      expect(await idsByName()).toEqual({ first: 1, highest: HIGHEST, fourth: 4, beside: 3 });
      expect([await create('fifth'), await create('sixth')]).toEqual([5, 6]);
      // Deleted in the same set, too.
      await flags.apply([
        { op: 'createSegment', input: { name: 'brief', constraints: [] } },
        { op: 'deleteSegment', ref: { segment: 7 } },
        { op: 'createSegment', input: { name: 'stays', constraints: [] } },
      ]);
      expect(await idsByName()).toMatchObject({ stays: 8 });
    });

    it('is refused if none is left', async () => {
      jest.replaceProperty(LIMITS, 'segmentId', 2);
      await importSegments(segment('a'), segment('b', 2));
      await flags.segments.delete({ segment: 1 });
      for (const attempt of [create('c'), importSegments(segment('c'))]) {
        await expect(attempt).rejects.toMatchObject({ code: 'segment_exists' });
      }
      await importSegments(segment('a', 1));
      expect(await idsByName()).toEqual({ a: 1, b: 2 });
    });

    it('stays what it is beyond the limit in the store that has it, and changes in another one', async () => {
      const replaced = jest.replaceProperty(LIMITS, 'segmentId', Number.MAX_SAFE_INTEGER);
      await importSegments(segment('huge', Number.MAX_SAFE_INTEGER));
      replaced.restore();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [Number.MAX_SAFE_INTEGER] });
      await flags.segments.update({ segment: Number.MAX_SAFE_INTEGER }, { description: 'changed' });
      expect([await create('a'), await create('b')]).toEqual([1, 2]);
      const definitions = await flags.definitions.export();
      expect(await importing(definitions)).toMatchObject({ differences: [] });
      // A strategy that names the segment by its number, as a file may.
      const numbered = JSON.parse(JSON.stringify(definitions).replace('["huge"]', `[${Number.MAX_SAFE_INTEGER}]`));
      expect(numbered).not.toEqual(definitions);
      expect(await importing(numbered)).toMatchObject({ differences: [] });
      const copy = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
      await copy.definitions.import(numbered);
      const { items } = await copy.segments.list();
      expect(items.map(({ id, name }) => [id, name])).toEqual(expect.arrayContaining([[3, 'huge']]));
      expect(await copy.getFlag(CHECKOUT)).toMatchObject({ environments: [{}, { strategies: [{ segments: [3] }] }] });
      await copy.close();
    });
  });

  it.each<[unknown, string]>([
    [{ version: 2 }, '/version'],
    [{ version: 1, flags: {} }, '/flags'],
    [flagsOnly({ name: 'not a name' }), '/flags/0/name'],
    [flagsOnly({ name: 'a' }, { name: 'a' }), '/flags/1'],
    [flagsOnly({ name: 'a', project: 'moon' }), '/flags/0/project'],
    [flagsOnly({ name: 'a', type: 'moon' }), '/flags/0/type'],
    [flagsOnly({ name: 'a', labels: ['x', 'x'] }), '/flags/0/labels/1'],
    [flagsOnly({ name: 'a', variants: [{ name: 'x', weightType: 'fix', weight: 5 }] }), '/flags/0/variants'],
    [flagsOnly({ name: 'a', dependencies: [{ flag: 'moon' }] }), '/flags/0/dependencies/0/flag'],
    [flagsOnly({ name: 'a', environments: { moon: {} } }), '/flags/0/environments/moon'],
    [
      flagsOnly({ name: 'a', environments: { production: { enabled: true } } }),
      '/flags/0/environments/production/enabled',
    ],
    [
      flagsOnly({ name: 'a', environments: { production: { strategies: [{ name: 'default', segments: ['moon'] }] } } }),
      '/flags/0/environments/production/strategies/0/segments/0',
    ],
    [
      flagsOnly({
        name: 'a',
        environments: {
          production: {
            strategies: [{ name: 'default', constraints: [{ contextName: 'a', operator: 'NUM_GT', value: 'x' }] }],
          },
        },
      }),
      '/flags/0/environments/production/strategies/0/constraints/0/value',
    ],
    [{ version: 1, segments: [{ name: 'a', project: 'moon' }] }, '/segments/0/project'],
    [{ version: 1, projects: [{ id: 'a', members: [{ userId: 1, roleId: 99 }] }] }, '/projects/0/members/0/roleId'],
    [{ version: 1, projects: [{ id: 'a', unknown: 1 }] }, '/projects/0/unknown'],
    [{ version: 1, flag: [{ name: 'a' }] }, '/flag'],
  ])('refuses %j at %s', async (document, path) => {
    const before = await flags.definitions.export();
    await expect(importing(document)).rejects.toMatchObject({
      code: 'invalid_input',
      details: [expect.objectContaining({ path })],
    });
    expect(await flags.definitions.export()).toEqual(before);
  });

  it.each<[string, string, Definitions]>([
    ['dependency_cycle', '/flags/0/dependencies/0', flagsOnly({ name: 'a', dependencies: [{ flag: 'a' }] })],
    [
      'dependency_too_deep',
      '/flags/1/dependencies/1',
      flagsOnly(
        { name: 'd' },
        { name: 'a', dependencies: [{ flag: 'd' }, { flag: 'b' }] },
        { name: 'b', dependencies: [{ flag: 'c' }] },
        { name: 'c' },
      ),
    ],
    [
      'parent_not_found',
      '/flags/0/dependencies/0',
      flagsOnly({ name: 'a', dependencies: [{ flag: 'b' }] }, { name: 'b', archived: true }),
    ],
    [
      'segment_in_use',
      '/flags/0',
      {
        version: 1,
        projects: [{ id: 'shop' }],
        segments: [{ name: 'beta', project: 'shop', constraints: [] }],
        flags: [{ name: 'a', environments: { production: { strategies: [{ name: 'default', segments: ['beta'] }] } } }],
      },
    ],
    ['last_owner', '/projects/1', { version: 1, projects: [{ id: 'shop' }, { id: 'owned', members: [] }] }],
  ])('refuses %s at %s, in a dry run too', async (code, path, document) => {
    await importing({ version: 1, projects: [{ id: 'owned', members: [{ userId: 7, roleId: 4 }] }] });
    const refusal = { code, details: [expect.objectContaining({ path, message: expect.any(String) })] };
    await expect(importing(document, { dryRun: true })).rejects.toMatchObject(refusal);
    await expect(importing(document)).rejects.toMatchObject(refusal);
  });

  it('calls the check for every change before the commit', async () => {
    const checked = flags.as('ada', {
      authorize({ documents }) {
        if (documents.some(({ id }) => id === 'payments')) throw new Error('no');
      },
    });
    for (const options of [{}, { dryRun: true }])
      await expect(checked.definitions.import(DOCUMENT, options)).rejects.toThrow('no');
    expect((await flags.listProjects()).items).toHaveLength(1);
  });

  it('commits as many documents as an import may change at once, or none of them', async () => {
    const name = (index: number) => `f${index}`;
    const all = Array.from({ length: LIMITS.documentsPerImport }, (_, index): DefinedFlag => {
      return { name: name(index), dependencies: index % 3 === 0 && index < 900 ? [{ flag: name(index + 1) }] : [] };
    });
    const more = flagsOnly(...all, { name: 'one-more' });
    for (const options of [{}, { dryRun: true }]) {
      await expect(importing(more, options)).rejects.toMatchObject({
        code: 'change_set_too_large',
        message: expect.stringContaining('import by project'),
      });
    }
    expect((await flags.definitions.export()).flags).toEqual([]);
    const { changeSet, differences } = await importing(flagsOnly(...all));
    expect(differences).toHaveLength(all.length);
    // Only changed documents count. Every parent becomes a child, and the other way round.
    const turned = all.map((flag, index): DefinedFlag => {
      return { ...flag, dependencies: index % 3 === 1 ? [{ flag: name(index - 1) }] : [] };
    });
    const changed = await importing({ ...more, flags: [...turned, { name: 'one-more' }] }, { dryRun: true });
    expect(changed.differences.length).toBeLessThan(all.length);
    await flags.history.undo({ changeSet: `${changeSet?.id}` });
    expect((await flags.definitions.export()).flags).toEqual([]);
  });

  it('refuses what would write more than 8 MiB, and changes nothing', async () => {
    const value = 'x'.repeat(400_000);
    const strategies = [{ name: 'default', parameters: { value } }];
    const all = Array.from({ length: 12 }, (_, index) => ({
      name: `f${index}`,
      environments: { production: { strategies } },
    }));
    const refusal = { code: 'change_set_too_large', message: expect.stringContaining('import by project') };
    await expect(importing(flagsOnly(...all))).rejects.toMatchObject(refusal);
    expect((await flags.definitions.export()).flags).toEqual([]);
  });

  it('moves a flag with its parents, and a segment with its flags', async () => {
    const using = { production: { strategies: [{ name: 'default', segments: ['beta'] }] } };
    const inProject = (project: string): Definitions => ({
      version: 1,
      projects: [{ id: 'shop' }],
      segments: [{ name: 'beta', project, constraints: [] }],
      flags: [
        { name: 'a', project, dependencies: [{ flag: 'b' }] },
        { name: 'b', project, environments: using },
      ],
    });
    await importing(inProject('default'));
    expect((await importing(inProject('shop'))).differences).toHaveLength(3);
    expect(await importing(inProject('shop'))).toMatchObject({ changeSet: null });
  });
});

it('imports 8 MiB without blocking the event loop', async () => {
  const value = 'x'.repeat(20_000);
  const all = Array.from({ length: 190 }, (_, index): DefinedFlag => {
    return {
      name: `f${index}`,
      environments: { production: { strategies: [{ name: 'default', parameters: { value } }] } },
    };
  });
  const importAll = async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    await flags.definitions.import({ version: 1, flags: all });
    await flags.definitions.export();
    await flags.close();
  };
  expect(await hasShortTurns(250, importAll)).toBe(true);
});

it('reads few documents at once for an export, because each can have 1 MiB', async () => {
  const storage = memoryStorage();
  const pages: number[] = [];
  const list: FlagsStorage['list'] = async (query) => {
    const page = await storage.list(query);
    if (query.part === 'body') pages.push(page.length);
    return page;
  };
  const flags = await openFlags({ storage: { ...storage, list } });
  const names = Array.from({ length: 20 }, (_, number) => `flag-${String(number).padStart(2, '0')}`);
  for (const flag of names) await flags.createFlag(DEFAULT, { name: flag });
  pages.length = 0;
  const { flags: exported = [] } = await flags.definitions.export();
  await flags.close();
  expect(exported.map(({ name }) => name)).toEqual(names);
  expect(Math.max(...pages)).toBeLessThanOrEqual(8);
});

it('publishes its JSON Schema, which npm run definitions:write writes', () => {
  const published = JSON.parse(readFileSync(join(__dirname, '../../definitions.schema.json'), 'utf8'));
  expect(published).toEqual(JSON.parse(JSON.stringify(definitionsSchema())));
});
