import { extent } from '../../../../test/extent.js';
import { hasShortTurns, processorTime } from '../../../../test/processor-time.js';
import { type Change, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import type { DocumentWrite, FlagsStorage, StoredEvent } from '../../src/storage/port.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { createSwitchedOn, onlyFor } from '../replica/switched-on.js';
import { type OpenStorage, SQLITE, STORAGES } from '../storage-kinds.js';

const SHOP = { project: 'shop' };

describe.each(STORAGES)('history on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags<string>;

  beforeEach(async () => {
    opened = await open();
    flags = await openFlags({ ...SILENT, storage: opened.storage });
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  /** The differences of the newest change set. */
  async function newest(ref: Parameters<Flags<string>['history']['list']>[0] = CHECKOUT) {
    const [entry] = (await flags.history.list(ref, { limit: 1 })).items;
    return entry?.differences.flatMap(({ parts }) => parts);
  }

  it('shows every change with actor, time, events and differences, newest first', async () => {
    await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await flags.as('grace').disable(PRODUCTION);
    const { items, next } = await flags.history.list(CHECKOUT);
    expect(next).toBeUndefined();
    expect(items.map(({ events }) => events.map(({ type }) => type))).toEqual([
      ['environment-disabled'],
      ['environment-enabled'],
      ['strategy-added'],
      ['flag-created'],
    ]);
    expect(items[0]).toMatchObject({ actor: 'grace', reason: null, revisions: { 'flag/checkout': 4 } });
    expect(items[0]?.differences).toEqual([
      {
        kind: 'flag',
        id: 'checkout',
        parts: [{ path: '/environments/production/enabled', before: true, after: false }],
      },
    ]);
    expect(items[3]?.differences[0]?.parts).toEqual([
      { path: '', before: null, after: expect.objectContaining({ name: 'checkout' }) },
    ]);
  });

  it('matches strategies by id, variants by name and constraints by field and operator', async () => {
    const [strategy] = await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    const ref = { ...PRODUCTION, strategy: strategy?.id ?? '' };
    const path = `/environments/production/strategies/${strategy?.id}`;
    const constraint = { contextName: 'userId', operator: 'IN' as const, values: ['1'] };
    await flags.updateStrategy(ref, { name: 'userWithId', parameters: { userIds: 'bob' }, constraints: [constraint] });
    expect(await newest()).toEqual([
      { path: `${path}/constraints/userId IN`, before: null, after: expect.objectContaining(constraint) },
      { path: `${path}/parameters/userIds`, before: 'ada', after: 'bob' },
    ]);
    await flags.setVariants(CHECKOUT, [{ name: 'a~b' }, { name: 'c' }]);
    await flags.setVariants(CHECKOUT, [{ name: 'c', stickiness: 'userId' }, { name: 'a~b' }]);
    expect(await newest()).toEqual([
      { path: '/variants/c/stickiness', before: 'default', after: 'userId' },
      { path: '/variants', before: ['a~b', 'c'], after: ['c', 'a~b'] },
    ]);
    await flags.setVariants(CHECKOUT, [{ name: 'c', stickiness: 'userId' }]);
    expect(await newest()).toEqual([
      { path: '/variants/c/weight', before: 500, after: 1000 },
      { path: '/variants/a~0b', before: expect.objectContaining({ name: 'a~b' }), after: null },
    ]);
    await flags.removeStrategy(ref);
    expect((await newest())?.map((part) => part.path)).toEqual([path, '/environments/production/enabled']);
  });

  it('shows metadata, archiving, dependencies, projects, members, segments and tokens', async () => {
    await createSwitchedOn(flags, { flag: 'checkout' });
    await createSwitchedOn(flags, { flag: 'parent' });
    await flags.updateFlag(CHECKOUT, { description: 'new', stale: true });
    expect(await newest()).toEqual([
      { path: '/description', before: '', after: 'new' },
      { path: '/stale', before: false, after: true },
    ]);
    await flags.addDependency(CHECKOUT, { flag: 'parent' });
    expect(await newest()).toMatchObject([{ path: '/dependencies/parent', before: null, after: { enabled: true } }]);
    await flags.archiveFlag(CHECKOUT);
    expect((await newest())?.[0]).toEqual({ path: '/archived', before: false, after: true });
    await flags.reviveFlag(CHECKOUT);
    expect(await newest()).toEqual([
      { path: '/archived', before: true, after: false },
      { path: '/environments/production/enabled', before: true, after: false },
    ]);
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.updateProject(SHOP, { description: 'sells' });
    expect(await newest(SHOP)).toEqual([{ path: '/description', before: '', after: 'sells' }]);
    await flags.addMember(SHOP, { userId: 7, roleId: 4 });
    expect(await newest(SHOP)).toEqual([{ path: '/members/7', before: null, after: { userId: 7, roleId: 4 } }]);
    const { id } = await flags.segments.create({ name: 's', constraints: [] });
    await flags.segments.update({ segment: id }, { name: 't', project: 'shop' });
    expect(await newest({})).toEqual([
      { path: '/name', before: 's', after: 't' },
      { path: '/project', before: null, after: 'shop' },
    ]);
    await flags.tokens.create({ name: 'x', kind: 'admin' });
    expect(JSON.stringify(await newest({}))).not.toContain('hash');
    await flags.deleteProject(SHOP);
    expect((await flags.history.list(SHOP)).items[0]?.differences.map(({ kind }) => kind)).toEqual([
      'project',
      'segment',
    ]);
  });

  it('pages by count and by bytes, and returns every set once', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    for (let round = 0; round < 30; round++) {
      const payload = { type: 'string', value: `${round} `.padEnd(round < 6 ? 250_000 : 1, 'x') } as const;
      await flags.setVariants(CHECKOUT, [
        { name: 'one', payload },
        { name: 'other', payload },
      ]);
    }
    const seen: (string | null)[] = [];
    const sizes: number[] = [];
    let after: string | undefined;
    do {
      const page = await flags.history.list(CHECKOUT, { limit: 10, after });
      seen.push(...page.items.map(({ id }) => id));
      sizes.push(page.items.length);
      after = page.next;
    } while (after !== undefined);
    expect(new Set(seen).size).toBe(31);
    expect(seen).toHaveLength(31);
    expect(sizes.slice(0, 2)).toEqual([10, 10]);
    expect(sizes.length).toBeGreaterThan(6);
  });

  it('returns a change set by its id, also one of a release without change sets', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.as('grace').updateFlag(CHECKOUT, { description: 'a', stale: true });
    const [entry, created] = (await flags.history.list(CHECKOUT)).items;
    expect(entry?.events).toHaveLength(2);
    expect(await flags.history.get({ changeSet: `${entry?.id}` })).toEqual(entry);
    expect(await flags.history.get({ changeSet: `${created?.id}` })).toEqual(created);
    const missing = { code: 'change_set_not_found' };
    for (const id of ['x', `${entry?.id}x`, '']) {
      await expect(flags.history.get({ changeSet: id })).rejects.toMatchObject(missing);
    }
    await expect(flags.history.get({ changeSet: 7 as never })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('keeps the history of deleted documents, and has none for unknown ones', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.archiveFlag(CHECKOUT);
    await flags.deleteFlag(CHECKOUT);
    expect((await flags.history.list(CHECKOUT)).items).toHaveLength(3);
    await expect(flags.history.list({ ...DEFAULT, flag: 'never' })).rejects.toMatchObject({ code: 'flag_not_found' });
    await expect(flags.history.list({ project: 'never' })).rejects.toMatchObject({ code: 'project_not_found' });
    for (const ref of [null, 7, { flag: 'checkout' }, { project: 7 }, { project: 'default', flag: 7 }]) {
      await expect(flags.history.list(ref as never)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(flags.history.list({}, { after: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(flags.history.list({}, { limit: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

const INVALID = { name: 'FlagsError', code: 'invalid_input' };

describe.each(STORAGES)('asOf on $name', ({ open }) => {
  let time = Date.UTC(2026, 0, 1);
  let opened: OpenStorage;
  let flags: Flags<string>;

  beforeEach(async () => {
    opened = await open();
    flags = await openFlags({ ...SILENT, storage: opened.storage, now: () => new Date(time) });
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  /** Waits for some milliseconds, and returns the time in between. */
  function tick(): Date {
    time += 2_000;
    return new Date(time - 1_000);
  }

  it('returns the past state, evaluation and explanation', async () => {
    await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
    const then = await flags.getFlag(CHECKOUT);
    const explained = flags.explain('checkout', { userId: 'ada' });
    const at = tick();
    await flags.disable(PRODUCTION);
    await flags.updateFlag(CHECKOUT, { description: 'later' });
    const view = flags.history.asOf(at);
    expect(await view.getFlag(CHECKOUT)).toEqual(then);
    expect(await view.isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(await view.isEnabled('checkout', { userId: 'grace' })).toBe(false);
    expect((await view.getVariant('checkout', { userId: 'ada' })).name).toBe('blue');
    expect(await view.explain('checkout', { userId: 'ada' })).toEqual(explained);
    expect(flags.isEnabled('checkout', { userId: 'ada' })).toBe(false);
  });

  it('evaluates with the parents, the segments and the time of that moment', async () => {
    const { id } = await flags.segments.create({
      name: 'early',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
    });
    await createSwitchedOn(flags, { flag: 'parent' });
    await createSwitchedOn(flags, {
      flag: 'checkout',
      strategies: [
        {
          name: 'default',
          segments: [id],
          constraints: [
            { contextName: 'currentTime', operator: 'DATE_BEFORE', value: new Date(time + 10_000).toISOString() },
          ],
        },
      ],
    });
    await flags.addDependency(CHECKOUT, { flag: 'parent' });
    const at = tick();
    const child = await flags.getFlag(CHECKOUT);
    const parent = await flags.getFlag({ ...DEFAULT, flag: 'parent' });
    await flags.segments.update({ segment: id }, { constraints: [] });
    await flags.disable({ ...PRODUCTION, flag: 'parent' });
    await flags.removeDependency(CHECKOUT, { flag: 'parent' });
    await flags.archiveFlag(CHECKOUT);
    await flags.deleteFlag(CHECKOUT);
    time += 100_000;
    const view = flags.history.asOf(at.toISOString());
    expect(await view.isEnabled('checkout', { userId: 'ada' })).toBe(true);
    expect(await view.isEnabled('checkout', { userId: 'grace' })).toBe(false);
    expect(await view.getFlag(CHECKOUT)).toEqual(child);
    expect((await view.getFlag({ ...DEFAULT, flag: 'parent' })).children).toEqual(parent.children);
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'flag_not_found' });
  });

  it('omits flags that were created later, were archived, or belong to another project', async () => {
    await createSwitchedOn(flags, { flag: 'archived' });
    await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
    const view = flags.history.asOf(tick());
    await createSwitchedOn(flags, { flag: 'checkout' });
    await expect(view.getFlag(CHECKOUT)).rejects.toMatchObject({ code: 'flag_not_found' });
    await expect(view.getFlag({ project: 'none', flag: 'archived' })).rejects.toMatchObject({
      code: 'project_not_found',
    });
    expect((await view.getFlag({ ...DEFAULT, flag: 'archived' })).archived).toBe(true);
    expect(await view.isEnabled('checkout', {}, { fallback: true })).toBe(true);
    expect(await view.isEnabled('archived', {}, { fallback: true })).toBe(true);
    expect((await view.explain('checkout')).reason).toBe('unknown_flag');
  });

  it('returns the state after the event at a position', async () => {
    await createSwitchedOn(flags, { flag: 'checkout' });
    const { items: events } = await flags.events.list({ flag: 'checkout' });
    const answers = await Promise.all(
      events.map(async ({ position }) => (await flags.history.asOf({ position }).isEnabled('checkout')) === true),
    );
    expect(answers).toEqual([true, false, false]);
  });

  it('refuses an invalid time, a time before the log, and unknown projects or flags', async () => {
    for (const time of ['yesterday', '', new Date(Number.NaN), 7, null, undefined, {}, { position: 7 }]) {
      expect(() => flags.history.asOf(time as never)).toThrow(expect.objectContaining(INVALID));
    }
    await expect(flags.history.asOf('2000-01-01T00:00:00Z').getFlag(CHECKOUT)).rejects.toMatchObject(INVALID);
    await expect(flags.history.asOf({ position: 'x' }).isEnabled('a')).rejects.toMatchObject(INVALID);
    const view = flags.history.asOf(new Date(time));
    await expect(view.isEnabled('a', {}, { environment: 'nowhere' })).rejects.toMatchObject({
      code: 'environment_not_found',
    });
    await expect(view.isEnabled(7 as never)).rejects.toMatchObject(INVALID);
    await expect(view.getFlag({ project: 'default', flag: 7 } as never)).rejects.toMatchObject(INVALID);
  });
});

describe('asOf of a flag with many events', () => {
  const EVENTS = extent({ short: 450, full: 10_000 });

  it('takes milliseconds at any time', async () => {
    let time = Date.UTC(2026, 0, 1);
    const { storage, dispose } = await SQLITE.open();
    const flags = await openFlags({ ...SILENT, storage, now: () => new Date(time) });
    await createSwitchedOn(flags, { flag: 'checkout' });
    for (let round = 1; round <= EVENTS; round++) {
      time += 1_000;
      await flags.updateFlag(CHECKOUT, { description: `round ${round}` });
    }
    const durations: number[] = [];
    for (let round = 1; round <= EVENTS; round += Math.floor(EVENTS / 50)) {
      const start = processorTime();
      const view = flags.history.asOf(new Date(Date.UTC(2026, 0, 1) + round * 1_000 + 500));
      const { description } = await view.getFlag(CHECKOUT);
      durations.push(processorTime() - start);
      expect(description).toBe(`round ${round}`);
      expect(await view.isEnabled('checkout')).toBe(true);
    }
    durations.sort((one, other) => one - other);
    expect(durations[Math.floor(durations.length / 2)]).toBeLessThan(20);
    await flags.close();
    await dispose();
  });
});

describe('asOf and undo of a flag near 1 MiB', () => {
  it('yield to other work', async () => {
    const flags = await openFlags<string>({ ...SILENT, storage: memoryStorage() });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const parameters = { a: 'x'.repeat(450_000), b: 'y'.repeat(450_000) };
    await flags.addStrategy(PRODUCTION, { name: 'default', parameters });
    await flags.enable(PRODUCTION);
    const ids: string[] = [];
    for (let round = 0; round < 30; round++) {
      const ref = CHECKOUT;
      const { id } = await flags.apply([{ op: 'updateFlag', ref, input: { description: `round ${round}` } }]);
      ids.push(`${id}`);
    }
    const now = new Date(Date.now() + 1_000);
    expect(await hasShortTurns(60, () => flags.history.asOf(now).isEnabled('checkout', { userId: '7' }))).toBe(true);
    expect(await hasShortTurns(60, () => flags.history.undo({ changeSet: ids.pop() ?? '' }))).toBe(true);
    await flags.close();
  });
});

type ToStored = (write: DocumentWrite) => readonly DocumentWrite[];

const isCheckpoint = ({ key }: DocumentWrite) => key.kind === 'checkpoint';
const withoutCheckpoints: ToStored = (write) => (isCheckpoint(write) ? [] : [write]);

describe.each(STORAGES)('checkpoints on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags<string>;
  /** The pages of events with their data that were read. */
  let pages: StoredEvent[][];
  let written: DocumentWrite[];

  async function start(toStored: ToStored = (write) => [write]): Promise<void> {
    opened = await open();
    const { storage } = opened;
    const observed: FlagsStorage = {
      ...storage,
      get: (key) => storage.get(key),
      list: (query) => storage.list(query),
      close: () => storage.close(),
      async commit(commit) {
        const writes = commit.writes.flatMap(toStored);
        written.push(...writes);
        return storage.commit({ ...commit, writes });
      },
      async events(query) {
        const page = await storage.events(query);
        if (!query.withoutData) pages.push(page.events);
        return page;
      },
    };
    pages = [];
    written = [];
    flags = await openFlags({ ...SILENT, storage: observed });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
  }

  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  const giveLargeVariants = () => {
    const payload = { type: 'string', value: 'x'.repeat(150_000) } as const;
    return flags.setVariants(CHECKOUT, [{ name: 'large', payload }]);
  };
  const dropVariants = () => flags.setVariants(CHECKOUT, []);
  const describeTo = (description: string) => flags.updateFlag(CHECKOUT, { description });

  /** Resolves to the flag's description at the end of the log, and the number of events that this has read. */
  async function readNow(): Promise<{ readonly description: unknown; readonly events: number }> {
    const [newest] = (await flags.events.list({ limit: 1 })).items;
    pages = [];
    const { description } = await flags.history.asOf({ position: newest?.position ?? '' }).getFlag(CHECKOUT);
    return { description, events: pages.flat().filter(({ subject }) => subject.id === 'checkout').length };
  }

  it('follow a set that appends many events to one revision', async () => {
    await start();
    const strategies = Array.from({ length: 60 }, () => ({ name: 'default' }));
    const configure: Change<string> = {
      op: 'configureEnvironment',
      ref: PRODUCTION,
      input: { enabled: true, strategies },
    };
    for (let round = 0; round < 4; round++) await flags.apply([configure, configure]);
    await describeTo('now');
    expect(await readNow()).toEqual({ description: 'now', events: 1 });
  });

  it('follow large events, so that few megabytes are read', async () => {
    await start();
    await giveLargeVariants();
    for (let round = 0; round < 12; round++) await describeTo(`${round}`);
    await dropVariants();
    for (let round = 0; round < 11; round++) await describeTo(`${round}`);
    const { description, events } = await readNow();
    expect([description, events <= 12]).toEqual(['10', true]);
  });

  it('are rare between small changes', async () => {
    await start();
    for (let round = 0; round < 220; round++) await describeTo(`${round}`);
    expect(written.filter(isCheckpoint)).toHaveLength(1);
    const { description, events } = await readNow();
    expect([description, events < 30]).toEqual(['219', true]);
  });

  it('may be missing: then all events are read, in pages', async () => {
    await start(withoutCheckpoints);
    for (let round = 0; round < 700; round++) await describeTo(`${round}`.padEnd(1000));
    const { description, events } = await readNow();
    expect([`${description}`.trim(), events < 1000]).toEqual(['699', true]);
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(256);
    expect(Math.max(...pages.map((page) => JSON.stringify(page).length))).toBeLessThan(600_000);
  });

  it('are not listed among the events', async () => {
    await start();
    const positions: string[] = [];
    for (let round = 0; round < 30; round++) {
      await flags.apply([
        { op: 'updateFlag', ref: CHECKOUT, input: { description: `${round}` } },
        ...Array.from({ length: round % 7 === 0 ? 12 : 0 }, (_, at): Change<string> => {
          return { op: 'updateFlag', ref: CHECKOUT, input: { labels: [`${round}-${at}`] } };
        }),
      ]);
      positions.push((await flags.events.list({ limit: 1 })).items[0]?.position ?? '');
    }
    for (const [round, position] of positions.entries()) {
      expect((await flags.history.asOf({ position }).getFlag(CHECKOUT)).description).toBe(`${round}`);
    }
  });
});
