import { type Flags, FlagsError, type SegmentUseRequest } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { expectRefusal } from './refusal.js';

const SHOP = { project: 'shop', flag: 'basket', environment: 'production' };
const OTHER = { project: 'default', flag: 'checkout', environment: 'production' };
const EMPTY = { constraints: [] };
const SEGMENT = { segment: 1 };

async function withTwoProjects(flags: Flags): Promise<void> {
  await flags.createProject({ id: 'shop', name: 'Shop' });
  for (const { project, flag } of [SHOP, OTHER]) await flags.createFlag({ project }, { name: flag });
}

onEveryStorage((start) => {
  describe('a segment of a project', () => {
    it('is used by flags of that project alone, in every way in which strategies change', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      expect(await flags.createSegment({ name: 'beta', project: 'shop', ...EMPTY })).toMatchObject({ project: 'shop' });
      await flags.addStrategy(SHOP, { name: 'default', segments: [1] });
      const { id } = await flags.addStrategy(OTHER, { name: 'default' });
      const strategy = { ...OTHER, strategy: id };
      const use = { name: 'default', segments: [1] };
      await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(OTHER, use));
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(strategy, use));
      const error = await expectRefusal(flags, 'invalid_input', () =>
        flags.patchStrategy(strategy, [{ op: 'add', path: '/segments', value: [1] }]),
      );
      expect(error.message).not.toContain('shop');
    });

    it('exists only for a project that exists', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () =>
        flags.createSegment({ name: 'a', project: 'no', ...EMPTY }),
      );
      await flags.createSegment({ name: 'a', ...EMPTY });
      await expectRefusal(flags, 'project_not_found', () => flags.updateSegment(SEGMENT, { project: 'no' }));
    });

    it('becomes one only while no flag of another project uses it', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.createSegment({ name: 'beta', ...EMPTY });
      const { id } = await flags.addStrategy(OTHER, { name: 'default', segments: [1] });
      await expectRefusal(flags, 'segment_in_use', () => flags.updateSegment(SEGMENT, { project: 'shop' }));
      await flags.removeStrategy({ ...OTHER, strategy: id });
      expect(await flags.updateSegment(SEGMENT, { project: 'shop' })).toMatchObject({ project: 'shop', name: 'beta' });
      expect(await flags.updateSegment(SEGMENT, { project: null })).toMatchObject({ project: null });
    });

    it('and a use by another project that begins at the same moment exclude each other', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      for (let round = 1; round <= 5; round++) {
        await flags.createSegment({ name: `segment ${round}`, ...EMPTY });
        const outcomes = await Promise.allSettled([
          flags.addStrategy(OTHER, { name: 'default', segments: [round] }),
          flags.updateSegment({ segment: round }, { project: 'shop' }),
        ]);
        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }
    });

    it('goes with its project, and its name is free again', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.createSegment({ name: 'beta', project: 'shop', ...EMPTY });
      await flags.createSegment({ name: 'all', ...EMPTY });
      await flags.addStrategy(SHOP, { name: 'default', segments: [1] });
      await flags.archiveFlag(SHOP);
      await flags.deleteProject({ project: 'shop' });
      expect(await flags.listSegments()).toMatchObject([{ name: 'all' }]);
      expect((await flags.listEvents({ type: 'segment-deleted' })).events).toMatchObject([{ project: 'shop' }]);
      expect(await flags.createSegment({ name: 'beta', ...EMPTY })).toMatchObject({ id: 3 });
    });
  });

  describe("the actor's check of changes", () => {
    it('gets every segment that a strategy begins to use, and can refuse', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.createSegment({ name: 'beta', project: 'shop', ...EMPTY });
      for (const name of ['all', 'secret']) await flags.createSegment({ name, ...EMPTY });
      const asked: SegmentUseRequest[] = [];
      const refusal = new FlagsError('segment_not_found', 'Not yours.');
      const checked = flags.as('ada', {
        async authorize({ segmentUses }) {
          asked.push(...segmentUses);
          if (segmentUses.some(({ segment }) => segment === 3)) throw refusal;
        },
      });
      const { id } = await checked.addStrategy(SHOP, { name: 'default', segments: [1] });
      const strategy = { ...SHOP, strategy: id };
      await checked.updateStrategy(strategy, { name: 'default', segments: [2, 1] });
      const patch = [{ op: 'add', path: '/segments/-', value: 3 }] as const;
      const { revision } = await flags.getFlag(SHOP);
      await expect(checked.patchStrategy(strategy, patch)).rejects.toBe(refusal);
      await checked.patchStrategy(strategy, [{ op: 'remove', path: '/segments/0' }]);
      await checked.cloneFlag(SHOP, { name: 'copy' });
      expect((await flags.getFlag(SHOP)).revision).toBe(revision + 1);
      // After a refusal, the engine may decide again on the stored documents, and asks a second time.
      expect(asked.filter(({ segment }, index) => segment !== asked[index - 1]?.segment)).toEqual([
        { segment: 1, project: 'shop' },
        { segment: 2, project: null },
        { segment: 3, project: null },
      ]);
    });

    it('gets both projects of a segment that the set moves', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.createSegment({ name: 'beta', ...EMPTY });
      const asked: SegmentUseRequest[] = [];
      const checked = flags.as('ada', { authorize: ({ segmentUses }) => void asked.push(...segmentUses) });
      await checked.plan([
        { op: 'updateSegment', ref: SEGMENT, input: { project: 'shop' } },
        { op: 'addStrategy', ref: SHOP, input: { name: 'default', segments: [1] } },
      ]);
      expect(asked).toEqual([
        { segment: 1, project: null },
        { segment: 1, project: 'shop' },
      ]);
    });
  });

  describe('a flag reference without a project', () => {
    it('is located, archived or not, and revived and deleted in that project alone', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      expect(await flags.locateFlag({ flag: 'basket' })).toEqual({ project: 'shop', flag: 'basket' });
      await flags.archiveFlag(SHOP);
      expect(await flags.locateFlag({ flag: 'basket' })).toEqual({ project: 'shop', flag: 'basket' });
      const elsewhere = { project: 'default', flag: 'basket' };
      await expectRefusal(flags, 'flag_not_found', () => flags.reviveFlag(elsewhere));
      await expectRefusal(flags, 'flag_not_found', () => flags.deleteFlag(elsewhere));
      await flags.deleteFlag({ project: 'shop', flag: 'basket' });
      await expectRefusal(flags, 'flag_not_found', () => flags.locateFlag({ flag: 'basket' }));
    });
  });
});
