import type { FlagChanges, Flags, NewFlag } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';

const OWNED = { labels: ['team-shop', 'beta'], owner: 'ada@example.org' };

async function owned(flags: Flags): Promise<Flags> {
  await flags.createFlag(DEFAULT, { name: 'checkout', ...OWNED });
  return flags;
}

onEveryStorage((start) => {
  describe('labels and owner', () => {
    it('are kept as given, in the order given, and copied by a clone', async () => {
      const flags = await owned(await start());
      expect(await flags.getFlag(CHECKOUT)).toMatchObject(OWNED);
      expect(await flags.cloneFlag(CHECKOUT, { name: 'copy' })).toMatchObject(OWNED);
      expect(await flags.createFlag(DEFAULT, { name: 'plain' })).toMatchObject({ labels: [], owner: null });
    });

    it('change by an update and by a patch, and stay when absent', async () => {
      const flags = await owned(await start());
      expect(await flags.updateFlag(CHECKOUT, { description: 'New' })).toMatchObject(OWNED);
      expect(await flags.updateFlag(CHECKOUT, { labels: ['a', 'b'], owner: null })).toMatchObject({
        labels: ['a', 'b'],
        owner: null,
      });
      const patch = [
        { op: 'test', path: '/labels/0', value: 'a' },
        { op: 'remove', path: '/labels/0' },
        { op: 'add', path: '/labels/-', value: 'c' },
        { op: 'add', path: '/owner', value: 'grace' },
      ] as const;
      expect(await flags.patchFlag(CHECKOUT, patch)).toMatchObject({ labels: ['b', 'c'], owner: 'grace' });
    });

    it('are in events, after and before, and change a flag that is restored from them', async () => {
      const flags = await owned(await start());
      const events = await eventsOf(flags, () => flags.updateFlag(CHECKOUT, { labels: ['a'] }));
      expect(events).toMatchObject([
        { type: 'flag-updated', data: { labels: ['a'], owner: OWNED.owner }, before: OWNED },
      ]);
      const created = await flags.listEvents({ type: 'flag-created' });
      expect(created.events).toMatchObject([{ data: OWNED }]);
    });

    it('record nothing when they stay the same', async () => {
      const flags = await owned(await start());
      expect(await factsOf(flags, () => flags.updateFlag(CHECKOUT, OWNED))).toEqual([]);
    });

    it('are the values of the call, whatever the caller does to its lists meanwhile', async () => {
      const flags = await start();
      const labels = ['a'];
      const creating = flags.createFlag(DEFAULT, { name: 'checkout', labels });
      labels.push('');
      expect((await creating).labels).toEqual(['a']);
      const more = ['b'];
      const changing = flags.changeLabels(CHECKOUT, { add: more });
      more.push('');
      expect((await changing).labels).toEqual(['a', 'b']);
    });

    it.each<[object, string]>([
      [{ labels: 'a' }, '/labels'],
      [{ labels: null }, '/labels'],
      [{ labels: [''] }, '/labels/0'],
      [{ labels: ['x'.repeat(51)] }, '/labels/0'],
      [{ labels: ['a', 7] }, '/labels/1'],
      [{ labels: ['\ud800'] }, '/labels/0'],
      [{ labels: ['a', 'b', 'a'] }, '/labels/2'],
      [{ labels: Array.from({ length: 21 }, (_, index) => `label-${index}`) }, '/labels'],
      [{ owner: '' }, '/owner'],
      [{ owner: 7 }, '/owner'],
      [{ owner: 'x'.repeat(201) }, '/owner'],
    ])('refuse %j', async (input, path) => {
      const flags = await owned(await start());
      const refuse = (change: () => Promise<unknown>) => expectRefusal(flags, 'invalid_input', change);
      const create = () => flags.createFlag(DEFAULT, { name: 'new', ...input } as NewFlag);
      expect((await refuse(create)).details).toContainEqual(expect.objectContaining({ path }));
      expect((await refuse(() => flags.updateFlag(CHECKOUT, input as FlagChanges))).details).toContainEqual(
        expect.objectContaining({ path }),
      );
    });
  });

  describe('changing labels', () => {
    it('adds at the end and removes, in one event', async () => {
      const flags = await owned(await start());
      const changes = { add: ['new', 'beta'], remove: ['team-shop', 'unknown'] };
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, changes))).toEqual(['flag-updated']);
      expect((await flags.getFlag(CHECKOUT)).labels).toEqual(['beta', 'new']);
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, changes))).toEqual([]);
      expect(await factsOf(flags, () => flags.changeLabels(CHECKOUT, {}))).toEqual([]);
    });

    it('loses no label when several callers add at the same moment', async () => {
      const flags = await owned(await start());
      const labels = Array.from({ length: 18 }, (_, index) => `label-${index}`);
      await Promise.all(labels.map((label) => flags.changeLabels(CHECKOUT, { add: [label] })));
      expect([...(await flags.getFlag(CHECKOUT)).labels].sort()).toEqual([...OWNED.labels, ...labels].sort());
      await expectRefusal(flags, 'invalid_input', () => flags.changeLabels(CHECKOUT, { add: ['one-more'] }));
    });

    it.each([
      { add: [''] },
      { remove: 'a' },
      { add: Array.from({ length: 21 }, (_, index) => `label-${index}`) },
      null,
      7,
    ])('refuses %j', async (changes) => {
      const flags = await owned(await start());
      await expectRefusal(flags, 'invalid_input', () => flags.changeLabels(CHECKOUT, changes as never));
    });

    it('is refused for an archived flag, an unknown one and another revision', async () => {
      const flags = await owned(await start());
      const add = { add: ['a'] };
      await expectRefusal(flags, 'flag_not_found', () => flags.changeLabels({ ...DEFAULT, flag: 'none' }, add));
      await expectRefusal(flags, 'revision_mismatch', () => flags.changeLabels(CHECKOUT, add, { ifRevision: 7 }));
      await flags.archiveFlag(CHECKOUT);
      await expectRefusal(flags, 'flag_archived', () => flags.changeLabels(CHECKOUT, add));
    });
  });
});
