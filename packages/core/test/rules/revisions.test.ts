import type { ChangeContext, Flags } from '../../src/index.js';
import { getWrittenFlag, type RevisionContext } from '../../src/integration.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal, refusalOf } from './refusal.js';

async function checkoutIn(start: Start): Promise<{ flags: Flags<string>; strategy: string }> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
  return { flags, strategy: id };
}

type Change = (flags: Flags<string>, strategy: string, context: ChangeContext) => Promise<unknown>;

const CHANGES: readonly [string, Change][] = [
  ['updateFlag', (flags, _, context) => flags.updateFlag(CHECKOUT, { stale: true }, context)],
  ['addStrategy', (flags, _, context) => flags.addStrategy(PRODUCTION, { name: 'own' }, context)],
  [
    'updateStrategy',
    (flags, strategy, context) => flags.updateStrategy({ ...PRODUCTION, strategy }, { name: 'own' }, context),
  ],
  ['removeStrategy', (flags, strategy, context) => flags.removeStrategy({ ...PRODUCTION, strategy }, context)],
  ['enable', (flags, _, context) => flags.enable(PRODUCTION, context)],
  ['disable', (flags, _, context) => flags.disable(PRODUCTION, context)],
  ['setVariants', (flags, _, context) => flags.setVariants(CHECKOUT, [{ name: 'blue' }], context)],
  ['archiveFlag', (flags, _, context) => flags.archiveFlag(CHECKOUT, context)],
];

onEveryStorage((start, share) => {
  describe('a flag read at the revision that a change has written', () => {
    it.each(CHANGES)('equals the stored one: %s', async (_, change) => {
      const { flags, strategy } = await checkoutIn(start);
      await flags.reportMetrics({
        appName: 'web',
        bucket: {
          start: new Date().toISOString(),
          stop: new Date().toISOString(),
          toggles: { checkout: { yes: 1, no: 0 } },
        },
      });
      let revision: number | undefined;
      const context: RevisionContext = {
        onRevision: (written) => {
          revision = written;
        },
      };
      await change(flags, strategy, context);
      const flag = await getWrittenFlag(flags, CHECKOUT, revision);
      expect(flag).toEqual(await flags.getFlag(CHECKOUT));
      expect(JSON.stringify(flag)).toBe(JSON.stringify(await flags.getFlag(CHECKOUT)));
    });

    it('has its children', async () => {
      const { flags } = await checkoutIn(start);
      await flags.createFlag(DEFAULT, { name: 'child' });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      let revision: number | undefined;
      const context: RevisionContext = {
        onRevision: (written) => {
          revision = written;
        },
      };
      await flags.updateFlag(CHECKOUT, { description: 'changed' }, context);
      expect((await getWrittenFlag(flags, CHECKOUT, revision)).children).toEqual(['child']);
      await flags.archiveFlag({ ...DEFAULT, flag: 'child' });
      expect((await getWrittenFlag(flags, CHECKOUT, revision)).children).toEqual([]);
    });

    it('is read from the storage at any other revision, or in another project', async () => {
      const open = await share();
      const [one, other] = [await open(), await open({ pollInterval: 0 })];
      await one.createFlag(DEFAULT, { name: 'checkout' });
      const { revision } = await one.updateFlag(CHECKOUT, { description: 'one' });
      await other.updateFlag(CHECKOUT, { description: 'other' });
      expect((await getWrittenFlag(one, CHECKOUT, revision + 1)).description).toBe('other');
      await one.createProject({ id: 'mine', name: 'Mine' });
      await expect(getWrittenFlag(one, { project: 'mine', flag: 'checkout' }, revision)).rejects.toMatchObject({
        code: 'flag_not_found',
      });
    });

    it('belongs to the caller', async () => {
      const { flags } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      const { revision } = await flags.getFlag(CHECKOUT);
      const flag = await getWrittenFlag(flags, CHECKOUT, revision);
      for (const { strategies } of flag.environments) (strategies as unknown[]).length = 0;
      expect(await getWrittenFlag(flags, CHECKOUT, revision)).toEqual(await flags.getFlag(CHECKOUT));
    });
  });

  describe('a change that names the revision it has seen', () => {
    it.each(CHANGES)('is applied if it is the current revision: %s', async (_, change) => {
      const { flags, strategy } = await checkoutIn(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      await change(flags, strategy, { ifRevision: [revision + 50, revision] });
    });

    it.each(CHANGES)('is refused when the flag has changed, and changes nothing: %s', async (_, change) => {
      const { flags, strategy } = await checkoutIn(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      await flags.updateFlag(CHECKOUT, { description: 'Moved on' });
      await expectRefusal(flags, 'revision_mismatch', () => change(flags, strategy, { ifRevision: revision }));
      await expectRefusal(flags, 'revision_mismatch', () => change(flags, strategy, { ifRevision: [] }));
    });

    it('is refused for documents that do not exist yet', async () => {
      const flags = await start();
      await expectRefusal(flags, 'revision_mismatch', () =>
        flags.createFlag(DEFAULT, { name: 'checkout' }, { ifRevision: 1 }),
      );
      await expectRefusal(flags, 'revision_mismatch', () =>
        flags.createProject({ id: 'shop', name: 'Shop' }, { ifRevision: 1 }),
      );
    });

    it('protects projects and their members', async () => {
      const flags = await start();
      const { revision } = await flags.createProject({ id: 'shop', name: 'Shop' });
      const shop = { project: 'shop' };
      await flags.addMember(shop, { userId: 1, roleId: 4 }, { ifRevision: revision });
      const stale = { ifRevision: revision };
      await expectRefusal(flags, 'revision_mismatch', () => flags.addMember(shop, { userId: 2, roleId: 4 }, stale));
      await expectRefusal(flags, 'revision_mismatch', () => flags.updateProject(shop, { name: 'Store' }, stale));
      await expectRefusal(flags, 'revision_mismatch', () => flags.deleteProject(shop, stale));
    });

    it('succeeds once of many that have seen the same', async () => {
      const { flags } = await checkoutIn(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      const edits = Array.from({ length: 10 }, (_, n) =>
        flags.updateFlag(CHECKOUT, { description: `Edit ${n}` }, { ifRevision: revision }),
      );
      const outcomes = await Promise.allSettled(edits);
      const lost = edits.filter((_, n) => outcomes[n]?.status === 'rejected');
      expect(lost).toHaveLength(9);
      for (const edit of lost) expect((await refusalOf(edit)).code).toBe('revision_mismatch');
      expect((await flags.getFlag(CHECKOUT)).revision).toBe(revision + 1);
    });
  });

  it('creates one flag of fifty simultaneous creations of one name, in different projects too', async () => {
    const flags = await start();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const creations = Array.from({ length: 50 }, (_, n) =>
      flags.createFlag({ project: n % 2 ? 'shop' : 'default' }, { name: 'checkout' }),
    );
    const outcomes = await Promise.allSettled(creations);
    const lost = outcomes.filter(({ status }) => status === 'rejected');
    expect(lost).toHaveLength(49);
    for (const outcome of lost) expect(outcome).toMatchObject({ reason: { code: 'flag_exists' } });
    expect((await flags.listEvents({ flag: 'checkout' })).total).toBe(1);
  });

  it('refuses everything once it is closed', async () => {
    const flags = await start();
    await flags.close();
    await flags.close();
    for (const attempt of [flags.listProjects(), flags.createFlag(DEFAULT, { name: 'a' }), flags.countEvaluations()]) {
      expect((await refusalOf(attempt)).code).toBe('closed');
    }
  });
});
