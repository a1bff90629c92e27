import type { NewToken } from '../../src/index.js';
import { eventsOf } from '../facts.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, MINUTE, SECOND, settableClock } from '../settable-clock.js';

const ADMIN: NewToken = { name: 'ops', kind: 'admin' };
const GIVEN = 'a-secret-from-the-configuration-0123';
const CLIENT: NewToken = { name: 'web', kind: 'client', environment: 'production' };

onEveryStorage((start) => {
  describe('a token', () => {
    it('has a valid secret with at least 160 random bits', async () => {
      const flags = await start();
      const { token, secret } = await flags.tokens.create(ADMIN);
      expect(secret).toMatch(/^\*:\*\.[0-9a-f]{40,}$/);
      expect(token).toMatchObject({ name: 'ops', kind: 'admin', project: '*', environment: '*', expiresAt: null });
      expect(await flags.verifyToken(secret)).toEqual(token);
      expect((await flags.tokens.create({ ...ADMIN, name: 'other' })).secret).not.toBe(secret);
    });

    it('is limited to a project and an environment', async () => {
      const flags = await start();
      const { token, secret } = await flags.tokens.create({ ...CLIENT, project: 'default' });
      expect(secret).toMatch(/^default:production\./);
      expect(token).toMatchObject({ kind: 'client', project: 'default', environment: 'production' });
    });

    it('never shows its secret again', async () => {
      const flags = await start();
      const { secret } = await flags.tokens.create(ADMIN);
      const shown = JSON.stringify([(await flags.tokens.list()).items, await flags.events.list()]);
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(secret.split('.')[1]);
      expect(shown).not.toContain('"hash"');
    });

    it('may have a given secret, once', async () => {
      const flags = await start();
      await flags.tokens.create({ ...ADMIN, secret: GIVEN });
      expect(await flags.verifyToken(GIVEN)).toMatchObject({ name: 'ops' });
      await expectRefusal(flags, 'token_exists', () => flags.tokens.create({ ...CLIENT, secret: GIVEN }));
      const again = Array.from({ length: 10 }, () =>
        flags.tokens.create({ ...ADMIN, name: 'again', secret: 'another-secret-from-the-configuration' }),
      );
      const outcomes = await Promise.allSettled(again);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('is found among up to 100 secrets, unless it is of an administrator', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const admin = await flags.tokens.create(ADMIN);
      const client = await flags.tokens.create(CLIENT);
      const frontend = await flags.tokens.create({ ...CLIENT, kind: 'frontend', expiresAt: clock.text(HOUR) });
      const secrets = [frontend.secret, 'unknown', admin.secret, client.secret];
      expect(await flags.verifyTokens(secrets)).toEqual([
        { secret: frontend.secret, token: frontend.token },
        { secret: client.secret, token: client.token },
      ]);
      clock.advance(HOUR);
      expect(await flags.verifyTokens(secrets)).toEqual([{ secret: client.secret, token: client.token }]);
      expect(await flags.verifyTokens([])).toEqual([]);
      const many = Array.from({ length: 101 }, () => client.secret);
      expect(await flags.verifyTokens(many.slice(1))).toHaveLength(100);
      for (const refused of [many, [7], 'secret', undefined]) {
        await expectRefusal(flags, 'invalid_input', () => flags.verifyTokens(refused as string[]));
      }
    });

    it('is not accepted after it has expired, but still listed', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { secret } = await flags.tokens.create({ ...ADMIN, expiresAt: clock.text(HOUR) });
      clock.advance(HOUR - SECOND);
      expect(await flags.verifyToken(secret)).toMatchObject({ name: 'ops' });
      clock.advance(SECOND);
      expect(await flags.verifyToken(secret)).toBeUndefined();
      expect((await flags.tokens.list()).items).toHaveLength(1);
    });

    it('is refused at once when deleted, by id or by secret', async () => {
      const flags = await start();
      const [first, second] = [await flags.tokens.create(ADMIN), await flags.tokens.create(CLIENT)];
      await flags.tokens.delete({ token: first.token.id });
      expect(await flags.verifyToken(first.secret)).toBeUndefined();
      await flags.tokens.delete({ token: second.secret });
      expect(await flags.verifyToken(second.secret)).toBeUndefined();
      expect((await flags.tokens.list()).items).toEqual([]);
      await expectRefusal(flags, 'token_not_found', () => flags.tokens.delete({ token: first.token.id }));
    });

    it('is not found by inherited names of objects, nor by its id', async () => {
      const flags = await start();
      const { token } = await flags.tokens.create(ADMIN);
      for (const secret of ['', '__proto__', 'constructor', token.id, '*:*.', 'x'.repeat(10_000)]) {
        expect(await flags.verifyToken(secret)).toBeUndefined();
      }
      await expectRefusal(flags, 'token_not_found', () => flags.tokens.delete({ token: 'constructor' }));
    });

    it.each([
      {},
      { name: '', kind: 'admin' },
      { name: 'x'.repeat(101), kind: 'admin' },
      { name: 'a', kind: 'root' },
      { name: 'a', kind: 'client', environment: '*' },
      { name: 'a', kind: 'frontend', environment: '*' },
      { name: 'a', kind: 'client', projects: [] },
      { name: 'a', kind: 'client', projects: Array.from({ length: 101 }, (_, n) => `p${n}`) },
      { name: 'a', kind: 'admin', projects: ['default'] },
      { name: 'system', kind: 'client' },
      { name: ' System ', kind: 'admin' },
      { name: 'a', kind: 'admin', secret: 'x'.repeat(31) },
      { name: 'a', kind: 'admin', environment: 'production' },
      { name: 'a', kind: 'admin', expiresAt: 'tomorrow' },
      { name: 'a', kind: 'admin', secret: '' },
      { name: 'a', kind: 'admin', secret: `${'x'.repeat(32)} ${'x'.repeat(32)}` },
      { name: 'a', kind: 'admin', secret: 'x'.repeat(256) },
      null,
    ])('is not created from %j', async (input) => {
      const flags = await start();
      await expectRefusal(flags, 'invalid_input', () => flags.tokens.create(input as unknown as NewToken));
    });

    it('is not created for an unknown project or environment', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () => flags.tokens.create({ ...CLIENT, project: 'none' }));
      await expectRefusal(flags, 'environment_not_found', () =>
        flags.tokens.create({ ...CLIENT, environment: 'none' }),
      );
    });

    it('is created for the default environment of the instance by default', async () => {
      const flags = await start({ environment: 'development' });
      const { token, secret } = await flags.tokens.create({ name: 'web', kind: 'client' });
      expect(token.environment).toBe('development');
      expect(secret).toMatch(/^\*:development\./);
    });

    it('may belong to several existing projects, in lists, in details and when it is verified', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const projects = ['shop', 'default', 'shop'];
      await expectRefusal(flags, 'project_not_found', () =>
        flags.tokens.create({ ...CLIENT, projects: ['shop', 'no'] }),
      );
      const { token, secret } = await flags.tokens.create({ ...CLIENT, projects });
      expect(secret).toMatch(/^\[\]:production\./);
      expect(token).toMatchObject({ project: 'shop', projects: ['shop', 'default'] });
      expect(await flags.verifyToken(secret)).toEqual(token);
      expect((await flags.tokens.list()).items).toEqual([{ ...token, lastUsedAt: null }]);
      const all = await flags.tokens.create({ ...CLIENT, name: 'all', projects: ['shop', '*'] });
      expect(all.token).toMatchObject({ project: '*', projects: ['*'] });
    });

    it('prevents the deletion of each of its projects', async () => {
      const flags = await start();
      for (const id of ['shop', 'app']) await flags.createProject({ id, name: id });
      const { token } = await flags.tokens.create({ ...CLIENT, projects: ['shop', 'app'] });
      await flags.tokens.create({ ...CLIENT, name: 'one', project: 'app' });
      await expectRefusal(flags, 'project_not_empty', () => flags.deleteProject({ project: 'app' }));
      await flags.tokens.delete({ token: token.id });
      await flags.deleteProject({ project: 'app' });
      expect((await flags.tokens.list()).items).toEqual([]);
    });

    it('never keeps a project that is deleted at the same moment', async () => {
      const flags = await start();
      for (let round = 0; round < 5; round++) {
        await flags.createProject({ id: 'shop', name: 'Shop' });
        const [created, deleted] = await Promise.allSettled([
          flags.tokens.create({ ...CLIENT, name: `round ${round}`, projects: ['default', 'shop'] }),
          flags.deleteProject({ project: 'shop' }),
        ]);
        expect([created.status, deleted.status].sort()).toEqual(['fulfilled', 'rejected']);
        if (created.status === 'fulfilled') await flags.tokens.delete({ token: created.value.token.id });
        if (deleted.status === 'rejected') await flags.deleteProject({ project: 'shop' });
      }
    });

    it('has a name that no other token of its kind has, also in simultaneous creations', async () => {
      const flags = await start();
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => flags.tokens.create(CLIENT)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
      expect(new Set(reasons)).toEqual(new Set(['token_exists']));
      await flags.tokens.create({ ...ADMIN, name: CLIENT.name });
      const [{ id } = { id: '' }] = (await flags.tokens.list()).items.filter(({ kind }) => kind === 'client');
      await flags.tokens.delete({ token: id });
      await flags.tokens.create(CLIENT);
    });

    it('stays deleted when its secret is given again', async () => {
      const flags = await start();
      await flags.tokens.create({ ...ADMIN, secret: GIVEN });
      await flags.tokens.delete({ token: GIVEN });
      await expectRefusal(flags, 'token_deleted', () =>
        flags.tokens.create({ ...ADMIN, name: 'again', secret: GIVEN }),
      );
      expect(await flags.verifyToken(GIVEN)).toBeUndefined();
    });

    it('stays visible in the events of its changes, with its name', async () => {
      const flags = await start();
      const { token } = await flags.tokens.create(ADMIN);
      await flags.as(token).createProject({ id: 'shop', name: 'Shop' });
      await flags.as(token).createProject({ id: 'app', name: 'App' }, { actor: 'ada' });
      await flags.as('ops').createProject({ id: 'web', name: 'Web' });
      const { items: events } = await flags.events.list({ type: 'project-created', limit: 3 });
      expect(events.map((event) => [event.actor, event.actorTokenId, event.actorTokenKind])).toEqual([
        ['ops', null, null],
        ['ada', null, null],
        ['ops', token.id, 'admin'],
      ]);
    });

    it('causes one event when created and one when deleted', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        const { token } = await flags.tokens.create(ADMIN);
        await flags.tokens.delete({ token: token.id });
      });
      expect(events).toMatchObject([
        { type: 'token-created', flag: null },
        { type: 'token-deleted', flag: null },
      ]);
    });
  });
});

