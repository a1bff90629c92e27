import { randomUUID } from 'node:crypto';
import type { Change, Flags, FlagsOptions, Schedule } from '../../src/index.js';
import { everythingIn } from '../everything.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from '../settable-clock.js';

const ENABLE: readonly Change[] = [{ op: 'enable', ref: PRODUCTION }];
const DISABLE: readonly Change[] = [{ op: 'disable', ref: PRODUCTION }];

async function addCheckout(flags: Flags<string>): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
}

async function isOn(flags: Flags<string>): Promise<boolean> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.some(({ name, enabled }) => name === 'production' && enabled);
}

function statesOf(items: readonly Pick<Schedule, 'state'>[]): readonly string[] {
  return items.map(({ state }) => state);
}

onEveryStorage((start, share) => {
  let clock: SettableClock;
  beforeEach(() => {
    clock = settableClock();
  });

  /** A node whose schedules are carried out by the calls of the test. */
  async function node(options: Omit<FlagsOptions, 'storage'> = {}): Promise<Flags<string>> {
    const flags = await start({ now: clock.now, runSchedules: 'elsewhere', ...options });
    await addCheckout(flags);
    return flags;
  }

  describe('a schedule', () => {
    it('is applied when it is due, as one change set of its author that tells its origin', async () => {
      const flags = await node();
      const made = await flags.as('ada').createSchedule(ENABLE, { at: clock.text(HOUR), reason: 'Launch' });
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'pending',
        at: clock.text(HOUR),
        notAfter: clock.text(2 * HOUR),
        ifUnchanged: false,
        changes: [{ op: 'enable', ref: PRODUCTION }],
        author: { name: 'ada' },
        createdAt: clock.text(),
        reason: 'Launch',
        proposal: null,
        projects: ['default'],
        flags: [CHECKOUT],
        environments: ['production'],
        endedAt: null,
        lateBy: null,
        changeSet: null,
        failure: null,
        revision: 1,
      });
      expect(await flags.runDue()).toEqual({ items: [] });
      clock.advance(HOUR - 1);
      expect(await flags.runDue()).toEqual({ items: [] });
      expect(await isOn(flags)).toBe(false);
      clock.advance(1 + 3 * SECOND);
      const { items } = await flags.runDue();
      expect(items).toEqual([
        expect.objectContaining({ id: made.id, state: 'applied', lateBy: 3 * SECOND, revision: 2 }),
      ]);
      expect(await isOn(flags)).toBe(true);
      const { changeSet } = await flags.getSchedule({ schedule: made.id });
      const set = await flags.getChangeSet({ changeSet: `${changeSet}` });
      expect(set.events).toEqual([
        expect.objectContaining({ type: 'environment-enabled', actor: 'ada', reason: 'Launch', flag: 'checkout' }),
        expect.objectContaining({ type: 'schedule-ended', project: 'default', flag: null }),
      ]);
      expect(new Set(set.events.map(({ origin }) => origin))).toEqual(new Set([`schedule/${made.id}`]));
      expect(await flags.runDue()).toEqual({ items: [] });
    });

    it('tells its states as events, without its changes', async () => {
      const flags = await node();
      const { id, at } = await flags.createSchedule(ENABLE, { at: clock.text(HOUR) });
      await flags.cancelSchedule({ schedule: id }, { reason: 'Not yet' });
      const { items } = await flags.listEvents({ limit: 2 });
      const before = { id, state: 'pending' };
      expect(items).toEqual([
        expect.objectContaining({
          type: 'schedule-ended',
          data: { id, state: 'cancelled', endedAt: clock.text() },
          before,
          reason: 'Not yet',
          origin: null,
        }),
        expect.objectContaining({
          type: 'schedule-created',
          data: { ...before, at },
          before: null,
          project: 'default',
        }),
      ]);
    });

    it('has the ids of its strategies from the beginning', async () => {
      const flags = await node();
      const add: Change = { op: 'addStrategy', ref: DEVELOPMENT, input: { name: 'default' } };
      const id = randomUUID();
      const planned: string[] = [];
      const author = flags.as('ada', {
        authorize: ({ documents }) => {
          for (const { events } of documents)
            for (const { op, data } of events) if (op === 'addStrategy') planned.push((data as { id: string }).id);
        },
      });
      await author.createSchedule([add], { at: clock.text(HOUR), id });
      clock.advance(HOUR);
      await flags.runDue();
      const { environments } = await flags.getFlag(CHECKOUT);
      const added = environments.find(({ name }) => name === 'development')?.strategies.map((strategy) => strategy.id);
      expect(added).toEqual(planned);
    });

    it('without an effect by then is applied, and becomes no change set', async () => {
      const flags = await node();
      const { id } = await flags.createSchedule(ENABLE, { at: clock.text(HOUR) });
      await flags.enable(PRODUCTION);
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.getSchedule({ schedule: id })).toMatchObject({ state: 'applied', changeSet: null, lateBy: 0 });
    });

    it('is left out of exports and undos', async () => {
      const flags = await node();
      const before = await flags.exportDefinitions();
      const { id } = await flags.createSchedule(ENABLE, { at: clock.text(HOUR) });
      expect(await flags.exportDefinitions()).toEqual(before);
      const [created] = (await flags.listEvents({ limit: 1 })).items;
      const refused = await refusalOf(flags.undoChangeSet({ changeSet: created?.changeSet ?? '' }));
      expect(refused.code).toBe('undo_conflict');
      expect(refused.message).toContain('only schedules');
      clock.advance(HOUR);
      await flags.runDue();
      const { changeSet } = await flags.getSchedule({ schedule: id });
      await flags.undoChangeSet({ changeSet: `${changeSet}` });
      expect(await isOn(flags)).toBe(false);
      expect(await flags.getSchedule({ schedule: id })).toMatchObject({ state: 'applied' });
    });
  });

  describe('a schedule that is refused when due', () => {
    it('fails, with an event, and changes nothing, if its flag was archived or deleted', async () => {
      const flags = await node();
      const toMake: readonly Change[] = [{ op: 'createFlag', ref: DEFAULT, input: { name: 'first' } }, ...ENABLE];
      const archived = await flags.createSchedule(toMake, { at: clock.text(HOUR) });
      await flags.archiveFlag(CHECKOUT);
      clock.advance(HOUR);
      expect((await flags.runDue()).items).toEqual([
        expect.objectContaining({
          id: archived.id,
          state: 'failed',
          changeSet: null,
          failure: {
            code: 'flag_archived',
            message: expect.any(String),
            details: [expect.objectContaining({ path: '/changes/1' })],
          },
        }),
      ]);
      expect((await flags.listFlags(DEFAULT)).items).toEqual([]);
      await flags.reviveFlag(CHECKOUT);
      const deleted = await flags.createSchedule(ENABLE, { at: clock.text(HOUR) });
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag(CHECKOUT);
      const before = await everythingIn(flags);
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.getSchedule({ schedule: deleted.id })).toMatchObject({
        state: 'failed',
        failure: { code: 'flag_not_found' },
      });
      const [event] = (await flags.listEvents({ limit: 1 })).items;
      expect(event).toMatchObject({
        type: 'schedule-ended',
        actor: 'system',
        origin: `schedule/${deleted.id}`,
        data: { state: 'failed' },
      });
      const rest = { events: null, schedules: null };
      expect({ ...((await everythingIn(flags)) as object), ...rest }).toEqual({ ...(before as object), ...rest });
    });

    it('fails with `ifUnchanged` if a document has other content, but not if another one began to refer to it', async () => {
      const flags = await node();
      await flags.createFlag(DEFAULT, { name: 'child' });
      const at = clock.text(HOUR);
      const touched = await flags.createSchedule(ENABLE, { at, ifUnchanged: true });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.getSchedule({ schedule: touched.id })).toMatchObject({ state: 'applied' });
      const [changed, free] = [
        await flags.createSchedule(DISABLE, { at: clock.text(HOUR), ifUnchanged: true }),
        await flags.createSchedule(DISABLE, { at: clock.text(HOUR + 1) }),
      ];
      await flags.updateFlag(CHECKOUT, { description: 'Another one' });
      clock.advance(HOUR + 1);
      expect((await flags.runDue()).items).toMatchObject([
        { id: changed.id, state: 'failed', failure: { code: 'revision_mismatch' } },
        { id: free.id, state: 'applied' },
      ]);
    });

    it('fails with `author_revoked` if its token is gone or expired', async () => {
      const flags = await node();
      const make = async (name: string, expiresAt: string | null) => {
        const { token } = await flags.createToken({ name, kind: 'admin', expiresAt });
        const made = await flags.as(token).createSchedule(ENABLE, { at: clock.text(HOUR) });
        expect(made.author).toEqual({ name, token: { id: token.id, kind: 'admin' } });
        return { token, schedule: made.id };
      };
      const [gone, expired, valid] = [
        await make('gone', null),
        await make('expired', clock.text(HOUR)),
        await make('valid', null),
      ];
      await flags.deleteToken({ token: gone.token.id });
      clock.advance(HOUR);
      await flags.runDue();
      const failed = { state: 'failed', failure: { code: 'author_revoked' } };
      expect(await flags.getSchedule(gone)).toMatchObject(failed);
      expect(await flags.getSchedule(expired)).toMatchObject(failed);
      expect(await flags.getSchedule(valid)).toMatchObject({ state: 'applied' });
      const [applied] = (await flags.listEvents({ type: 'environment-enabled' })).items;
      expect(applied).toMatchObject({ actor: 'valid', actorTokenId: valid.token.id, actorTokenKind: 'admin' });
    });

    it('asks `authorizeDue`: false fails it, an error keeps it pending until `notAfter`', async () => {
      const errors: unknown[] = [];
      const asked: unknown[] = [];
      let answer: () => boolean = () => true;
      const flags = await node({
        onError: (error) => errors.push(error),
        authorizeDue: (author, { documents }) => {
          asked.push([author, documents.map(({ kind, id }) => `${kind}/${id}`)]);
          return answer();
        },
      });
      const make = (changes = ENABLE) => flags.as('ada').createSchedule(changes, { at: clock.text() });
      await make();
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
      expect(asked).toEqual([[{ name: 'ada' }, ['flag/checkout']]]);
      answer = () => false;
      await make(DISABLE);
      expect((await flags.runDue()).items).toMatchObject([{ state: 'failed', failure: { code: 'forbidden' } }]);
      answer = () => {
        throw new Error('the directory is down');
      };
      const kept = await make(DISABLE);
      for (let round = 0; round < 3; round++) expect(await flags.runDue()).toEqual({ items: [] });
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('the directory is down') })]);
      expect(await flags.getSchedule({ schedule: kept.id })).toMatchObject({ state: 'pending' });
      clock.advance(HOUR + 1);
      expect((await flags.runDue()).items).toMatchObject([{ id: kept.id, state: 'expired' }]);
      expect(await isOn(flags)).toBe(true);
    });
  });

  describe('time', () => {
    it('orders due schedules by `at`, then by id, and expires those past `notAfter` after an outage', async () => {
      const flags = await node();
      const at = (hours: number, notAfter?: number) => ({
        at: clock.text(hours * HOUR),
        ...(notAfter !== undefined && { notAfter: clock.text(notAfter * HOUR) }),
      });
      const late = await flags.createSchedule(DISABLE, at(3));
      const missed = await flags.createSchedule(ENABLE, at(1));
      const lasting = await flags.createSchedule(ENABLE, at(2, 24));
      clock.advance(3 * HOUR);
      const { items } = await flags.runDue();
      expect(items).toEqual([
        expect.objectContaining({ id: missed.id, state: 'expired', lateBy: null }),
        expect.objectContaining({ id: lasting.id, state: 'applied', lateBy: HOUR }),
        expect.objectContaining({ id: late.id, state: 'applied', lateBy: 0 }),
      ]);
      expect(await isOn(flags)).toBe(false);
      const [event] = (await flags.listEvents({ type: 'schedule-ended' })).items.slice(-1);
      expect(event).toMatchObject({ data: { id: missed.id, state: 'expired' }, actor: 'system' });
      const { message } = await refusalOf(flags.cancelSchedule({ schedule: missed.id }));
      expect(message).toContain('is expired, so it cannot be changed; make a new one.');
    });

    it('reads a time with an offset, and takes a past one at once', async () => {
      const flags = await node();
      const { at } = await flags.createSchedule(ENABLE, { at: '2026-03-02T09:00+02:00' });
      expect(at).toBe('2026-03-02T07:00:00.000Z');
      await flags.createSchedule(ENABLE, { at: clock.text(-MINUTE) });
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied', lateBy: MINUTE }]);
    });

    it.each([
      ['a local time', { at: '2026-03-02T09:00:00' }, '/at'],
      ['a date', { at: '2026-03-02' }, '/at'],
      ['no time', {}, '/at'],
      ['more than a year', { at: '2027-03-02T12:00:00Z' }, '/at'],
      ['an end before the time', { at: '2026-03-02T09:00:00Z', notAfter: '2026-03-02T08:59:59Z' }, '/notAfter'],
      ['an end a day later', { at: '2026-03-02T09:00:00Z', notAfter: '2026-03-03T09:00:01Z' }, '/notAfter'],
      ['an end that has passed', { at: '2026-03-01T10:00:00Z' }, '/notAfter'],
      ['another id', { at: '2026-03-02T09:00:00Z', id: 'mine' }, '/id'],
      ['a long reason', { at: '2026-03-02T09:00:00Z', reason: 'x'.repeat(1001) }, '/reason'],
      ['another switch', { at: '2026-03-02T09:00:00Z', ifUnchanged: 1 }, '/ifUnchanged'],
    ])('refuses %s', async (_, options, path) => {
      const flags = await node();
      const attempt = () => flags.createSchedule(ENABLE, options as { at: string });
      const error = await expectRefusal(flags, 'invalid_input', attempt);
      expect(error.details[0]?.path).toBe(path);
    });
  });

  describe('making and cancelling', () => {
    it('refuses now what would be refused now', async () => {
      const flags = await node();
      const options = { at: clock.text(HOUR) };
      const unknown: Change = { op: 'enable', ref: { ...PRODUCTION, flag: 'unknown' } };
      const error = await expectRefusal(flags, 'flag_not_found', () =>
        flags.createSchedule([...ENABLE, unknown], options),
      );
      expect(error.details[0]?.path).toBe('/changes/1');
      await expectRefusal(flags, 'invalid_input', () => flags.createSchedule([], options));
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      const change = { op: 'createFlag', ref: DEFAULT, input: cyclic } as unknown as Change;
      await expectRefusal(flags, 'invalid_input', () => flags.createSchedule([change], options));
      const refuse = flags.as('eve', {
        authorize: () => {
          throw new Error('not you');
        },
      });
      await expect(refuse.createSchedule(ENABLE, options)).rejects.toThrow('not you');
      expect((await flags.listSchedules()).items).toEqual([]);
    });

    it('is refused unless somebody carries schedules out', async () => {
      const flags = await node({ runSchedules: false });
      const attempt = () => flags.createSchedule(ENABLE, { at: clock.text(HOUR) });
      const { message } = await expectRefusal(flags, 'schedules_disabled', attempt);
      expect(message).toContain('runSchedules: true');
    });

    it('returns the same schedule for a repeated id, as it is by then', async () => {
      const flags = await node();
      const [id, at] = [randomUUID(), clock.text(HOUR)];
      const ada = flags.as({ name: 'ada', id: 'u-1' });
      const made = await ada.createSchedule(ENABLE, { id, at });
      const renamed = flags.as({ name: 'ada l.', id: 'u-1' });
      expect(await renamed.createSchedule(ENABLE, { id, at })).toEqual(made);
      const events = (await flags.listEvents()).total;
      expect(await ada.createSchedule(ENABLE, { id: id.toUpperCase(), at, reason: 'again' })).toEqual(made);
      for (const attempt of [
        () => flags.as('bob').createSchedule(ENABLE, { id, at }),
        () => ada.createSchedule(DISABLE, { id, at }),
        () => ada.createSchedule(ENABLE, { id, at: clock.text(2 * HOUR) }),
        () => ada.createSchedule(ENABLE, { id, at, ifUnchanged: true }),
      ]) {
        const { code, message } = await refusalOf(attempt());
        expect([code, message]).toEqual([
          'id_taken',
          expect.stringContaining('belongs to a schedule of another author'),
        ]);
      }
      expect((await flags.listEvents()).total).toBe(events);
      clock.advance(HOUR);
      await flags.runDue();
      await flags.archiveFlag(CHECKOUT);
      clock.advance(DAY);
      expect(await ada.createSchedule(ENABLE, { id, at })).toMatchObject({ id, state: 'applied' });
    });

    it('of several projects names them in its events', async () => {
      const flags = await node();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const change = { op: 'updateFlag', ref: { project: 'shop', flag: 'basket' }, input: { stale: true } } as const;
      const { id } = await flags.createSchedule([...ENABLE, change], { at: clock.text(HOUR) });
      await flags.cancelSchedule({ schedule: id });
      const { items } = await flags.listEvents({ limit: 2 });
      expect(items.map(({ data }) => data)).toMatchObject([
        { state: 'cancelled', projects: ['default', 'shop'] },
        { state: 'pending', projects: ['default', 'shop'] },
      ]);
    });

    it('makes one schedule of an id that two nodes use at once', async () => {
      const onShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere' } as const;
      const nodes = [await onShared(options), await onShared(options)] as const;
      await addCheckout(nodes[0]);
      await nodes[1].refresh();
      const given = { id: randomUUID(), at: clock.text(HOUR) };
      const [one, other] = await Promise.all(nodes.map((flags) => flags.createSchedule(ENABLE, given)));
      expect(one).toEqual(other);
      expect((await nodes[0].listEvents({ type: 'schedule-created' })).total).toBe(1);
    });

    it('is cancelled once; one that has ended otherwise is not', async () => {
      const flags = await node();
      const schedule = (await flags.createSchedule(ENABLE, { at: clock.text(HOUR) })).id;
      expect((await refusalOf(flags.cancelSchedule({ schedule }, { ifRevision: 2 }))).code).toBe('revision_mismatch');
      expect(await flags.cancelSchedule({ schedule }, { ifRevision: 1 })).toMatchObject({
        state: 'cancelled',
        revision: 2,
      });
      expect(await flags.cancelSchedule({ schedule })).toMatchObject({ state: 'cancelled', revision: 2 });
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
      const other = (await flags.createSchedule(ENABLE, { at: clock.text() })).id;
      await flags.runDue();
      const late = await refusalOf(flags.cancelSchedule({ schedule: other }));
      expect(late.code).toBe('schedule_not_pending');
      expect(late.message).toContain('is applied, so it cannot be changed; undo its change set instead.');
      for (const attempt of [flags.getSchedule({ schedule: 'x' }), flags.cancelSchedule({ schedule: 'x' })]) {
        expect((await refusalOf(attempt)).code).toBe('schedule_not_found');
      }
    });

    it('lists by state, flag and project, the present one of a flag too, in pages', async () => {
      const flags = await node();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'cart' });
      const move: Change = { op: 'updateFlag', ref: { project: 'shop', flag: 'cart' }, input: { description: 'b' } };
      const ids: string[] = [];
      for (const changes of [ENABLE, [move], [...ENABLE, move]]) {
        ids.push((await flags.createSchedule(changes, { at: clock.text(HOUR) })).id);
        clock.advance(1);
      }
      const [checkout, cart, both] = ids;
      const listed = async (query: Parameters<Flags['listSchedules']>[0]) =>
        (await flags.listSchedules(query)).items.map(({ id }) => id);
      expect(await listed({})).toEqual(ids);
      expect(await listed({ flag: 'cart' })).toEqual([cart, both]);
      expect(await listed({ project: 'default' })).toEqual([checkout, both]);
      await flags.moveFlag({ project: 'shop', flag: 'cart' }, DEFAULT);
      expect(await listed({ project: 'default' })).toEqual(ids);
      await flags.cancelSchedule({ schedule: `${cart}` });
      expect(await listed({ state: 'pending' })).toEqual([checkout, both]);
      expect(await listed({ state: 'cancelled' })).toEqual([cart]);
      expect(await listed({ state: 'applied' })).toEqual([]);
      const first = await flags.listSchedules({}, { limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual([checkout, cart]);
      expect(first.items[0]).not.toHaveProperty('changes');
      expect((await flags.listSchedules({}, { limit: 2, after: `${first.next}` })).items).toMatchObject([{ id: both }]);
      expect(statesOf(first.items)).toEqual(['pending', 'cancelled']);
    });
  });

  describe('two nodes', () => {
    it('apply what is due once, whichever comes first, and repeat what nobody has done', async () => {
      const onShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere', pollInterval: 0 } as const;
      const nodes = await Promise.all([onShared(options), onShared(options)]);
      const [one] = nodes as [Flags<string>, ...Flags<string>[]];
      await addCheckout(one);
      for (let round = 0; round < 10; round++) {
        await Promise.all(nodes.map((flags) => flags.refresh()));
        const changes = round % 2 === 0 ? ENABLE : DISABLE;
        const made = await one.createSchedule(changes, { at: clock.text(SECOND) });
        clock.advance(SECOND);
        const moved = await Promise.all(nodes.map((flags) => flags.runDue()));
        expect(moved.flatMap(({ items }) => items)).toMatchObject([{ id: made.id, state: 'applied' }]);
      }
      expect((await one.listEvents({ type: 'schedule-ended' })).total).toBe(10);
      expect((await one.listEvents({ type: 'environment-enabled' })).total).toBe(5);
      expect((await one.listEvents({ type: 'environment-disabled' })).total).toBe(5);
    });

    it('either cancel or apply', async () => {
      const onShared = await share();
      const options = { now: clock.now, runSchedules: 'elsewhere' } as const;
      const [one, other] = [await onShared(options), await onShared(options)];
      await addCheckout(one);
      for (let round = 0; round < 5; round++) {
        await one.disable(PRODUCTION);
        await other.refresh();
        const { id: schedule } = await one.createSchedule(ENABLE, { at: clock.text() });
        const [cancelled] = await Promise.allSettled([one.cancelSchedule({ schedule }), other.runDue()]);
        const { state } = await one.getSchedule({ schedule });
        expect(state).toBe(cancelled.status === 'fulfilled' ? 'cancelled' : 'applied');
        expect(await isOn(one)).toBe(state === 'applied');
      }
    });
  });
});
