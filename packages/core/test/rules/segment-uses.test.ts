import type { Flags } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';

const SEGMENT = { segment: 1 };

async function withSegments(flags: Flags): Promise<Flags> {
  await flags.createSegment({ name: 'beta', constraints: [] });
  await flags.createSegment({ name: 'gamma', constraints: [] });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

async function flagsThatUse(flags: Flags, segment: number): Promise<readonly string[]> {
  return (await flags.listSegmentUses({ segment })).map(({ flag }) => flag);
}

onEveryStorage((start) => {
  describe('the uses of a segment', () => {
    it('are its strategies, of any project and environment, by flag name', async () => {
      const flags = await withSegments(await start());
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const basket = { project: 'shop', flag: 'basket', environment: 'development' };
      const first = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1, 2] });
      const second = await flags.addStrategy(basket, { name: 'default', segments: [1] });
      await flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [2] });
      expect(await flags.listSegmentUses(SEGMENT)).toEqual([
        { ...basket, strategy: second.id },
        { ...PRODUCTION, strategy: first.id },
      ]);
    });

    it('begin and end with every way of changing strategies', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const strategy = { ...PRODUCTION, strategy: id };
      expect(await flagsThatUse(flags, 1)).toEqual([]);
      await flags.updateStrategy(strategy, { name: 'default', segments: [1] });
      expect(await flagsThatUse(flags, 1)).toEqual(['checkout']);
      await flags.patchStrategy(strategy, [{ op: 'replace', path: '/segments', value: [2] }]);
      expect([await flagsThatUse(flags, 1), await flagsThatUse(flags, 2)]).toEqual([[], ['checkout']]);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect(await flagsThatUse(flags, 2)).toEqual(['checkout', 'copy']);
      await flags.removeStrategy(strategy);
      expect(await flagsThatUse(flags, 2)).toEqual(['copy']);
    });

    it('keep it from being deleted, in the archive too', async () => {
      const flags = await withSegments(await start());
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const error = await expectRefusal(flags, 'segment_in_use', () => flags.deleteSegment(SEGMENT));
      expect(error.message).toContain('a strategy');
      expect(error.message).not.toContain('checkout');
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'segment_in_use', () => flags.deleteSegment(SEGMENT));
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.deleteSegment(SEGMENT);
    });

    it('move its revision when they begin, not while they stay', async () => {
      const flags = await withSegments(await start());
      const { revision } = await flags.getSegment(SEGMENT);
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const used = await flags.getSegment(SEGMENT);
      expect(used.revision).toBeGreaterThan(revision);
      await flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [1] });
      await flags.enable(PRODUCTION);
      expect(await flags.getSegment(SEGMENT)).toEqual(used);
    });

    it('are of segments that exist, each at most once', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const strategy = { ...PRODUCTION, strategy: id };
      const ways = [
        (segments: number[]) => flags.addStrategy(PRODUCTION, { name: 'default', segments }),
        (segments: number[]) => flags.updateStrategy(strategy, { name: 'default', segments }),
        (segments: number[]) => flags.patchStrategy(strategy, [{ op: 'add', path: '/segments', value: segments }]),
      ];
      for (const way of ways) {
        for (const bad of [99, 0, -1, 1]) {
          const error = await expectRefusal(flags, 'invalid_input', () => way([1, bad]));
          expect(error.details).toMatchObject([{ path: '/segments/1' }]);
        }
      }
      await expectRefusal(flags, 'segment_not_found', () => flags.listSegmentUses({ segment: 99 }));
    });

    it('tell the segments of one strategy, by id', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [2, 1] });
      const other = await flags.addStrategy(PRODUCTION, { name: 'default' });
      expect(await flags.listSegments({ strategy: id })).toEqual(await flags.listSegments());
      expect(await flags.listSegments({ strategy: other.id })).toEqual([]);
      expect(await flags.listSegments({ strategy: 'unknown' })).toEqual([]);
    });

    it('begin in fifty flags at once', async () => {
      const flags = await withSegments(await start());
      const names = Array.from({ length: 50 }, (_, n) => `flag-${String(n).padStart(2, '0')}`);
      await Promise.all(names.map((name) => flags.createFlag(DEFAULT, { name })));
      const begin = (flag: string) => flags.addStrategy({ ...PRODUCTION, flag }, { name: 'default', segments: [1] });
      await Promise.all(names.map(begin));
      expect(await flagsThatUse(flags, 1)).toEqual(names);
    });
  });
});