onEveryStorage((start) => {
  describe('the rotation of a token', () => {
    it('creates a token of the same name and scope, and ends the old one after the overlap', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      const old = await flags.tokens.create({ name: 'web', kind: 'client', projects: ['default', 'shop'] });
      clock.advance(MINUTE);
      const { token, secret } = await flags.tokens.rotate({ token: old.token.id }, { overlap: HOUR });
      expect(token).toEqual({ ...old.token, id: token.id, createdAt: clock.text() });
      expect(secret).toMatch(/^\[\]:production\.[0-9a-f]{48}$/);
      expect(await flags.verifyToken(old.secret)).toMatchObject({ expiresAt: clock.text(HOUR) });
      clock.advance(HOUR);
      expect(await flags.verifyToken(old.secret)).toBeUndefined();
      expect(await flags.verifyToken(secret)).toEqual(token);
      const { items: events } = await flags.events.list({ type: 'token-updated' });
      expect(events).toMatchObject([{ data: { expiresAt: clock.text() }, before: { expiresAt: null } }]);
      expect(JSON.stringify(await flags.events.list())).not.toContain(secret);
    });

    it('keeps an earlier expiry of the old token, and renews its lifetime', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const old = await flags.tokens.create({ name: 'web', kind: 'client', expiresAt: clock.text(2 * DAY) });
      clock.advance(DAY + 12 * HOUR);
      const { token } = await flags.tokens.rotate({ token: old.token.id });
      expect(token.expiresAt).toBe(clock.text(2 * DAY));
      expect(await flags.verifyToken(old.secret)).toMatchObject({ expiresAt: old.token.expiresAt });
    });

    it('ends an old token that would expire after the overlap', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const old = await flags.tokens.create({ name: 'web', kind: 'client', expiresAt: clock.text(2 * DAY) });
      await flags.tokens.rotate({ token: old.token.id }, { overlap: HOUR });
      expect(await flags.verifyToken(old.secret)).toMatchObject({ expiresAt: clock.text(HOUR) });
    });

    it('accepts another expiry of the new token, and no overlap', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const old = await flags.tokens.create({ name: 'web', kind: 'client' });
      const { token } = await flags.tokens.rotate({ token: old.token.id }, { overlap: 0, expiresAt: clock.text(DAY) });
      expect(token.expiresAt).toBe(clock.text(DAY));
      expect(await flags.verifyToken(old.secret)).toBeUndefined();
    });

    it('rotates the new token next, while the old ones are still listed', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      let { token } = await flags.tokens.create({ name: 'web', kind: 'client', expiresAt: clock.text(DAY) });
      const first = token;
      for (let rotation = 1; rotation <= 3; rotation++) {
        ({ token } = await flags.tokens.rotate({ token: token.id }, { overlap: rotation * HOUR }));
        const { message } = await expectRefusal(flags, 'token_exists', () => flags.tokens.rotate({ token: first.id }));
        expect(message).toContain('The token web was rotated before; rotate its successor');
      }
      clock.advance(2 * DAY);
      const { token: last } = await flags.tokens.rotate({ token: token.id });
      expect((await flags.tokens.list()).items.map(({ name }) => name)).toEqual(['web', 'web', 'web', 'web', 'web']);
      await expectRefusal(flags, 'token_exists', () => flags.tokens.create({ name: 'web', kind: 'client' }));
      await flags.tokens.delete({ token: last.id });
      await flags.tokens.rotate({ token: token.id });
    });

    it('keeps the name, also while the successor is deleted', async () => {
      const flags = await start();
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client' });
      const { token: successor } = await flags.tokens.rotate({ token: token.id });
      await flags.tokens.delete({ token: successor.id });
      await expectRefusal(flags, 'token_exists', () => flags.tokens.create({ name: 'web', kind: 'client' }));
      expect((await flags.tokens.rotate({ token: token.id })).token.name).toBe('web');
    });

    it('succeeds once, also when several callers try at once', async () => {
      const flags = await start();
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client' });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, () => flags.tokens.rotate({ token: token.id })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'token_exists' });
      }
      expect((await flags.tokens.list()).items).toHaveLength(2);
    });

    it('is refused for an unknown token, a secret, and a bad overlap', async () => {
      const flags = await start();
      const { token, secret } = await flags.tokens.create({ name: 'web', kind: 'client' });
      await expectRefusal(flags, 'token_not_found', () => flags.tokens.rotate({ token: 'unknown' }));
      await expectRefusal(flags, 'token_not_found', () => flags.tokens.rotate({ token: secret }));
      await expectRefusal(flags, 'invalid_input', () => flags.tokens.rotate({ token: token.id }, { overlap: -1 }));
      await expectRefusal(flags, 'invalid_input', () =>
        flags.tokens.rotate({ token: token.id }, { overlap: 91 * DAY }),
      );
    });
  });

  describe('a change of the expiry of a token', () => {
    it('takes effect at once, whether it ends or renews the token', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const { token, secret } = await flags.tokens.create({ name: 'web', kind: 'client' });
      expect(await flags.tokens.update({ token: token.id }, { expiresAt: clock.text(HOUR) })).toEqual({
        ...token,
        expiresAt: clock.text(HOUR),
      });
      expect(await flags.verifyToken(secret)).toMatchObject({ expiresAt: clock.text(HOUR) });
      clock.advance(HOUR);
      expect(await flags.verifyToken(secret)).toBeUndefined();
      await flags.tokens.update({ token: secret }, { expiresAt: null });
      expect(await flags.verifyToken(secret)).toEqual(token);
      const past = { expiresAt: clock.text(-MINUTE) };
      for (let call = 0; call < 2; call++) await flags.tokens.update({ token: token.id }, past);
      expect(await flags.verifyToken(secret)).toBeUndefined();
      const { items: events } = await flags.events.list({ type: 'token-updated' });
      expect(events.map(({ data, before }) => [data, before])).toEqual([
        [past, { expiresAt: null }],
        [{ expiresAt: null }, { expiresAt: clock.text() }],
        [{ expiresAt: clock.text() }, { expiresAt: null }],
      ]);
      expect(JSON.stringify(events)).not.toContain(secret);
      // The last call changed nothing.
      expect((await flags.events.list({ limit: 4 })).items.map(({ type }) => type)).toEqual([
        ...Array(3).fill('token-updated'),
        'token-created',
      ]);
    });

    it('is limited to the longest lifetime, counted from the creation', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, maxTokenLifetime: DAY });
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client', expiresAt: clock.text(HOUR) });
      const end = clock.text(DAY);
      clock.advance(12 * HOUR);
      const ref = { token: token.id };
      await expectRefusal(flags, 'invalid_input', () => flags.tokens.update(ref, { expiresAt: clock.text(13 * HOUR) }));
      expect(await flags.tokens.update(ref, { expiresAt: null })).toMatchObject({ expiresAt: end });
      clock.advance(DAY);
      await expectRefusal(flags, 'invalid_input', () => flags.tokens.update(ref, { expiresAt: null }));
    });

    it('is refused for an unknown token and a bad time', async () => {
      const flags = await start();
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client' });
      await expectRefusal(flags, 'token_not_found', () => flags.tokens.update({ token: 'x' }, { expiresAt: null }));
      const bad = { expiresAt: 'soon' };
      await expectRefusal(flags, 'invalid_input', () => flags.tokens.update({ token: token.id }, bad));
    });
  });

  describe('the longest lifetime of tokens', () => {
    it('limits new tokens without an expiry, and refuses a later one', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, maxTokenLifetime: DAY });
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client' });
      expect(token.expiresAt).toBe(clock.text(DAY));
      const sooner = await flags.tokens.create({ name: 'short', kind: 'client', expiresAt: clock.text(HOUR) });
      expect(sooner.token.expiresAt).toBe(clock.text(HOUR));
      await expectRefusal(flags, 'invalid_input', () =>
        flags.tokens.create({ name: 'long', kind: 'client', expiresAt: clock.text(DAY + 1) }),
      );
      clock.advance(HOUR);
      const rotated = await flags.tokens.rotate({ token: token.id }, { overlap: HOUR });
      expect(rotated.token.expiresAt).toBe(clock.text(DAY));
    });

    it('leaves existing tokens alone', async () => {
      const flags = await start();
      expect((await flags.tokens.create({ name: 'web', kind: 'client' })).token.expiresAt).toBeNull();
      await expect(start({ maxTokenLifetime: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
      expect((await flags.listFlags(DEFAULT)).items).toEqual([]);
    });
  });
});
