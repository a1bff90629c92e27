import type { Flags } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const USERS = [{ contextName: 'userId', operator: 'IN' as const, values: ['ada'] }];
const OTHER = { ...DEFAULT, flag: 'other' } as const;

/** Two flags, and a segment that the first one uses. */
async function configured(start: Start): Promise<Flags> {
  const flags = await start(SILENT);
  const { id } = await flags.createSegment({ name: 'beta', constraints: USERS });
  await createSwitchedOn(flags, { flag: 'other', strategies: [{ name: 'default', segments: [id] }] });
  await createSwitchedOn(flags, { flag: 'checkout' });
  return flags;
}

async function movesStamp(flags: Flags, change: () => Promise<unknown>): Promise<boolean> {
  const before = flags.configuration();
  await change();
  const after = flags.configuration();
  expect(after === before).toBe(after.version === before.version);
  return after.version !== before.version;
}

function configurationOf(flags: Flags, flag: string) {
  return flags.configuration().flags.find(({ name }) => name === flag);
}

onEveryStorage((start) => {
  describe('the configuration', () => {
    it('holds what clients evaluate by: flags in name order, segments by id, and nothing else of them', async () => {
      const flags = await configured(start);
      await flags.addDependency(CHECKOUT, { flag: 'other', variants: ['blue'] });
      const { flags: both, segments } = flags.configuration();
      expect(both).toEqual([
        {
          ...{ name: 'checkout', project: 'default', type: 'release', description: '', stale: false, enabled: true },
          ...{ impressionData: false, labels: [], variants: [] },
          strategies: [{ id: expect.any(String), name: 'default', parameters: {}, constraints: [] }],
          dependencies: [{ feature: 'other', enabled: true, variants: ['blue'] }],
        },
        expect.objectContaining({ name: 'other', dependencies: [] }),
      ]);
      expect(segments).toEqual([{ id: 1, name: 'beta', constraints: USERS }]);
    });

    it('is the same object until something changes', async () => {
      const flags = await configured(start);
      flags.isEnabled('checkout');
      expect(flags.configuration()).toBe(flags.configuration({ environment: 'production' }));
      expect(flags.configuration({ environment: 'development' })).toBe(
        flags.configuration({ environment: 'development' }),
      );
      expect(flags.configuration()).not.toBe(flags.configuration({ environment: 'development' }));
    });

    it('keeps the objects of flags that did not change', async () => {
      const flags = await configured(start);
      const [checkout, other] = [configurationOf(flags, 'checkout'), configurationOf(flags, 'other')];
      await flags.disable(PRODUCTION);
      expect(configurationOf(flags, 'checkout')).not.toBe(checkout);
      expect(configurationOf(flags, 'other')).toBe(other);
    });

    it.each<[string, (flags: Flags) => Promise<unknown>]>([
      ['a flag is created', (flags) => flags.createFlag(DEFAULT, { name: 'new' })],
      ['a flag is described', (flags) => flags.updateFlag(CHECKOUT, { description: 'new' })],
      ['a flag is switched off', (flags) => flags.disable(PRODUCTION)],
      ['a strategy is added', (flags) => flags.addStrategy(PRODUCTION, { name: 'default' })],
      [
        'a strategy is added elsewhere',
        (flags) => flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' }),
      ],
      ['variants are set', (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue' }])],
      ['a dependency is added', (flags) => flags.addDependency(CHECKOUT, { flag: 'other' })],
      ['a flag is archived', (flags) => flags.archiveFlag(CHECKOUT)],
      ['a segment is created', (flags) => flags.createSegment({ name: 'second', constraints: [] })],
      ['a segment is changed', (flags) => flags.updateSegment({ segment: 1 }, { constraints: [] })],
    ])('moves its stamp when %s', async (_what, change) => {
      const flags = await configured(start);
      flags.configuration({ environment: 'development' });
      expect(await movesStamp(flags, () => change(flags))).toBe(true);
    });

    it('moves its stamp when a flag is revived, not when an archived one is deleted', async () => {
      const flags = await configured(start);
      await flags.archiveFlag(CHECKOUT);
      expect(await movesStamp(flags, () => flags.reviveFlag({ flag: 'checkout' }))).toBe(true);
      await flags.archiveFlag(CHECKOUT);
      expect(await movesStamp(flags, () => flags.deleteFlag({ flag: 'checkout' }))).toBe(false);
    });

    it('keeps its stamp when nothing that is evaluated changes', async () => {
      const flags = await configured(start);
      const keep = async (change: () => Promise<unknown>) => expect(await movesStamp(flags, change)).toBe(false);
      await keep(() => flags.enable(PRODUCTION));
      await keep(() => flags.updateFlag(CHECKOUT, { stale: false }));
      await keep(() => flags.setVariants(CHECKOUT, []));
      await keep(() => flags.createProject({ id: 'second', name: 'Second' }));
      await keep(() => flags.addMember(DEFAULT, { userId: 7, roleId: 4 }));
      await keep(() => flags.refresh());
      await keep(async () => flags.isEnabled('checkout'));
      await keep(() => expect(flags.createFlag(DEFAULT, { name: 'checkout' })).rejects.toThrow());
    });

    it('keeps the objects of a parent and a segment that others begin to refer to', async () => {
      const flags = await configured(start);
      const { flags: before } = flags.configuration();
      const parent = before.find(({ name }) => name === 'other');
      await flags.addDependency(CHECKOUT, { flag: 'other' });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      expect(configurationOf(flags, 'other')).toBe(parent);
    });

    it('equals the state in the flag itself', async () => {
      const flags = await configured(start);
      const { environments } = await flags.getFlag(OTHER);
      const { enabled, strategies } = environments.find(({ name }) => name === 'production') ?? {};
      expect(configurationOf(flags, 'other')).toMatchObject({ enabled, strategies });
    });
  });
});
