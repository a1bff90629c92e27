import { type Flags, FlagsError, type NewSegment, type SegmentChanges } from '../../src/index.js';
import type { SegmentUseRequest } from '../../src/types.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, INHERITED_NAMES, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { MINUTE, settableClock } from '../settable-clock.js';

const EMPTY = { constraints: [] };
const SEGMENT = { segment: 1 };

const BETA: NewSegment = {
  name: 'beta',
  description: 'Who has asked for it',
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
};

onEveryStorage((start) => {
  describe('segments', () => {
    it('are created with an id, a time and an author', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const created = await flags.segments.create(BETA, { actor: 'ada@example.org' });
      expect(created).toEqual({
        ...BETA,
        id: 1,
        project: null,
        createdAt: clock.text(),
        createdBy: 'ada@example.org',
        revision: expect.any(Number),
      });
      expect(await flags.segments.get({ segment: 1 })).toEqual(created);
      expect(await flags.as('grace').segments.create({ name: 'gamma', ...EMPTY })).toMatchObject({
        id: 2,
        description: '',
        createdBy: 'grace',
      });
    });

    it('are listed by id, as numbers are ordered', async () => {
      const flags = await start();
      for (let n = 12; n > 0; n--) await flags.segments.create({ name: `segment ${n}`, ...EMPTY });
      const { items: listed } = await flags.segments.list();
      expect(listed.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(listed[0]).toEqual(await flags.segments.get({ segment: 1 }));
    });

    it('have unique names, inherited ones included', async () => {
      const flags = await start();
      for (const name of [...INHERITED_NAMES, 'two words', '☃']) {
        expect((await flags.segments.create({ name, ...EMPTY })).name).toBe(name);
        await expectRefusal(flags, 'segment_exists', () => flags.segments.create({ name, ...EMPTY }));
      }
    });

    it('are created once, of many simultaneous creations of one name', async () => {
      const flags = await start();
      const creations = Array.from({ length: 50 }, () => flags.segments.create(BETA));
      const outcomes = await Promise.allSettled(creations);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect((await flags.segments.list()).items).toHaveLength(1);
    });

    it('never share an id, however many are created at once', async () => {
      const flags = await start();
      const creations = Array.from({ length: 50 }, (_, n) => flags.segments.create({ name: `segment ${n}`, ...EMPTY }));
      const ids = (await Promise.all(creations)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(50);
    });

    it('change in name, description and constraints, and keep absent members', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { id, createdAt, createdBy } = await flags.segments.create(BETA);
      clock.advance(MINUTE);
      const updated = await flags.segments.update({ segment: id }, { name: 'early', constraints: [] });
      expect(updated).toMatchObject({ ...BETA, id, name: 'early', constraints: [], createdAt, createdBy });
      expect(await flags.segments.update({ segment: id }, { description: '' })).toMatchObject({
        name: 'early',
        description: '',
      });
      expect((await flags.segments.list()).items).toEqual([await flags.segments.get({ segment: id })]);
    });

    it('release their old name after a rename, and cannot take a used one', async () => {
      const flags = await start();
      await flags.segments.create(BETA);
      await flags.segments.create({ name: 'gamma', ...EMPTY });
      await expectRefusal(flags, 'segment_exists', () => flags.segments.update({ segment: 2 }, { name: 'beta' }));
      await flags.segments.update({ segment: 1 }, { name: 'early' });
      expect(await flags.segments.update({ segment: 2 }, { name: 'beta' })).toMatchObject({ id: 2, name: 'beta' });
    });

    it('are deleted; their name can be used again and their id cannot', async () => {
      const flags = await start();
      await flags.segments.create(BETA);
      await flags.segments.delete({ segment: 1 });
      await expectRefusal(flags, 'segment_not_found', () => flags.segments.get({ segment: 1 }));
      expect(await flags.segments.create(BETA)).toMatchObject({ id: 2 });
    });

    it.each([
      {},
      { name: 'beta' },
      { name: '', constraints: [] },
      { name: 'x'.repeat(101), constraints: [] },
      { name: '\ud800', constraints: [] },
      { name: 5, constraints: [] },
      { name: 'beta', constraints: {} },
      { name: 'beta', constraints: [{ contextName: 'age', operator: 'NUM_GT', value: 'many' }] },
      { name: 'beta', constraints: [], description: null },
      [],
      null,
    ])('are not created from %j', async (input) => {
      const flags = await start();
      await expectRefusal(flags, 'invalid_input', () => flags.segments.create(input as unknown as NewSegment));
    });

    it.each([{ name: '' }, { constraints: null }, { constraints: [{}] }, { description: 5 }, null])(
      'are not changed by %j',
      async (changes) => {
        const flags = await start();
        await flags.segments.create(BETA);
        const attempt = () => flags.segments.update({ segment: 1 }, changes as unknown as SegmentChanges);
        await expectRefusal(flags, 'invalid_input', attempt);
      },
    );

    it('are not found by an unknown id', async () => {
      const flags = await start();
      for (const segment of [0, 1, -1, 1.5, Number.NaN, Number.MAX_VALUE]) {
        await expectRefusal(flags, 'segment_not_found', () => flags.segments.get({ segment }));
        await expectRefusal(flags, 'segment_not_found', () => flags.segments.update({ segment }, { name: 'x' }));
        await expectRefusal(flags, 'segment_not_found', () => flags.segments.delete({ segment }));
        await expectRefusal(flags, 'segment_not_found', () => flags.segments.listUses({ segment }));
      }
    });

    it('are changed and deleted only at the given revision', async () => {
      const flags = await start();
      await expectRefusal(flags, 'revision_mismatch', () => flags.segments.create(BETA, { ifRevision: 1 }));
      const { revision } = await flags.segments.create(BETA);
      const stale = { ifRevision: revision + 1 };
      await expectRefusal(flags, 'revision_mismatch', () =>
        flags.segments.update({ segment: 1 }, { name: 'x' }, stale),
      );
      await expectRefusal(flags, 'revision_mismatch', () => flags.segments.delete({ segment: 1 }, stale));
      await flags.segments.delete({ segment: 1 }, { ifRevision: revision });
    });

    it('are recorded whole, one event per change and none without a difference', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        await flags.segments.create(BETA);
        await flags.segments.update({ segment: 1 }, { name: 'early', constraints: BETA.constraints });
        await flags.segments.delete({ segment: 1 });
      });
      const [created, updated] = [
        { id: 1, ...BETA },
        { id: 1, ...BETA, name: 'early' },
      ];
      expect(events).toMatchObject([
        { type: 'segment-created', project: null, flag: null, data: created, before: null },
        { type: 'segment-updated', project: null, flag: null, data: updated, before: created },
        { type: 'segment-deleted', project: null, flag: null, data: null, before: updated },
      ]);
      await flags.segments.create(BETA);
      const same = { ...BETA, constraints: structuredClone(BETA.constraints) };
      expect(await factsOf(flags, () => flags.segments.update({ segment: 2 }, same))).toEqual([]);
      expect(await factsOf(flags, () => flags.segments.update({ segment: 2 }, {}))).toEqual([]);
    });

    it('are not affected by later mutations of the input', async () => {
      const flags = await start();
      const input = structuredClone(BETA) as { name: string; constraints: { values: string[] }[] } & NewSegment;
      await flags.segments.create(input);
      input.constraints[0]?.values.push('9');
      expect((await flags.segments.get({ segment: 1 })).constraints).toEqual(BETA.constraints);
    });
  });
});

