import type { ChangeContext, Flags } from '../../src/index.js';
import { changeRevised } from '../../src/router.operations.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';

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

onEveryStorage((start) => {
  describe('the revision of a change', () => {
    it('comes with its result, and is the first one for a repeated id', async () => {
      const { flags } = await checkoutIn(start);
      const context = { id: '00000000-0000-4000-8000-000000000001' };
      const enabled = await changeRevised(flags, 'enable', { ref: PRODUCTION, context });
      expect(enabled).toEqual({ revision: (await flags.getFlag(CHECKOUT)).revision });
      const input = { stale: true };
      const updated = await changeRevised(flags, 'updateFlag', { ref: CHECKOUT, input, context: {} });
      expect(updated.result).toEqual(await flags.updateFlag(CHECKOUT, {}));
      expect(updated.revision).toBe(updated.result.revision);
      expect(await changeRevised(flags, 'enable', { ref: PRODUCTION, context })).toEqual(enabled);
    });

    it('is that of the flag if nothing has changed, and absent after its deletion', async () => {
      const { flags } = await checkoutIn(start);
      await flags.enable(PRODUCTION);
      const { revision } = await flags.getFlag(CHECKOUT);
      expect(await changeRevised(flags, 'enable', { ref: PRODUCTION, context: {} })).toMatchObject({ revision });
      await flags.archiveFlag(CHECKOUT);
      const deleted = await changeRevised(flags, 'deleteFlag', { ref: { flag: 'checkout' }, context: {} });
      expect(deleted.revision).toBeUndefined();
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
    expect((await flags.events.list({ flag: 'checkout' })).total).toBe(1);
  });

  it('refuses everything once it is closed', async () => {
    const flags = await start();
    await flags.close();
    await flags.close();
    for (const attempt of [flags.listProjects(), flags.createFlag(DEFAULT, { name: 'a' }), flags.usage.count()]) {
      expect((await refusalOf(attempt)).code).toBe('closed');
    }
  });
});
