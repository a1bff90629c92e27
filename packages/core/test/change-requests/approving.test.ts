import type { Flags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { ADA, ALAN, approve, ENABLE, GRACE, POLICY } from './protected.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;

  beforeEach(async () => {
    clock = settableClock();
    flags = await start({ now: clock.now });
    await world.protect(flags, POLICY);
  });

  describe('what a person approves', () => {
    it('is what was seen: an edit in between is refused with the present effect', async () => {
      const ref = await world.request(flags);
      const seen = await flags.changeRequests.get(ref);
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      const now = await flags.changeRequests.get(ref);
      expect(now.effect).not.toBe(seen.effect);
      const grace = flags.as(GRACE).changeRequests;
      const { details, message } = await expectRefusal(flags, 'effect_changed', () =>
        grace.approve(ref, { effect: `${seen.effect}` }),
      );
      expect(message).toContain(`its effect is ${now.effect}`);
      expect(details).toEqual([{ message, path: '/effect' }]);
      expect(await grace.approve(ref, { effect: `${now.effect}` })).toMatchObject({ state: 'approved' });
    });

    it('is not the effect of an earlier approval that comes back unseen', async () => {
      const ref = await world.request(flags);
      const { effect } = await approve(flags, ref);
      const added = await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      expect(await flags.changeRequests.get(ref)).toMatchObject({ state: 'open', approvals: [{ current: false }] });
      await flags.removeStrategy({ ...PRODUCTION, strategy: added.id });
      expect(await flags.changeRequests.get(ref)).toMatchObject({
        state: 'approved',
        effect,
        approvals: [{ current: true }],
      });
    });

    it('must be named, and an approval that is not needed still has to name it', async () => {
      const ref = await world.request(flags);
      const grace = flags.as(GRACE).changeRequests;
      for (const wrong of [undefined, null, {}, { effect: 7 }]) {
        const { details } = await expectRefusal(flags, 'invalid_input', () => grace.approve(ref, wrong as never));
        expect(details[0]?.path).toBe(wrong === undefined || wrong === null ? '' : '/effect');
      }
      await flags.approvalPolicy.set({ environments: {} }, { bypassApproval: 'Test' });
      await expectRefusal(flags, 'effect_changed', () => grace.approve(ref, { effect: 'x' }));
      expect(await approve(flags, ref)).toMatchObject({ state: 'approved', approvals: [], revision: 1 });
    });

    it('would be refused with the changes', async () => {
      const ref = await world.request(flags);
      const { effect } = await flags.changeRequests.get(ref);
      await flags.archiveFlag(CHECKOUT, { bypassApproval: 'Test' });
      expect(await flags.changeRequests.get(ref)).toMatchObject({ state: 'open', effect: null, approval: null });
      const grace = flags.as(GRACE).changeRequests;
      await expectRefusal(flags, 'flag_archived', () => grace.approve(ref, { effect: `${effect}` }));
      await expectRefusal(flags, 'flag_archived', () => flags.changeRequests.apply(ref));
    });

    it('lists show as of the last decision', async () => {
      const ref = await world.request(flags);
      await approve(flags, ref);
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      const [listed] = (await flags.changeRequests.list()).items;
      expect(listed).toMatchObject({ state: 'approved', required: 1, approvals: [{ actor: GRACE, current: true }] });
      await approve(flags, ref, ALAN);
      const { items } = await flags.changeRequests.list({ state: 'approved' });
      expect(items[0]?.approvals).toMatchObject([
        { actor: GRACE, current: false },
        { actor: ALAN, current: true },
      ]);
    });
  });

  describe('a person', () => {
    it('is the same with a number and with its text, whatever the name', async () => {
      const { id } = await flags.as({ name: 'Ada', id: 7 }).changeRequests.create([ENABLE]);
      const ref = { changeRequest: id };
      expect((await flags.changeRequests.get(ref)).author).toEqual({ name: 'Ada', id: '7' });
      await expectRefusal(flags, 'own_change_request', () => approve(flags, ref, { name: 'Renamed', id: '7' }));
      expect((await approve(flags, ref, { name: 'Ada', id: '8' })).state).toBe('approved');
    });

    it.each([[null], [Number.NaN], [Number.POSITIVE_INFINITY], [{}], [true], [7n]])(
      'has no id like %p, and is not compared by name instead',
      (id) => {
        expect(() => flags.as({ name: 'Ada', id: id as never })).toThrow('/id must be text or a finite number');
      },
    );

    it('counts for the tokens that she created, those that they created, and the rotated ones', async () => {
      const { token } = await flags.as(ADA).tokens.create({ name: 'own', kind: 'admin' });
      const { token: second } = await flags.as(token).tokens.create({ name: 'second', kind: 'admin' });
      const { token: rotated } = await flags.as(GRACE).tokens.rotate({ token: second.id });
      const tokens = (await flags.tokens.list()).items;
      expect(tokens.map(({ createdBy }) => createdBy)).toEqual([ADA, ADA, ADA]);
      for (const one of [token, second, rotated]) {
        const made = await flags.as(one).changeRequests.create([ENABLE]);
        expect(made.author).toEqual({ name: one.name, token: { id: one.id, kind: 'admin' }, person: ADA });
        const ref = { changeRequest: made.id };
        const renamed = { name: 'Ada Lovelace', id: 'u-1' };
        await expectRefusal(flags, 'own_change_request', () => approve(flags, ref, renamed));
        await expectRefusal(flags, 'own_change_request', () => flags.as(ADA).changeRequests.reject(ref));
        expect((await approve(flags, ref)).state).toBe('approved');
      }
      // A token as it was before a rename of its file of tokens has the person of the store.
      const { secret, token: found } = await flags.as(ADA).tokens.create({ name: 'found', kind: 'admin' });
      expect((await flags.verifyToken(secret))?.createdBy).toEqual(ADA);
      expect(found.createdBy).toEqual(ADA);
    });

    it('keeps the person of a request when the token is gone', async () => {
      const { token } = await flags.as(ADA).tokens.create({ name: 'own', kind: 'admin' });
      const { id } = await flags.as(token).changeRequests.create([ENABLE]);
      await flags.tokens.delete({ token: token.id });
      await expectRefusal(flags, 'own_change_request', () => approve(flags, { changeRequest: id }, ADA));
    });

    it('is unknown for a token of the instance itself, whose requests anybody may approve', async () => {
      const { token } = await flags.tokens.create({ name: 'configured', kind: 'admin' });
      expect(token.createdBy).toBeNull();
      const { id, author } = await flags.as(token).changeRequests.create([ENABLE]);
      expect(author).toEqual({ name: 'configured', token: { id: token.id, kind: 'admin' } });
      expect((await approve(flags, { changeRequest: id }, 'configured')).state).toBe('approved');
    });

    it('is named in events of tokens and requests, without the id', async () => {
      const { token } = await flags.as(ADA).tokens.create({ name: 'own', kind: 'admin' });
      await flags.as(token).changeRequests.create([ENABLE]);
      const { items } = await flags.events.list({ limit: 2 });
      expect(items[1]?.data).toMatchObject({ createdBy: { name: 'Ada' } });
      expect(JSON.stringify(items)).not.toContain(ADA.id);
    });
  });
});
