import type { EventQuery, Flags } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { expectRefusal } from './refusal.js';
import { MINUTE, settableClock } from './settable-clock.js';

async function logged(flags: Flags, query?: EventQuery): Promise<readonly (string | null)[]> {
  return (await flags.listEvents(query)).events.map(({ type, flag }) => `${type} ${flag}`);
}

onEveryStorage((start) => {
  describe('events', () => {
    it('contain actor, type and time, with the states before and after', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout', description: 'Old' });
      clock.advance(MINUTE);
      const context = { actor: 'ada@example.org' };
      const [event] = await eventsOf(flags, () => flags.updateFlag(CHECKOUT, { description: 'New' }, context));
      expect(event).toMatchObject({
        id: expect.any(Number),
        position: expect.any(String),
        type: 'flag-updated',
        at: clock.text(),
        actor: 'ada@example.org',
        project: 'default',
        flag: 'checkout',
        environment: null,
        revision: 2,
      });
      expect(JSON.stringify(event?.data)).toContain('New');
      expect(JSON.stringify(event?.before)).toContain('Old');
    });

    it('come once per fact', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const changes = { description: 'New', type: 'permission', stale: true };
      expect([...(await factsOf(flags, () => flags.updateFlag(CHECKOUT, changes)))].sort()).toEqual([
        'flag-stale-on',
        'flag-updated',
      ]);
      expect(await factsOf(flags, () => flags.updateFlag(CHECKOUT, { stale: false }))).toEqual(['flag-stale-off']);
      expect(await factsOf(flags, () => flags.updateFlag(CHECKOUT, { impressionData: true }))).toEqual([
        'flag-updated',
      ]);
    });

    it('come for every kind of change, in order', async () => {
      const flags = await start();
      const facts = await factsOf(flags, async () => {
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
        await flags.updateStrategy({ ...PRODUCTION, strategy: id }, { name: 'own' });
        await flags.enable(PRODUCTION);
        await flags.disable(PRODUCTION);
        await flags.removeStrategy({ ...PRODUCTION, strategy: id });
        await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
        await flags.archiveFlag(CHECKOUT);
        await flags.reviveFlag({ flag: 'checkout' });
        await flags.archiveFlag(CHECKOUT);
        await flags.deleteFlag({ flag: 'checkout' });
      });
      expect(facts).toEqual([
        'flag-created',
        'strategy-added',
        'strategy-updated',
        'environment-enabled',
        'environment-disabled',
        'strategy-removed',
        'variants-updated',
        'flag-archived',
        'flag-revived',
        'flag-archived',
        'flag-deleted',
      ]);
    });

    it('are not recorded without a difference', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout', description: 'Same' });
      const facts = await factsOf(flags, async () => {
        await flags.updateFlag(CHECKOUT, {});
        await flags.updateFlag(CHECKOUT, { description: 'Same', stale: false, type: 'release' });
        await flags.patchFlag(CHECKOUT, [{ op: 'replace', path: '/description', value: 'Same' }]);
        await flags.disable(PRODUCTION);
        await flags.setVariants(CHECKOUT, []);
        await flags.reviveFlag({ flag: 'checkout' });
      });
      expect(facts).toEqual([]);
      expect((await flags.getFlag(CHECKOUT)).revision).toBe(1);
    });

    it('are listed newest first, in pages, with the number of all that match', async () => {
      const flags = await start();
      for (const name of ['a', 'b', 'c', 'd']) await flags.createFlag(DEFAULT, { name });
      const created: EventQuery = { type: 'flag-created' };
      expect(await logged(flags, created)).toEqual(['d', 'c', 'b', 'a'].map((name) => `flag-created ${name}`));
      expect(await logged(flags, { ...created, limit: 2 })).toEqual(['flag-created d', 'flag-created c']);
      expect(await logged(flags, { ...created, limit: 2, offset: 3 })).toEqual(['flag-created a']);
      expect(await flags.listEvents({ ...created, limit: 0 })).toEqual({ events: [], total: 4 });
    });

    it('are found by flag, project, type and time', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      clock.advance(MINUTE);
      const from = clock.text();
      await flags.createProject({ id: 'constructor', name: 'Any' });
      await flags.createFlag({ project: 'constructor' }, { name: '__proto__' });
      clock.advance(MINUTE);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.updateFlag(CHECKOUT, { stale: true });
      const to = clock.text();
      clock.advance(MINUTE);
      await flags.archiveFlag(CHECKOUT);
      expect(await logged(flags, { flag: '__proto__' })).toEqual(['flag-created __proto__']);
      expect(await logged(flags, { project: 'constructor' })).toEqual([
        'flag-created __proto__',
        'project-created null',
      ]);
      expect(await logged(flags, { flag: 'checkout', from, to })).toEqual([
        'flag-stale-on checkout',
        'flag-created checkout',
      ]);
      expect(await logged(flags, { from: to, type: 'flag-archived' })).toEqual(['flag-archived checkout']);
      expect(await logged(flags, { from: clock.text(1) })).toEqual([]);
      expect(await logged(flags, { flag: 'toString' })).toEqual([]);
    });

    it.each([{ limit: -1 }, { limit: 1001 }, { limit: 1.5 }, { offset: -1 }, { type: 'other' }, { from: 'then' }])(
      'are not found by %j',
      async (query) => {
        const flags = await start();
        await expectRefusal(flags, 'invalid_input', () => flags.listEvents(query as EventQuery));
      },
    );

    it('are attributed to the configured actor, a speaker, or the call’s own actor', async () => {
      const flags = await start({ actor: 'deployment' });
      const ada = flags.as('ada');
      const events = await eventsOf(flags, async () => {
        await flags.createFlag(DEFAULT, { name: 'a' });
        await ada.createFlag(DEFAULT, { name: 'b' });
        await ada.createFlag(DEFAULT, { name: 'c' }, { actor: 'grace' });
        await ada.as('linus').createFlag(DEFAULT, { name: 'd' });
      });
      expect(events.map(({ actor }) => actor)).toEqual(['deployment', 'ada', 'grace', 'linus']);
      const anonymous = await start();
      await anonymous.createFlag(DEFAULT, { name: 'a' });
      expect((await anonymous.listEvents({ flag: 'a' })).events[0]?.actor).toBe('system');
    });
  });
});
