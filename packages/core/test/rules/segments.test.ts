import type { NewSegment, SegmentChanges } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { INHERITED_NAMES } from './references.js';
import { expectRefusal } from './refusal.js';
import { MINUTE, settableClock } from './settable-clock.js';

const BETA: NewSegment = {
  name: 'beta',
  description: 'Who has asked for it',
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }],
};
const EMPTY = { constraints: [] };

onEveryStorage((start) => {
  describe('segments', () => {
    it('are created with an id, a time and an author', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const created = await flags.createSegment(BETA, { actor: 'ada@example.org' });
      expect(created).toEqual({
        ...BETA,
        id: 1,
        project: null,
        createdAt: clock.text(),
        createdBy: 'ada@example.org',
        revision: expect.any(Number),
      });
      expect(await flags.getSegment({ segment: 1 })).toEqual(created);
      expect(await flags.as('grace').createSegment({ name: 'gamma', ...EMPTY })).toMatchObject({
        id: 2,
        description: '',
        createdBy: 'grace',
      });
    });

    it('are listed by id, as numbers are ordered', async () => {
      const flags = await start();
      for (let n = 12; n > 0; n--) await flags.createSegment({ name: `segment ${n}`, ...EMPTY });
      const listed = await flags.listSegments();
      expect(listed.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(listed[0]).toEqual(await flags.getSegment({ segment: 1 }));
    });

    it('have unique names, whatever they are called', async () => {
      const flags = await start();
      for (const name of [...INHERITED_NAMES, 'two words', '☃']) {
        expect((await flags.createSegment({ name, ...EMPTY })).name).toBe(name);
        await expectRefusal(flags, 'segment_exists', () => flags.createSegment({ name, ...EMPTY }));
      }
    });

    it('are created once, of many simultaneous creations of one name', async () => {
      const flags = await start();
      const creations = Array.from({ length: 50 }, () => flags.createSegment(BETA));
      const outcomes = await Promise.allSettled(creations);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await flags.listSegments()).toHaveLength(1);
    });

    it('never share an id, however many are created at once', async () => {
      const flags = await start();
      const creations = Array.from({ length: 50 }, (_, n) => flags.createSegment({ name: `segment ${n}`, ...EMPTY }));
      const ids = (await Promise.all(creations)).map(({ id }) => id);
      expect(new Set(ids).size).toBe(50);
    });

    it('change in name, description and constraints, and keep absent members', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { id, createdAt, createdBy } = await flags.createSegment(BETA);
      clock.advance(MINUTE);
      const updated = await flags.updateSegment({ segment: id }, { name: 'early', constraints: [] });
      expect(updated).toMatchObject({ ...BETA, id, name: 'early', constraints: [], createdAt, createdBy });
      expect(await flags.updateSegment({ segment: id }, { description: '' })).toMatchObject({
        name: 'early',
        description: '',
      });
      expect(await flags.listSegments()).toEqual([await flags.getSegment({ segment: id })]);
    });

    it('free their old name after a rename, and cannot take a used one', async () => {
      const flags = await start();
      await flags.createSegment(BETA);
      await flags.createSegment({ name: 'gamma', ...EMPTY });
      await expectRefusal(flags, 'segment_exists', () => flags.updateSegment({ segment: 2 }, { name: 'beta' }));
      await flags.updateSegment({ segment: 1 }, { name: 'early' });
      expect(await flags.updateSegment({ segment: 2 }, { name: 'beta' })).toMatchObject({ id: 2, name: 'beta' });
    });

    it('are deleted; their name is free again and their id is not', async () => {
      const flags = await start();
      await flags.createSegment(BETA);
      await flags.deleteSegment({ segment: 1 });
      await expectRefusal(flags, 'segment_not_found', () => flags.getSegment({ segment: 1 }));
      expect(await flags.createSegment(BETA)).toMatchObject({ id: 2 });
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
      await expectRefusal(flags, 'invalid_input', () => flags.createSegment(input as unknown as NewSegment));
    });

    it.each([{ name: '' }, { constraints: null }, { constraints: [{}] }, { description: 5 }, null])(
      'are not changed by %j',
      async (changes) => {
        const flags = await start();
        await flags.createSegment(BETA);
        const attempt = () => flags.updateSegment({ segment: 1 }, changes as unknown as SegmentChanges);
        await expectRefusal(flags, 'invalid_input', attempt);
      },
    );

    it('are not found when there are none of that id', async () => {
      const flags = await start();
      for (const segment of [0, 1, -1, 1.5, Number.NaN, Number.MAX_VALUE]) {
        await expectRefusal(flags, 'segment_not_found', () => flags.getSegment({ segment }));
        await expectRefusal(flags, 'segment_not_found', () => flags.updateSegment({ segment }, { name: 'x' }));
        await expectRefusal(flags, 'segment_not_found', () => flags.deleteSegment({ segment }));
        await expectRefusal(flags, 'segment_not_found', () => flags.listSegmentUses({ segment }));
      }
    });

    it('are changed and deleted only as the caller has seen them, if it says so', async () => {
      const flags = await start();
      await expectRefusal(flags, 'revision_mismatch', () => flags.createSegment(BETA, { ifRevision: 1 }));
      const { revision } = await flags.createSegment(BETA);
      const stale = { ifRevision: revision + 1 };
      await expectRefusal(flags, 'revision_mismatch', () => flags.updateSegment({ segment: 1 }, { name: 'x' }, stale));
      await expectRefusal(flags, 'revision_mismatch', () => flags.deleteSegment({ segment: 1 }, stale));
      await flags.deleteSegment({ segment: 1 }, { ifRevision: revision });
    });

    it('are recorded whole, one fact per change and none for what stays', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        await flags.createSegment(BETA);
        await flags.updateSegment({ segment: 1 }, { name: 'early', constraints: BETA.constraints });
        await flags.deleteSegment({ segment: 1 });
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
      await flags.createSegment(BETA);
      const same = { ...BETA, constraints: structuredClone(BETA.constraints) };
      expect(await factsOf(flags, () => flags.updateSegment({ segment: 2 }, same))).toEqual([]);
      expect(await factsOf(flags, () => flags.updateSegment({ segment: 2 }, {}))).toEqual([]);
    });

    it('are not affected by later mutations of the input', async () => {
      const flags = await start();
      const input = structuredClone(BETA) as { name: string; constraints: { values: string[] }[] } & NewSegment;
      await flags.createSegment(input);
      input.constraints[0]?.values.push('9');
      expect((await flags.getSegment({ segment: 1 })).constraints).toEqual(BETA.constraints);
    });
  });
});
