import type { NewToken } from '../../src/index.js';
import { eventsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { expectRefusal } from './refusal.js';
import { HOUR, SECOND, settableClock } from './settable-clock.js';

const ADMIN: NewToken = { name: 'ops', kind: 'admin' };
const CLIENT: NewToken = { name: 'web', kind: 'client', environment: 'production' };

onEveryStorage((start) => {
  describe('a token', () => {
    it('has a secret of its form with at least 160 random bits, which admits', async () => {
      const flags = await start();
      const { token, secret } = await flags.createToken(ADMIN);
      expect(secret).toMatch(/^\*:\*\.[0-9a-f]{40,}$/);
      expect(token).toMatchObject({ name: 'ops', kind: 'admin', project: '*', environment: '*', expiresAt: null });
      expect(await flags.verifyToken(secret)).toEqual(token);
      expect((await flags.createToken(ADMIN)).secret).not.toBe(secret);
    });

    it('is for a project and an environment', async () => {
      const flags = await start();
      const { token, secret } = await flags.createToken({ ...CLIENT, project: 'default' });
      expect(secret).toMatch(/^default:production\./);
      expect(token).toMatchObject({ kind: 'client', project: 'default', environment: 'production' });
    });

    it('never shows its secret again', async () => {
      const flags = await start();
      const { secret } = await flags.createToken(ADMIN);
      const shown = JSON.stringify([await flags.listTokens(), await flags.listEvents()]);
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(secret.split('.')[1]);
    });

    it('may have a given secret, once', async () => {
      const flags = await start();
      await flags.createToken({ ...ADMIN, secret: 'from-configuration' });
      expect(await flags.verifyToken('from-configuration')).toMatchObject({ name: 'ops' });
      await expectRefusal(flags, 'token_exists', () => flags.createToken({ ...CLIENT, secret: 'from-configuration' }));
      const again = Array.from({ length: 10 }, () => flags.createToken({ ...ADMIN, secret: 'another' }));
      const outcomes = await Promise.allSettled(again);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('is not accepted from its expiry on, but still listed', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { secret } = await flags.createToken({ ...ADMIN, expiresAt: clock.text(HOUR) });
      clock.advance(HOUR - SECOND);
      expect(await flags.verifyToken(secret)).toMatchObject({ name: 'ops' });
      clock.advance(SECOND);
      expect(await flags.verifyToken(secret)).toBeUndefined();
      expect(await flags.listTokens()).toHaveLength(1);
    });

    it('is refused at once when deleted, by id or by secret', async () => {
      const flags = await start();
      const [first, second] = [await flags.createToken(ADMIN), await flags.createToken(CLIENT)];
      await flags.deleteToken({ token: first.token.id });
      expect(await flags.verifyToken(first.secret)).toBeUndefined();
      await flags.deleteToken({ token: second.secret });
      expect(await flags.verifyToken(second.secret)).toBeUndefined();
      expect(await flags.listTokens()).toEqual([]);
      await expectRefusal(flags, 'token_not_found', () => flags.deleteToken({ token: first.token.id }));
    });

    it('is not guessed by names that objects inherit, nor by its id', async () => {
      const flags = await start();
      const { token } = await flags.createToken(ADMIN);
      for (const secret of ['', '__proto__', 'constructor', token.id, '*:*.', 'x'.repeat(10_000)]) {
        expect(await flags.verifyToken(secret)).toBeUndefined();
      }
      await expectRefusal(flags, 'token_not_found', () => flags.deleteToken({ token: 'constructor' }));
    });

    it.each([
      {},
      { name: '', kind: 'admin' },
      { name: 'x'.repeat(101), kind: 'admin' },
      { name: 'a', kind: 'root' },
      { name: 'a', kind: 'client' },
      { name: 'a', kind: 'frontend' },
      { name: 'a', kind: 'admin', environment: 'production' },
      { name: 'a', kind: 'admin', expiresAt: 'tomorrow' },
      { name: 'a', kind: 'admin', secret: '' },
      { name: 'a', kind: 'admin', secret: 'with space' },
      { name: 'a', kind: 'admin', secret: 'x'.repeat(256) },
      null,
    ])('is not made from %j', async (input) => {
      const flags = await start();
      await expectRefusal(flags, 'invalid_input', () => flags.createToken(input as unknown as NewToken));
    });

    it('is not made for an unknown project or environment', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () => flags.createToken({ ...CLIENT, project: 'none' }));
      await expectRefusal(flags, 'environment_not_found', () => flags.createToken({ ...CLIENT, environment: 'none' }));
    });

    it('is one fact when made and one when deleted', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        const { token } = await flags.createToken(ADMIN);
        await flags.deleteToken({ token: token.id });
      });
      expect(events).toMatchObject([
        { type: 'token-created', flag: null },
        { type: 'token-deleted', flag: null },
      ]);
    });
  });
});
