import { flagDocuments } from '../../src/features/flags/flag.kind.js';
import { segmentDocuments } from '../../src/features/segments/segment.kind.js';
import { type EventQuery, type Flags, memoryStorage, openFlags, type PageQuery, paginate } from '../../src/index.js';
import type { Aggregate } from '../../src/storage/document-reader.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { MINUTE, settableClock } from '../settable-clock.js';

async function logged(flags: Flags<string>, query?: EventQuery): Promise<readonly (string | null)[]> {
  return (await flags.events.list(query)).items.map(({ type, flag }) => `${type} ${flag}`);
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

    it('are recorded once per fact', async () => {
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

    it('are recorded for every kind of change, in order', async () => {
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
      const { next } = await flags.events.list({ ...created, limit: 3 });
      expect(await logged(flags, { ...created, limit: 3, after: next })).toEqual(['flag-created a']);
      expect(await flags.events.list({ ...created, after: next })).toMatchObject({ total: 4 });
      expect(await logged(flags, { ...created, since: next })).toEqual(['flag-created d', 'flag-created c']);
      expect(await flags.events.list({ ...created, limit: 0 })).toEqual({ items: [], total: 4 });
    });

    it('are read to the end, page by page, while others are appended', async () => {
      const flags = await start();
      for (let index = 0; index < 5; index++) await flags.createFlag(DEFAULT, { name: `flag-${index}` });
      const names: (string | null)[] = [];
      const read = (page: PageQuery) => flags.events.list({ type: 'flag-created', ...page, limit: 2 });
      for await (const { flag } of paginate(read)) {
        names.push(flag);
        await flags.createFlag(DEFAULT, { name: `later-${flag}` });
      }
      expect(names).toEqual(['flag-4', 'flag-3', 'flag-2', 'flag-1', 'flag-0']);
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
        await expectRefusal(flags, 'invalid_input', () => flags.events.list(query as EventQuery));
      },
    );

    it('are attributed to the configured actor, the actor of `as`, or the call’s own actor', async () => {
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
      expect((await anonymous.events.list({ flag: 'a' })).items[0]?.actor).toBe('system');
    });
  });
});

const SEGMENT = { segment: 1 };

async function livedIn() {
  const storage = memoryStorage();
  const flags = await openFlags({ storage });
  for (const name of ['checkout', 'payments', 'search']) await flags.createFlag(DEFAULT, { name });
  await flags.segments.create({ name: 'beta', constraints: [] });
  await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
  await flags.segments.update(SEGMENT, { description: 'Early', constraints: [] });
  await flags.addDependency(CHECKOUT, { flag: 'payments' });
  await flags.addDependency(CHECKOUT, { flag: 'search' });
  await flags.addDependency(CHECKOUT, { flag: 'payments', variants: ['blue'] });
  await flags.removeDependency(CHECKOUT, { flag: 'search' });
  await flags.cloneFlag(CHECKOUT, { name: 'copy' });
  return storage;
}

type Documents = Pick<Aggregate<unknown, never>, 'kind' | 'evolve'>;

describe.each<Documents>([flagDocuments as Documents, segmentDocuments as Documents])(
  'the events of a $kind',
  (documents) => {
    it('result in the document when they are replayed', async () => {
      const storage = await livedIn();
      const listed = await storage.list({ kind: documents.kind, part: 'body' });
      expect(listed.length).toBeGreaterThan(0);
      for (const { key, content } of listed) {
        const { events } = await storage.events({ order: 'oldest-first', filter: { subject: key }, limit: 100 });
        const replayed = events.reduce<unknown>((state, event) => documents.evolve(state, event as never), undefined);
        expect(replayed).toEqual(content);
      }
    });
  },
);

describe('references as text', () => {
  const OTHERS: readonly unknown[] = [7, null, {}, [], true, undefined];

  type Attempt = (flags: Flags<string>, name: never) => Promise<unknown>;

  const BY_NAME: readonly (readonly [string, Attempt])[] = [
    ['getProject', (flags, project) => flags.getProject({ project })],
    ['updateProject', (flags, project) => flags.updateProject({ project }, { name: 'x' })],
    ['deleteProject', (flags, project) => flags.deleteProject({ project })],
    ['getFlag', (flags, flag) => flags.getFlag({ ...DEFAULT, flag })],
    ['updateFlag', (flags, flag) => flags.updateFlag({ ...DEFAULT, flag }, {})],
    ['cloneFlag', (flags, flag) => flags.cloneFlag({ ...DEFAULT, flag }, { name: 'copy' })],
    ['reviveFlag', (flags, flag) => flags.reviveFlag({ flag })],
    ['deleteFlag', (flags, flag) => flags.deleteFlag({ flag })],
    ['deleteToken', (flags, token) => flags.tokens.delete({ token })],
    ['getApplication', (flags, application) => flags.applications.get({ application })],
    ['deleteApplication', (flags, application) => flags.applications.delete({ application })],
    ['deleteConsumer', (flags, consumer) => flags.consumers.delete({ consumer })],
  ];

  const HOSTILE: readonly unknown[] = [Symbol('name'), Object.create(null), [Object.create(null)], 1n];

  const BESIDE: readonly (readonly [string, Attempt])[] = [
    ['enable', (flags, project) => flags.enable({ project, flag: 'checkout', environment: 'production' })],
    ['disable', (flags, environment) => flags.disable({ ...CHECKOUT, environment })],
    ['removeStrategy', (flags, strategy) => flags.removeStrategy({ ...PRODUCTION, strategy })],
    ['getSegment', (flags, segment) => flags.segments.get({ segment })],
    ['updateSegment', (flags, segment) => flags.segments.update({ segment }, {})],
    ['deleteSegment', (flags, segment) => flags.segments.delete({ segment })],
    ['updateStrategy', (flags, strategy) => flags.updateStrategy({ ...PRODUCTION, strategy }, { name: 'default' })],
  ];

  onEveryStorage((start) => {
    it.each([...BY_NAME, ...BESIDE])(
      'are refused by %s if they cannot be converted to a string',
      async (_, attempt) => {
        const flags = await start();
        await flags.createFlag(DEFAULT, { name: CHECKOUT.flag });
        for (const name of HOSTILE) {
          await expect(attempt(flags, name as never)).rejects.toMatchObject({ name: 'FlagsError' });
        }
      },
    );

    it.each(BY_NAME)('are refused by %s if they are not strings', async (_, attempt) => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: CHECKOUT.flag });
      for (const name of OTHERS) {
        await expect(attempt(flags, name as never)).rejects.toMatchObject({ name: 'FlagsError' });
      }
    });
  });
});
