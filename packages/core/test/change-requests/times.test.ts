import { createHash, randomUUID } from 'node:crypto';
import type { Change, Flags, FlagsOptions, ListedChangeRequest } from '../../src/index.js';
import { everythingIn } from '../everything.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { addCheckout, isOn } from './protected.js';

const ENABLE: readonly Change[] = [world.ENABLE];
const DISABLE: readonly Change[] = [world.DISABLE];

/** The effect of a request that does nothing in a protected environment: the SHA-256 of an empty list. */
const NOTHING = createHash('sha256').update('[]').digest('base64url');

function statesOf(items: readonly Pick<ListedChangeRequest, 'state'>[]): readonly string[] {
  return items.map(({ state }) => state);
}

onEveryStorage((start, share) => {
  let clock: SettableClock;
  beforeEach(() => {
    clock = settableClock();
  });

  /** A node that does what is due when the test says so. */
  async function node(options: Omit<FlagsOptions, 'storage'> = {}): Promise<Flags<string>> {
    const flags = await start({ now: clock.now, due: { run: 'elsewhere' }, ...options });
    await addCheckout(flags);
    return flags;
  }

  describe('a change request with a time', () => {
    it('is applied when it is due, as one change set of its author that tells its origin', async () => {
      const flags = await node();
      const made = await flags.as('ada').changeRequests.create(ENABLE, { at: clock.text(HOUR), reason: 'Launch' });
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'approved',
        at: clock.text(HOUR),
        notAfter: clock.text(2 * HOUR),
        expiresAt: null,
        ifUnchanged: false,
        changes: [{ op: 'enable', ref: PRODUCTION }],
        author: { name: 'ada' },
        appliedBy: { name: 'ada' },
        createdAt: clock.text(),
        reason: 'Launch',
        ...{ required: 0, approvals: [], approval: null, effect: NOTHING },
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
      const { changeSet } = await flags.changeRequests.get({ changeRequest: made.id });
      const set = await flags.history.get({ changeSet: `${changeSet}` });
      expect(set.events).toEqual([
        expect.objectContaining({ type: 'environment-enabled', actor: 'ada', reason: 'Launch', flag: 'checkout' }),
        expect.objectContaining({ type: 'change-request-ended', project: 'default', flag: null }),
      ]);
      expect(new Set(set.events.map(({ origin }) => origin))).toEqual(new Set([`change-request/${made.id}`]));
      expect(await flags.runDue()).toEqual({ items: [] });
    });

    it('tells its states as events, without its changes', async () => {
      const flags = await node();
      const { id, at } = await flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) });
      await flags.changeRequests.withdraw({ changeRequest: id }, { reason: 'Not yet' });
      const { items } = await flags.events.list({ limit: 2 });
      const before = { id, state: 'approved', at };
      expect(items).toMatchObject([
        {
          ...{ type: 'change-request-ended', before, reason: 'Not yet', origin: null },
          data: { id, state: 'withdrawn', endedAt: clock.text() },
        },
        { type: 'change-request-created', data: before, before: null, project: 'default' },
      ]);
      expect(JSON.stringify(items)).not.toContain('"op"');
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
      await author.changeRequests.create([add], { at: clock.text(HOUR), id });
      clock.advance(HOUR);
      await flags.runDue();
      const { environments } = await flags.getFlag(CHECKOUT);
      const added = environments.find(({ name }) => name === 'development')?.strategies.map((strategy) => strategy.id);
      expect(added).toEqual(planned);
    });

    it('without an effect by then is applied, and becomes no change set', async () => {
      const flags = await node();
      const { id } = await flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) });
      await flags.enable(PRODUCTION);
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.changeRequests.get({ changeRequest: id })).toMatchObject({
        state: 'applied',
        changeSet: null,
        lateBy: 0,
      });
    });

    it('is left out of exports and undos', async () => {
      const flags = await node();
      const before = await flags.definitions.export();
      const { id } = await flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) });
      expect(await flags.definitions.export()).toEqual(before);
      const [created] = (await flags.events.list({ limit: 1 })).items;
      const refused = await refusalOf(flags.history.undo({ changeSet: created?.changeSet ?? '' }));
      expect(refused.code).toBe('undo_conflict');
      expect(refused.message).toContain('only change requests');
      clock.advance(HOUR);
      await flags.runDue();
      const { changeSet } = await flags.changeRequests.get({ changeRequest: id });
      await flags.history.undo({ changeSet: `${changeSet}` });
      expect(await isOn(flags)).toBe(false);
      expect(await flags.changeRequests.get({ changeRequest: id })).toMatchObject({ state: 'applied' });
    });
  });

  describe('a request that is refused when due', () => {
    it('fails, with an event, and changes nothing, if its flag was archived or deleted', async () => {
      const flags = await node();
      const toMake: readonly Change[] = [{ op: 'createFlag', ref: DEFAULT, input: { name: 'first' } }, ...ENABLE];
      const archived = await flags.changeRequests.create(toMake, { at: clock.text(HOUR) });
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
      const deleted = await flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) });
      await flags.archiveFlag(CHECKOUT);
      await flags.deleteFlag(CHECKOUT);
      const before = await everythingIn(flags);
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.changeRequests.get({ changeRequest: deleted.id })).toMatchObject({
        state: 'failed',
        failure: { code: 'flag_not_found' },
      });
      const [event] = (await flags.events.list({ limit: 1 })).items;
      expect(event).toMatchObject({
        type: 'change-request-ended',
        actor: 'system',
        origin: `change-request/${deleted.id}`,
        data: { state: 'failed' },
      });
      const rest = { events: null, changeRequests: null };
      expect({ ...((await everythingIn(flags)) as object), ...rest }).toEqual({ ...(before as object), ...rest });
    });

    it('fails with `ifUnchanged` if a document has other content, but not if another one began to refer to it', async () => {
      const flags = await node();
      await flags.createFlag(DEFAULT, { name: 'child' });
      const at = clock.text(HOUR);
      const touched = await flags.changeRequests.create(ENABLE, { at, ifUnchanged: true });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.changeRequests.get({ changeRequest: touched.id })).toMatchObject({ state: 'applied' });
      const [changed, free] = [
        await flags.changeRequests.create(DISABLE, { at: clock.text(HOUR), ifUnchanged: true }),
        await flags.changeRequests.create(DISABLE, { at: clock.text(HOUR + 1) }),
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
        const { token } = await flags.tokens.create({ name, kind: 'admin', expiresAt });
        const made = await flags.as(token).changeRequests.create(ENABLE, { at: clock.text(HOUR) });
        expect(made.author).toEqual({ name, token: { id: token.id, kind: 'admin' } });
        return { token, changeRequest: made.id };
      };
      const [gone, expired, valid] = [
        await make('gone', null),
        await make('expired', clock.text(HOUR)),
        await make('valid', null),
      ];
      await flags.tokens.delete({ token: gone.token.id });
      clock.advance(HOUR);
      await flags.runDue();
      const failed = { state: 'failed', failure: { code: 'author_revoked' } };
      expect(await flags.changeRequests.get(gone)).toMatchObject(failed);
      expect(await flags.changeRequests.get(expired)).toMatchObject(failed);
      expect(await flags.changeRequests.get(valid)).toMatchObject({ state: 'applied' });
      const [applied] = (await flags.events.list({ type: 'environment-enabled' })).items;
      expect(applied).toMatchObject({ actor: 'valid', actorTokenId: valid.token.id, actorTokenKind: 'admin' });
    });

    it('asks `due.authorize`: false fails it, an error keeps it open until `notAfter`', async () => {
      const errors: unknown[] = [];
      const asked: unknown[] = [];
      let answer: () => boolean = () => true;
      const flags = await node({
        onError: (error) => errors.push(error),
        due: {
          run: 'elsewhere',
          authorize: (author, { documents, projects }) => {
            asked.push([author, documents.map(({ kind, id }) => `${kind}/${id}`), projects]);
            return answer();
          },
        },
      });
      const make = (changes = ENABLE) => flags.as('ada').changeRequests.create(changes, { at: clock.text() });
      await make();
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
      expect(asked).toEqual([[{ name: 'ada' }, ['flag/checkout'], ['default']]]);
      answer = () => false;
      await make(DISABLE);
      expect((await flags.runDue()).items).toMatchObject([{ state: 'failed', failure: { code: 'forbidden' } }]);
      answer = () => {
        throw new Error('the directory is down');
      };
      const kept = await make(DISABLE);
      for (let round = 0; round < 3; round++) expect(await flags.runDue()).toEqual({ items: [] });
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('the directory is down') })]);
      expect(await flags.changeRequests.get({ changeRequest: kept.id })).toMatchObject({ state: 'approved' });
      clock.advance(HOUR + 1);
      expect((await flags.runDue()).items).toMatchObject([{ id: kept.id, state: 'expired' }]);
      expect(await isOn(flags)).toBe(true);
    });
  });

  describe('time', () => {
    it('orders due requests by `at`, then by id, and expires those past `notAfter` after an outage', async () => {
      const flags = await node();
      const at = (hours: number, notAfter?: number) => ({
        at: clock.text(hours * HOUR),
        ...(notAfter !== undefined && { notAfter: clock.text(notAfter * HOUR) }),
      });
      const late = await flags.changeRequests.create(DISABLE, at(3));
      const missed = await flags.changeRequests.create(ENABLE, at(1));
      const lasting = await flags.changeRequests.create(ENABLE, at(2, 24));
      clock.advance(3 * HOUR);
      const { items } = await flags.runDue();
      expect(items).toEqual([
        expect.objectContaining({ id: missed.id, state: 'expired', lateBy: null }),
        expect.objectContaining({ id: lasting.id, state: 'applied', lateBy: HOUR }),
        expect.objectContaining({ id: late.id, state: 'applied', lateBy: 0 }),
      ]);
      expect(await isOn(flags)).toBe(false);
      const [event] = (await flags.events.list({ type: 'change-request-ended' })).items.slice(-1);
      expect(event).toMatchObject({ data: { id: missed.id, state: 'expired' }, actor: 'system' });
      const { message } = await refusalOf(flags.changeRequests.withdraw({ changeRequest: missed.id }));
      expect(message).toContain('is expired, so it cannot be changed; make a new one.');
    });

    it('reads a time with an offset, and takes a past one at once', async () => {
      const flags = await node();
      const { at } = await flags.changeRequests.create(ENABLE, { at: '2026-03-02T09:00+02:00' });
      expect(at).toBe('2026-03-02T07:00:00.000Z');
      await flags.changeRequests.create(ENABLE, { at: clock.text(-MINUTE) });
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied', lateBy: MINUTE }]);
    });

    it.each([
      ['a local time', { at: '2026-03-02T09:00:00' }, '/at'],
      ['a date', { at: '2026-03-02' }, '/at'],
      ['an end without a time', { notAfter: '2026-03-02T09:00:00Z' }, '/notAfter'],
      ['an expiry beside a time', { at: '2026-03-02T09:00:00Z', expiresAt: '2026-03-03T09:00:00Z' }, '/expiresAt'],
      ['more than a year', { at: '2027-03-02T12:00:00Z' }, '/at'],
      ['an end before the time', { at: '2026-03-02T09:00:00Z', notAfter: '2026-03-02T08:59:59Z' }, '/notAfter'],
      ['an end a day later', { at: '2026-03-02T09:00:00Z', notAfter: '2026-03-03T09:00:01Z' }, '/notAfter'],
      ['an end that has passed', { at: '2026-03-01T10:00:00Z' }, '/notAfter'],
      ['another id', { at: '2026-03-02T09:00:00Z', id: 'mine' }, '/id'],
      ['a long reason', { at: '2026-03-02T09:00:00Z', reason: 'x'.repeat(1001) }, '/reason'],
      ['another switch', { at: '2026-03-02T09:00:00Z', ifUnchanged: 1 }, '/ifUnchanged'],
    ])('refuses %s', async (_, options, path) => {
      const flags = await node();
      const attempt = () => flags.changeRequests.create(ENABLE, options as { at: string });
      const error = await expectRefusal(flags, 'invalid_input', attempt);
      expect(error.details[0]?.path).toBe(path);
    });
  });

  describe('making and withdrawing', () => {
    it('refuses now what would be refused now', async () => {
      const flags = await node();
      const options = { at: clock.text(HOUR) };
      const unknown: Change = { op: 'enable', ref: { ...PRODUCTION, flag: 'unknown' } };
      const error = await expectRefusal(flags, 'flag_not_found', () =>
        flags.changeRequests.create([...ENABLE, unknown], options),
      );
      expect(error.details[0]?.path).toBe('/changes/1');
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create([], options));
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      const change = { op: 'createFlag', ref: DEFAULT, input: cyclic } as unknown as Change;
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create([change], options));
      const refuse = flags.as('eve', {
        authorize: () => {
          throw new Error('not you');
        },
      });
      await expect(refuse.changeRequests.create(ENABLE, options)).rejects.toThrow('not you');
      expect((await flags.changeRequests.list()).items).toEqual([]);
    });

    it('is refused unless somebody does what is due', async () => {
      const flags = await node({ due: { run: false } });
      const attempt = () => flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) });
      const { message } = await expectRefusal(flags, 'due_disabled', attempt);
      expect(message).toContain('due: { run: true }');
    });

    it('returns the same request for a repeated id, as it is by then', async () => {
      const flags = await node();
      const [id, at] = [randomUUID(), clock.text(HOUR)];
      const ada = flags.as({ name: 'ada', id: 'u-1' });
      const made = await ada.changeRequests.create(ENABLE, { id, at });
      const renamed = flags.as({ name: 'ada l.', id: 'u-1' });
      expect(await renamed.changeRequests.create(ENABLE, { id, at })).toEqual(made);
      const events = (await flags.events.list()).total;
      expect(await ada.changeRequests.create(ENABLE, { id: id.toUpperCase(), at, reason: 'again' })).toEqual(made);
      for (const attempt of [
        () => flags.as('bob').changeRequests.create(ENABLE, { id, at }),
        () => ada.changeRequests.create(DISABLE, { id, at }),
        () => ada.changeRequests.create(ENABLE, { id, at: clock.text(2 * HOUR) }),
        () => ada.changeRequests.create(ENABLE, { id, at, ifUnchanged: true }),
      ]) {
        const { code, message } = await refusalOf(attempt());
        expect([code, message]).toEqual([
          'id_taken',
          expect.stringContaining('belongs to a change request of another author'),
        ]);
      }
      expect((await flags.events.list()).total).toBe(events);
      clock.advance(HOUR);
      await flags.runDue();
      await flags.archiveFlag(CHECKOUT);
      clock.advance(DAY);
      expect(await ada.changeRequests.create(ENABLE, { id, at })).toMatchObject({ id, state: 'applied' });
    });

    it('of several projects names them in its events', async () => {
      const flags = await node();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const change = { op: 'updateFlag', ref: { project: 'shop', flag: 'basket' }, input: { stale: true } } as const;
      const { id } = await flags.changeRequests.create([...ENABLE, change], { at: clock.text(HOUR) });
      await flags.changeRequests.withdraw({ changeRequest: id });
      const { items } = await flags.events.list({ limit: 2 });
      expect(items.map(({ data }) => data)).toMatchObject([
        { state: 'withdrawn', projects: ['default', 'shop'] },
        { state: 'approved', projects: ['default', 'shop'] },
      ]);
    });

    it('makes one request of an id that two nodes use at once', async () => {
      const onShared = await share();
      const options = { now: clock.now, due: { run: 'elsewhere' } } as const;
      const nodes = [await onShared(options), await onShared(options)] as const;
      await addCheckout(nodes[0]);
      await nodes[1].refresh();
      const given = { id: randomUUID(), at: clock.text(HOUR) };
      const [one, other] = await Promise.all(nodes.map((flags) => flags.changeRequests.create(ENABLE, given)));
      expect(one).toEqual(other);
      expect((await nodes[0].events.list({ type: 'change-request-created' })).total).toBe(1);
    });

    it('is withdrawn once; one that has ended otherwise is not', async () => {
      const flags = await node();
      const changeRequest = (await flags.changeRequests.create(ENABLE, { at: clock.text(HOUR) })).id;
      expect((await refusalOf(flags.changeRequests.withdraw({ changeRequest }, { ifRevision: 2 }))).code).toBe(
        'revision_mismatch',
      );
      expect(await flags.changeRequests.withdraw({ changeRequest }, { ifRevision: 1 })).toMatchObject({
        state: 'withdrawn',
        revision: 2,
      });
      expect((await refusalOf(flags.changeRequests.withdraw({ changeRequest }))).code).toBe('change_request_not_open');
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
      const other = (await flags.changeRequests.create(ENABLE, { at: clock.text() })).id;
      await flags.runDue();
      const late = await refusalOf(flags.changeRequests.withdraw({ changeRequest: other }));
      expect(late.code).toBe('change_request_not_open');
      expect(late.message).toContain('is applied, so it cannot be changed; undo its change set instead.');
      for (const attempt of [
        flags.changeRequests.get({ changeRequest: 'x' }),
        flags.changeRequests.withdraw({ changeRequest: 'x' }),
      ]) {
        expect((await refusalOf(attempt)).code).toBe('change_request_not_found');
      }
    });

    it('lists by state, flag and project, the present one of a flag too, in pages', async () => {
      const flags = await node();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'cart' });
      const move: Change = { op: 'updateFlag', ref: { project: 'shop', flag: 'cart' }, input: { description: 'b' } };
      const ids: string[] = [];
      for (const changes of [ENABLE, [move], [...ENABLE, move]]) {
        ids.push((await flags.changeRequests.create(changes, { at: clock.text(HOUR) })).id);
        clock.advance(1);
      }
      const [checkout, cart, both] = ids;
      const listed = async (query: Parameters<Flags['changeRequests']['list']>[0]) =>
        (await flags.changeRequests.list(query)).items.map(({ id }) => id);
      expect(await listed({})).toEqual(ids);
      expect(await listed({ flag: 'cart' })).toEqual([cart, both]);
      expect(await listed({ project: 'default' })).toEqual([checkout, both]);
      await flags.moveFlag({ project: 'shop', flag: 'cart' }, DEFAULT);
      expect(await listed({ project: 'default' })).toEqual(ids);
      await flags.changeRequests.withdraw({ changeRequest: `${cart}` });
      expect(await listed({ state: 'approved' })).toEqual([checkout, both]);
      expect(await listed({ state: 'withdrawn' })).toEqual([cart]);
      expect(await listed({ state: 'applied' })).toEqual([]);
      const first = await flags.changeRequests.list({}, { limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual([checkout, cart]);
      expect(first.items[0]).not.toHaveProperty('changes');
      expect((await flags.changeRequests.list({}, { limit: 2, after: `${first.next}` })).items).toMatchObject([
        { id: both },
      ]);
      expect(statesOf(first.items)).toEqual(['approved', 'withdrawn']);
    });
  });

  describe('two nodes', () => {
    it('apply what is due once, whichever comes first, and repeat what nobody has done', async () => {
      const onShared = await share();
      const options = { now: clock.now, due: { run: 'elsewhere' }, pollInterval: 0 } as const;
      const nodes = await Promise.all([onShared(options), onShared(options)]);
      const [one] = nodes as [Flags<string>, ...Flags<string>[]];
      await addCheckout(one);
      for (let round = 0; round < 10; round++) {
        await Promise.all(nodes.map((flags) => flags.refresh()));
        const changes = round % 2 === 0 ? ENABLE : DISABLE;
        const made = await one.changeRequests.create(changes, { at: clock.text(SECOND) });
        clock.advance(SECOND);
        const moved = await Promise.all(nodes.map((flags) => flags.runDue()));
        expect(moved.flatMap(({ items }) => items)).toMatchObject([{ id: made.id, state: 'applied' }]);
      }
      expect((await one.events.list({ type: 'change-request-ended' })).total).toBe(10);
      expect((await one.events.list({ type: 'environment-enabled' })).total).toBe(5);
      expect((await one.events.list({ type: 'environment-disabled' })).total).toBe(5);
    });

    it('either withdraw or apply', async () => {
      const onShared = await share();
      const options = { now: clock.now, due: { run: 'elsewhere' } } as const;
      const [one, other] = [await onShared(options), await onShared(options)];
      await addCheckout(one);
      for (let round = 0; round < 5; round++) {
        await one.disable(PRODUCTION);
        await other.refresh();
        const { id: changeRequest } = await one.changeRequests.create(ENABLE, { at: clock.text() });
        const [withdrawn] = await Promise.allSettled([one.changeRequests.withdraw({ changeRequest }), other.runDue()]);
        const { state } = await one.changeRequests.get({ changeRequest });
        expect(state).toBe(withdrawn.status === 'fulfilled' ? 'withdrawn' : 'applied');
        expect(await isOn(one)).toBe(state === 'applied');
      }
    });
  });
});
