import type { Flags, FlagsOptions } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { ADA, ALAN, DISABLE, ENABLE, GRACE, LAUNCH, POLICY, type Requested, TWO } from './protected.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;

  beforeEach(() => {
    clock = settableClock();
  });

  async function protect(policy = POLICY, options: Omit<FlagsOptions, 'storage'> = {}): Promise<void> {
    flags = await start({ now: clock.now, due: { run: 'elsewhere' }, ...options });
    await world.protect(flags, policy);
  }

  const request = () => world.request(flags);
  const approve = (ref: Requested, by: Parameters<typeof world.approve>[2] = GRACE) => world.approve(flags, ref, by);
  const isOn = () => world.isOn(flags);
  const stateOf = (ref: Requested) => world.stateOf(flags, ref);
  const at = () => clock.text(HOUR);

  /** A request with a time, which needs approval. */
  async function requestAt(time = at()): Promise<Requested> {
    const { id } = await flags.as(ADA).changeRequests.create([ENABLE], { ...LAUNCH, at: time });
    return { changeRequest: id };
  }

  describe('a request with a time, under a policy', () => {
    it('is applied when it is due, as who has set the time, with its approvals', async () => {
      await protect();
      const ref = await requestAt();
      expect(await flags.changeRequests.get(ref)).toMatchObject({ state: 'open', appliedBy: ADA, required: 1 });
      await approve(ref);
      clock.advance(HOUR);
      const { items } = await flags.runDue();
      expect(items).toMatchObject([{ state: 'applied', author: ADA, appliedBy: ADA, approvals: [{ actor: GRACE }] }]);
      expect(await isOn()).toBe(true);
      const [enabled] = (await flags.events.list({ type: 'environment-enabled' })).items;
      expect(enabled).toMatchObject({ actor: 'Ada', origin: `change-request/${ref.changeRequest}` });
    });

    it('waits for its approvals after its time, and is applied as soon as it has them', async () => {
      await protect();
      const ref = await requestAt();
      clock.advance(HOUR + MINUTE);
      expect(await flags.runDue()).toEqual({ items: [] });
      expect(await stateOf(ref)).toBe('open');
      await approve(ref);
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied', lateBy: MINUTE }]);
    });

    it('is applied when the policy asks for less', async () => {
      await protect(TWO);
      const ref = await requestAt();
      await approve(ref);
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
      await flags.approvalPolicy.set(POLICY, { bypassApproval: 'INC-42' });
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
    });

    it('waits if something else would happen than what was approved, and expires', async () => {
      await protect();
      const ref = await requestAt();
      await approve(ref);
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
      expect(await flags.changeRequests.get(ref)).toMatchObject({ state: 'open', approvals: [{ current: false }] });
      clock.advance(HOUR + 1);
      const { items } = await flags.runDue();
      expect(items).toMatchObject([{ state: 'expired', endedAt: clock.text(-1), changeSet: null }]);
      expect(await isOn()).toBe(false);
    });

    it('waits if the policy is set meanwhile', async () => {
      await protect({ environments: {} } as never);
      const ref = await requestAt();
      expect(await stateOf(ref)).toBe('approved');
      await flags.approvalPolicy.set(POLICY);
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
      expect(await stateOf(ref)).toBe('open');
      await approve(ref);
      expect((await flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
    });

    it('may be applied before its time, rejected and withdrawn', async () => {
      await protect();
      const [early, rejected, withdrawn] = [await requestAt(), await requestAt(), await requestAt()];
      await approve(early);
      expect(await flags.as(ALAN).changeRequests.apply(early)).toMatchObject({ appliedBy: ALAN, lateBy: 0 });
      expect((await flags.as(ALAN).changeRequests.reject(rejected)).state).toBe('rejected');
      expect((await flags.as(ALAN).changeRequests.withdraw(withdrawn)).state).toBe('withdrawn');
      clock.advance(HOUR);
      expect(await flags.runDue()).toEqual({ items: [] });
    });

    it('cannot bypass approval', async () => {
      await protect();
      const bypass = { bypassApproval: 'INC-42' } as never;
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create([ENABLE], bypass));
      const ref = await request();
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.apply(ref, {}, bypass));
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.withdraw(ref, bypass));
    });
  });

  describe('setting a time', () => {
    it('works before and after the approval, and replaces an earlier time', async () => {
      await protect();
      const ref = await request();
      const set = await flags.as(ALAN).changeRequests.apply(ref, { at: at() });
      expect(set).toMatchObject({ state: 'open', at: at(), notAfter: clock.text(2 * HOUR), expiresAt: null });
      expect(set.appliedBy).toEqual(ALAN);
      const approved = await approve(ref);
      // The same time of the same person changes nothing.
      expect(await flags.as(ALAN).changeRequests.apply(ref, { at: at() })).toEqual(approved);
      const moved = await flags.as(GRACE).changeRequests.apply(ref, { at: clock.text(20 * DAY) }, { reason: 'Later' });
      expect(moved).toMatchObject({ state: 'approved', at: clock.text(20 * DAY), appliedBy: GRACE });
      const [event] = (await flags.events.list({ type: 'change-request-decided' })).items;
      expect(event).toMatchObject({
        ...{ actor: 'Grace', reason: 'Later' },
        data: { decision: 'scheduled', at: clock.text(20 * DAY), flags: [CHECKOUT] },
        before: { at: at() },
      });
      clock.advance(20 * DAY);
      await flags.runDue();
      const [enabled] = (await flags.events.list({ type: 'environment-enabled' })).items;
      expect(enabled).toMatchObject({ actor: 'Grace' });
    });

    it('is refused where nobody does what is due, after the end, and for wrong times', async () => {
      await protect(POLICY, { due: { run: false } });
      const ref = await request();
      await approve(ref);
      await expectRefusal(flags, 'due_disabled', () => flags.changeRequests.apply(ref, { at: at() }));
      await flags.close();
      await protect();
      const other = await request();
      for (const time of [
        { notAfter: at() },
        { at: clock.text(15 * DAY) },
        { at: '2026-03-02' },
        { at: clock.text(-DAY) },
      ]) {
        await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.apply(other, time));
      }
      await flags.changeRequests.withdraw(other);
      await expectRefusal(flags, 'change_request_not_open', () => flags.changeRequests.apply(other, { at: at() }));
    });

    it('can be repeated by the id of the call', async () => {
      await protect();
      const ref = await request();
      const id = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a07';
      const set = await flags.as(ALAN).changeRequests.apply(ref, { at: at() }, { id });
      await flags.as(GRACE).changeRequests.apply(ref, { at: clock.text(2 * HOUR) });
      const again = await flags.as(ALAN).changeRequests.apply(ref, { at: at() }, { id });
      expect(again).toMatchObject({ id: set.id, at: clock.text(2 * HOUR), appliedBy: GRACE });
      await expectRefusal(flags, 'id_taken', () => flags.as(ALAN).changeRequests.apply(ref, {}, { id }));
    });
  });

  describe('a request that replaces another', () => {
    it('ends it in the same commit, without its approvals', async () => {
      await protect();
      const old = await request();
      await approve(old);
      const made = await flags.as(ADA).changeRequests.create([ENABLE], { replaces: old.changeRequest });
      expect(made).toMatchObject({ state: 'open', approvals: [] });
      expect(await stateOf(old)).toBe('withdrawn');
      const { items } = await flags.events.list({ limit: 2 });
      expect(items.map(({ type }) => type)).toEqual(['change-request-created', 'change-request-ended']);
      expect(new Set(items.map(({ changeSet }) => changeSet)).size).toBe(1);
    });

    it('is refused if the other has ended or never was, and asks for the permission to withdraw it', async () => {
      await protect();
      const old = await request();
      const asked: unknown[] = [];
      const authorize: Parameters<Flags['as']>[1] = {
        authorize: ({ documents }) => {
          asked.push(documents.map(({ id, events }) => [id, events.map(({ op }) => op)]));
          throw new Error('not you');
        },
      };
      const replaces = old.changeRequest;
      await expect(flags.as('eve', authorize).changeRequests.create([ENABLE], { replaces })).rejects.toThrow('not you');
      expect(asked).toEqual([
        [
          [replaces, ['withdrawChangeRequest']],
          [expect.any(String), ['createChangeRequest']],
        ],
      ]);
      await flags.changeRequests.withdraw(old);
      await expectRefusal(flags, 'change_request_not_open', () => flags.changeRequests.create([ENABLE], { replaces }));
      const unknown = { replaces: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7aff' };
      await expectRefusal(flags, 'change_request_not_found', () => flags.changeRequests.create([ENABLE], unknown));
    });
  });

  describe('a requested approval policy', () => {
    it('is approved like a change, and is refused in other sets', async () => {
      await protect();
      const change = { op: 'setApprovalPolicy', input: { environments: {} } } as const;
      await expectRefusal(flags, 'invalid_input', () => flags.apply([change as never]));
      await expectRefusal(flags, 'approval_required', () => flags.approvalPolicy.set({ environments: {} }));
      const { id, state, required } = await flags.as(ADA).changeRequests.create([change], LAUNCH);
      expect([state, required]).toEqual(['open', 1]);
      await approve({ changeRequest: id });
      await flags.changeRequests.apply({ changeRequest: id });
      expect((await flags.approvalPolicy.get()).environments).toEqual({});
    });
  });

  describe('a requested undo', () => {
    /** The set that has switched the flag off in production. */
    async function switchOff(): Promise<string> {
      await flags.enable(PRODUCTION, { bypassApproval: 'Test' });
      const { id } = await flags.apply([DISABLE]);
      return id ?? '';
    }
    const undo = (changeSet: string) => ({ op: 'undoChangeSet', ref: { changeSet } }) as const;

    it('is approved, and merged again when it is applied', async () => {
      await protect();
      const set = await switchOff();
      const { id, state, flags: about } = await flags.as(ADA).changeRequests.create([undo(set)]);
      expect([state, about]).toEqual(['open', [CHECKOUT]]);
      await flags.updateFlag(CHECKOUT, { description: 'Kept' });
      await approve({ changeRequest: id });
      const { changeSet } = await flags.changeRequests.apply({ changeRequest: id });
      expect(await isOn()).toBe(true);
      expect((await flags.getFlag(CHECKOUT)).description).toBe('Kept');
      const { events } = await flags.history.get({ changeSet: changeSet ?? '' });
      expect(events.map(({ type }) => type)).toEqual(['environment-enabled', 'change-request-ended']);
    });

    it('fails at its time if a part was changed again', async () => {
      await protect({ environments: {} } as never);
      const set = await switchOff();
      const { id } = await flags.changeRequests.create([undo(set)], { at: at() });
      await flags.enable(PRODUCTION);
      clock.advance(HOUR);
      expect((await flags.runDue()).items).toMatchObject([{ id, state: 'failed', failure: { code: 'undo_conflict' } }]);
    });

    it('is alone, and of a set that exists', async () => {
      await protect();
      const set = await switchOff();
      for (const changes of [
        [undo(set), undo(set)],
        [undo(set), ENABLE],
      ]) {
        const { details } = await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create(changes));
        expect(details[0]).toEqual({
          message: 'must be the only change, because it is undoChangeSet',
          path: '/changes/0/op',
        });
      }
      await expectRefusal(flags, 'change_set_not_found', () => flags.changeRequests.create([undo('none')]));
      await expectRefusal(flags, 'invalid_input', () => flags.apply([undo(set) as never]));
    });
  });

  describe('permissions', () => {
    it('of who makes a request are those for requests, and with a time those for the changes', async () => {
      await protect();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'child' });
      const child = { project: 'shop', flag: 'child', environment: 'development' };
      await flags.addStrategy(child, { name: 'default' });
      await flags.enable(child);
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      await flags.enable(DEVELOPMENT);
      const asked: unknown[] = [];
      const eve = flags.as('eve', {
        authorize: ({ documents, projects }) => {
          asked.push([documents.map(({ kind, events }) => [kind, events.map(({ op }) => op)]), projects]);
        },
      });
      const disable = [{ op: 'disable', ref: DEVELOPMENT }] as const;
      const made = ['change-request', ['createChangeRequest']];
      const { id } = await eve.changeRequests.create(disable);
      expect(asked.splice(0)).toEqual([[[made], undefined]]);
      await eve.changeRequests.create(disable, { at: at() });
      const changed = ['flag', ['disable']];
      expect(asked.splice(0)).toEqual([
        [[changed], ['default']],
        [[made], undefined],
      ]);
      await flags.addDependency({ ...DEFAULT, flag: 'checkout' }, { flag: 'child' } as never).catch(() => undefined);
      await eve.changeRequests.apply({ changeRequest: id }, { at: at() });
      const applied = ['change-request', ['applyChangeRequest']];
      expect(asked.splice(0)).toEqual([
        [[changed], ['default']],
        [[applied], undefined],
      ]);
      await eve.changeRequests.apply({ changeRequest: id });
      expect(asked.splice(0)).toEqual([[[changed, applied], ['default']]]);
    });
  });
});