const SHOP = { project: 'shop', flag: 'basket', environment: 'production' };
const OTHER = { project: 'default', flag: 'checkout', environment: 'production' };

async function withTwoProjects(flags: Flags<string>): Promise<void> {
  await flags.createProject({ id: 'shop', name: 'Shop' });
  for (const { project, flag } of [SHOP, OTHER]) await flags.createFlag({ project }, { name: flag });
}

onEveryStorage((start) => {
  describe('a segment of a project', () => {
    it('is used by flags of that project only, in every way in which strategies change', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      expect(await flags.segments.create({ name: 'beta', project: 'shop', ...EMPTY })).toMatchObject({
        project: 'shop',
      });
      await flags.addStrategy(SHOP, { name: 'default', segments: [1] });
      const { id } = await flags.addStrategy(OTHER, { name: 'default' });
      const strategy = { ...OTHER, strategy: id };
      const use = { name: 'default', segments: [1] };
      await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(OTHER, use));
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(strategy, use));
      const target = { enabled: false, strategies: [use] };
      const error = await expectRefusal(flags, 'invalid_input', () => flags.configureEnvironment(OTHER, target));
      expect(error.message).not.toContain('shop');
    });

    it('exists only for a project that exists', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () =>
        flags.segments.create({ name: 'a', project: 'no', ...EMPTY }),
      );
      await flags.segments.create({ name: 'a', ...EMPTY });
      await expectRefusal(flags, 'project_not_found', () => flags.segments.update(SEGMENT, { project: 'no' }));
    });

    it('is assigned to it only while no flag of another project uses it', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.segments.create({ name: 'beta', ...EMPTY });
      const { id } = await flags.addStrategy(OTHER, { name: 'default', segments: [1] });
      await flags.addStrategy(SHOP, { name: 'default', segments: [1] });
      const error = await expectRefusal(flags, 'segment_in_use', () =>
        flags.segments.update(SEGMENT, { project: 'shop' }),
      );
      expect(error.message).not.toContain('default');
      await flags.removeStrategy({ ...OTHER, strategy: id });
      expect(await flags.segments.update(SEGMENT, { project: 'shop' })).toMatchObject({
        project: 'shop',
        name: 'beta',
      });
      expect(await flags.segments.update(SEGMENT, { project: null })).toMatchObject({ project: null });
    });

    it('excludes a simultaneous use by another project', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      for (let round = 1; round <= 5; round++) {
        await flags.segments.create({ name: `segment ${round}`, ...EMPTY });
        const outcomes = await Promise.allSettled([
          flags.addStrategy(OTHER, { name: 'default', segments: [round] }),
          flags.segments.update({ segment: round }, { project: 'shop' }),
        ]);
        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }
    });

    it('is deleted with its project, and its name can be used again', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.segments.create({ name: 'beta', project: 'shop', ...EMPTY });
      await flags.segments.create({ name: 'all', ...EMPTY });
      await flags.addStrategy(SHOP, { name: 'default', segments: [1] });
      await flags.archiveFlag(SHOP);
      await flags.deleteProject({ project: 'shop' });
      expect((await flags.segments.list()).items).toMatchObject([{ name: 'all' }]);
      expect((await flags.events.list({ type: 'segment-deleted' })).items).toMatchObject([{ project: 'shop' }]);
      expect(await flags.segments.create({ name: 'beta', ...EMPTY })).toMatchObject({ id: 3 });
    });
  });

  describe("the actor's check of changes", () => {
    it('receives every segment that a strategy starts to use, and can refuse', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.segments.create({ name: 'beta', project: 'shop', ...EMPTY });
      for (const name of ['all', 'secret']) await flags.segments.create({ name, ...EMPTY });
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
      const use = (...segments: number[]) => ({ name: 'default', segments });
      const { revision } = await flags.getFlag(SHOP);
      await expect(checked.updateStrategy(strategy, use(2, 1, 3))).rejects.toBe(refusal);
      await checked.updateStrategy(strategy, use(1));
      await checked.cloneFlag(SHOP, { name: 'copy' });
      expect((await flags.getFlag(SHOP)).revision).toBe(revision + 1);
      // After a refusal, the engine may decide again on the stored documents, and asks a second time.
      expect(asked.filter(({ segment }, index) => segment !== asked[index - 1]?.segment)).toEqual([
        { segment: 1, project: 'shop' },
        { segment: 2, project: null },
        { segment: 3, project: null },
      ]);
    });

    it('receives both projects of a segment that the set moves', async () => {
      const flags = await start();
      await withTwoProjects(flags);
      await flags.segments.create({ name: 'beta', ...EMPTY });
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
    it('finds the flag, archived or not, and revives and deletes it in that project only', async () => {
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

async function withSegments(flags: Flags<string>): Promise<Flags<string>> {
  await flags.segments.create({ name: 'beta', constraints: [] });
  await flags.segments.create({ name: 'gamma', constraints: [] });
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

async function flagsThatUse(flags: Flags<string>, segment: number): Promise<readonly string[]> {
  return (await flags.segments.listUses({ segment })).items.map(({ flag }) => flag);
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
      expect((await flags.segments.listUses(SEGMENT)).items).toEqual([
        { ...basket, strategy: second.id },
        { ...PRODUCTION, strategy: first.id },
      ]);
    });

    it('start and end with every way of changing strategies', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const strategy = { ...PRODUCTION, strategy: id };
      expect(await flagsThatUse(flags, 1)).toEqual([]);
      await flags.updateStrategy(strategy, { name: 'default', segments: [1] });
      expect(await flagsThatUse(flags, 1)).toEqual(['checkout']);
      await flags.updateStrategy(strategy, { name: 'default', segments: [2] });
      expect([await flagsThatUse(flags, 1), await flagsThatUse(flags, 2)]).toEqual([[], ['checkout']]);
      await flags.cloneFlag(CHECKOUT, { name: 'copy' });
      expect(await flagsThatUse(flags, 2)).toEqual(['checkout', 'copy']);
      await flags.removeStrategy(strategy);
      expect(await flagsThatUse(flags, 2)).toEqual(['copy']);
    });

    it('prevent its deletion, also in the archive', async () => {
      const flags = await withSegments(await start());
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const error = await expectRefusal(flags, 'segment_in_use', () => flags.segments.delete(SEGMENT));
      expect(error.message).toContain('a strategy');
      expect(error.message).not.toContain('checkout');
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      await flags.archiveFlag(CHECKOUT);
      const archived = await expectRefusal(flags, 'segment_in_use', () => flags.segments.delete(SEGMENT));
      expect(archived.message).toContain('2 strategies');
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.segments.delete(SEGMENT);
    });

    it('change its revision when they start, not while they stay', async () => {
      const flags = await withSegments(await start());
      const { revision } = await flags.segments.get(SEGMENT);
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const used = await flags.segments.get(SEGMENT);
      expect(used.revision).toBeGreaterThan(revision);
      await flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [1] });
      await flags.enable(PRODUCTION);
      expect(await flags.segments.get(SEGMENT)).toEqual(used);
    });

    it('refer to segments that exist, each at most once', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      const strategy = { ...PRODUCTION, strategy: id };
      const ways = [
        (segments: number[]) => flags.addStrategy(PRODUCTION, { name: 'default', segments }),
        (segments: number[]) => flags.updateStrategy(strategy, { name: 'default', segments }),
      ];
      for (const way of ways) {
        for (const bad of [99, 0, -1, 1]) {
          const error = await expectRefusal(flags, 'invalid_input', () => way([1, bad]));
          expect(error.details).toMatchObject([{ path: '/segments/1' }]);
        }
      }
      await expectRefusal(flags, 'segment_not_found', () => flags.segments.listUses({ segment: 99 }));
    });

    it('list the segments of one strategy, by id', async () => {
      const flags = await withSegments(await start());
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [2, 1] });
      const other = await flags.addStrategy(PRODUCTION, { name: 'default' });
      expect((await flags.segments.list({ strategy: id })).items).toEqual((await flags.segments.list()).items);
      expect((await flags.segments.list({ strategy: other.id })).items).toEqual([]);
      expect((await flags.segments.list({ strategy: 'unknown' })).items).toEqual([]);
    });

    it('can start in fifty flags at once', async () => {
      const flags = await withSegments(await start());
      const names = Array.from({ length: 50 }, (_, n) => `flag-${String(n).padStart(2, '0')}`);
      await Promise.all(names.map((name) => flags.createFlag(DEFAULT, { name })));
      const begin = (flag: string) => flags.addStrategy({ ...PRODUCTION, flag }, { name: 'default', segments: [1] });
      await Promise.all(names.map(begin));
      expect(await flagsThatUse(flags, 1)).toEqual(names);
    });
  });
});
