import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';
import { DAY, HOUR, MINUTE, settableClock } from './settable-clock.js';

onEveryStorage((start) => {
  describe('the rotation of a token', () => {
    it('creates a token of the same name and scope, and ends the old one after the overlap', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const old = await flags.createToken({ name: 'web', kind: 'client', projects: ['default', 'shop'] });
      clock.advance(MINUTE);
      const { token, secret } = await flags.rotateToken(old.token.id, { overlap: HOUR });
      expect(token).toEqual({ ...old.token, id: token.id, createdAt: clock.text() });
      expect(secret).toMatch(/^\[\]:production\.[0-9a-f]{48}$/);
      expect(await flags.verifyToken(old.secret)).toMatchObject({ expiresAt: clock.text(HOUR) });
      clock.advance(HOUR);
      expect(await flags.verifyToken(old.secret)).toBeUndefined();
      expect(await flags.verifyToken(secret)).toEqual(token);
      const { events } = await flags.listEvents({ type: 'token-updated' });
      expect(events).toMatchObject([{ data: { expiresAt: clock.text() }, before: { expiresAt: null } }]);
      expect(JSON.stringify(await flags.listEvents())).not.toContain(secret);
    });

    it('keeps an earlier expiry of the old token, and renews its lifetime', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const old = await flags.createToken({ name: 'web', kind: 'client', expiresAt: clock.text(2 * DAY) });
      clock.advance(DAY + 12 * HOUR);
      const { token } = await flags.rotateToken(old.token.id);
      expect(token.expiresAt).toBe(clock.text(2 * DAY));
      expect(await flags.verifyToken(old.secret)).toMatchObject({ expiresAt: old.token.expiresAt });
    });

    it('takes another expiry of the new token, and no overlap', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const old = await flags.createToken({ name: 'web', kind: 'client' });
      const { token } = await flags.rotateToken(old.token.id, { overlap: 0, expiresAt: clock.text(DAY) });
      expect(token.expiresAt).toBe(clock.text(DAY));
      expect(await flags.verifyToken(old.secret)).toBeUndefined();
    });

    it('rotates the new token next, while the old ones are still listed', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      let { token } = await flags.createToken({ name: 'web', kind: 'client', expiresAt: clock.text(DAY) });
      const first = token;
      for (let rotation = 1; rotation <= 3; rotation++) {
        ({ token } = await flags.rotateToken(token.id, { overlap: rotation * HOUR }));
        await expectRefusal(flags, 'token_exists', () => flags.rotateToken(first.id));
      }
      clock.advance(2 * DAY);
      const { token: last } = await flags.rotateToken(token.id);
      expect((await flags.listTokens()).map(({ name }) => name)).toEqual(['web', 'web', 'web', 'web', 'web']);
      await expectRefusal(flags, 'token_exists', () => flags.createToken({ name: 'web', kind: 'client' }));
      await flags.deleteToken({ token: last.id });
      await flags.rotateToken(token.id);
    });

    it('succeeds once, also when several callers try at once', async () => {
      const flags = await start();
      const { token } = await flags.createToken({ name: 'web', kind: 'client' });
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => flags.rotateToken(token.id)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'token_exists' });
      }
      expect(await flags.listTokens()).toHaveLength(2);
    });

    it('is refused for an unknown token, a secret, and a bad overlap', async () => {
      const flags = await start();
      const { token, secret } = await flags.createToken({ name: 'web', kind: 'client' });
      await expectRefusal(flags, 'token_not_found', () => flags.rotateToken('unknown'));
      await expectRefusal(flags, 'token_not_found', () => flags.rotateToken(secret));
      await expectRefusal(flags, 'invalid_input', () => flags.rotateToken(token.id, { overlap: -1 }));
      await expectRefusal(flags, 'invalid_input', () => flags.rotateToken(token.id, { overlap: 91 * DAY }));
    });
  });

  describe('a change of the expiry of a token', () => {
    it('takes effect at once, whether it ends or renews the token', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { token, secret } = await flags.createToken({ name: 'web', kind: 'client' });
      expect(await flags.updateToken({ token: token.id }, { expiresAt: clock.text(HOUR) })).toEqual({
        ...token,
        expiresAt: clock.text(HOUR),
      });
      expect(await flags.verifyToken(secret)).toMatchObject({ expiresAt: clock.text(HOUR) });
      clock.advance(HOUR);
      expect(await flags.verifyToken(secret)).toBeUndefined();
      await flags.updateToken({ token: secret }, { expiresAt: null });
      expect(await flags.verifyToken(secret)).toEqual(token);
      await flags.updateToken({ token: token.id }, { expiresAt: clock.text(-MINUTE) });
      expect(await flags.verifyToken(secret)).toBeUndefined();
      const { events } = await flags.listEvents({ type: 'token-updated' });
      expect(events).toHaveLength(3);
      expect(JSON.stringify(events)).not.toContain(secret);
    });

    it('stays within the longest lifetime, counted from the creation', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, maxTokenLifetime: DAY });
      const { token } = await flags.createToken({ name: 'web', kind: 'client', expiresAt: clock.text(HOUR) });
      const end = clock.text(DAY);
      clock.advance(12 * HOUR);
      const ref = { token: token.id };
      await expectRefusal(flags, 'invalid_input', () => flags.updateToken(ref, { expiresAt: clock.text(13 * HOUR) }));
      expect(await flags.updateToken(ref, { expiresAt: null })).toMatchObject({ expiresAt: end });
      clock.advance(DAY);
      await expectRefusal(flags, 'invalid_input', () => flags.updateToken(ref, { expiresAt: null }));
    });

    it('is refused for an unknown token and a bad time', async () => {
      const flags = await start();
      const { token } = await flags.createToken({ name: 'web', kind: 'client' });
      await expectRefusal(flags, 'token_not_found', () => flags.updateToken({ token: 'x' }, { expiresAt: null }));
      const bad = { expiresAt: 'soon' };
      await expectRefusal(flags, 'invalid_input', () => flags.updateToken({ token: token.id }, bad));
    });
  });

  describe('the longest lifetime of tokens', () => {
    it('ends new tokens that name no expiry, and refuses a later one', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, maxTokenLifetime: DAY });
      const { token } = await flags.createToken({ name: 'web', kind: 'client' });
      expect(token.expiresAt).toBe(clock.text(DAY));
      const sooner = await flags.createToken({ name: 'short', kind: 'client', expiresAt: clock.text(HOUR) });
      expect(sooner.token.expiresAt).toBe(clock.text(HOUR));
      await expectRefusal(flags, 'invalid_input', () =>
        flags.createToken({ name: 'long', kind: 'client', expiresAt: clock.text(DAY + 1) }),
      );
      clock.advance(HOUR);
      const rotated = await flags.rotateToken(token.id, { overlap: HOUR });
      expect(rotated.token.expiresAt).toBe(clock.text(DAY));
    });

    it('leaves existing tokens alone', async () => {
      const flags = await start();
      expect((await flags.createToken({ name: 'web', kind: 'client' })).token.expiresAt).toBeNull();
      await expect(start({ maxTokenLifetime: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
      expect(await flags.listFlags(DEFAULT)).toEqual([]);
    });
  });
});
