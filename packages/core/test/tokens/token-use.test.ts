import { join } from 'node:path';
import { until } from '../../../../test/until.js';
import { type Flags, FlagsError, memoryStorage, openFlags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { faultyStorage } from '../../src/testing.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { HOUR, MINUTE, settableClock } from '../settable-clock.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

describe('the use of tokens', () => {
  const WEB = { name: 'web', kind: 'client' } as const;

  /** Returns when the tokens were last used, in the order of their creation. */
  async function usesOf(flags: Flags): Promise<readonly (string | null)[]> {
    return (await flags.tokens.list()).items.map(({ lastUsedAt }) => lastUsedAt);
  }

  onEveryStorage((start, share) => {
    describe('the last use of a token', () => {
      it('is null until a caller uses the token, and recorded when the engine closes', async () => {
        const clock = settableClock();
        const startNode = await share();
        const flags = await startNode({ now: clock.now, usage: { interval: 0 } });
        const { secret } = await flags.tokens.create(WEB);
        clock.advance(MINUTE);
        await flags.tokens.create({ ...WEB, name: 'unused' });
        await flags.verifyToken(secret);
        await flags.verifyToken('unknown');
        expect(await usesOf(flags)).toEqual([null, null]);
        await flags.close();
        const later = await startNode({ now: clock.now });
        expect(await usesOf(later)).toEqual([clock.text(), null]);
        const page = await later.tokens.list({ limit: 1 });
        expect(page.items).toMatchObject([{ name: 'web', lastUsedAt: clock.text() }]);
      });

      it('is recorded in time, without an event, a new revision or a changed evaluation', async () => {
        const clock = settableClock();
        const flags = await start({ now: clock.now, usage: { interval: 1 } });
        const { token, secret } = await flags.tokens.create(WEB);
        const before = { events: await flags.events.list(), state: await flags.definitions.export() };
        await flags.verifyToken(secret);
        await until(async () => (await usesOf(flags))[0] === clock.text());
        expect({ events: await flags.events.list(), state: await flags.definitions.export() }).toEqual(before);
        expect(await flags.verifyToken(secret)).toEqual(token);
        await flags.tokens.delete({ token: token.id }, { ifRevision: 1 });
      });

      it('is accurate to the hour, whichever node records it', async () => {
        const clock = settableClock();
        const startNode = await share();
        const node = () => startNode({ now: clock.now, usage: { interval: 0 } });
        const [one, other, watcher] = [await node(), await node(), await node()];
        const { secret } = await one.tokens.create(WEB);
        const first = clock.text();
        await one.verifyToken(secret);
        clock.advance(10 * MINUTE);
        await other.verifyToken(secret);
        await one.close();
        await other.close();
        expect(await usesOf(watcher)).toEqual([first]);
        clock.advance(HOUR);
        await watcher.verifyToken(secret);
        await watcher.close();
        expect(await usesOf(await node())).toEqual([clock.text()]);
      });

      it('is recorded for many tokens by several nodes at once', async () => {
        const clock = settableClock();
        const startNode = await share();
        const node = () => startNode({ now: clock.now, usage: { interval: 0 } });
        const nodes = [await node(), await node(), await node()];
        const created = await Promise.all(
          Array.from({ length: 230 }, (_, index) => nodes[0]?.tokens.create({ ...WEB, name: `token ${index}` })),
        );
        await Promise.all(nodes.flatMap((flags) => created.map((token) => flags.verifyToken(token?.secret ?? ''))));
        await Promise.all(nodes.map((flags) => flags.close()));
        expect(new Set(await usesOf(await node()))).toEqual(new Set([clock.text()]));
      });

      it('is deleted with the token, and does not come back', async () => {
        const startNode = await share();
        const [flags, other] = [
          await startNode({ usage: { interval: 1 } }),
          await startNode({ usage: { interval: 0 } }),
        ];
        await flags.createProject({ id: 'shop', name: 'Shop' });
        const { token, secret } = await flags.tokens.create(WEB);
        const inShop = await flags.tokens.create({ ...WEB, name: 'shop', project: 'shop' });
        await Promise.all([secret, inShop.secret].map((one) => flags.verifyToken(one)));
        await until(async () => (await usesOf(flags)).every((use) => use !== null));
        await Promise.all([secret, inShop.secret].map((one) => other.verifyToken(one)));
        await flags.tokens.delete({ token: token.id });
        await flags.deleteProject({ project: 'shop' });
        await other.close();
        expect((await flags.tokens.list()).items).toEqual([]);
      });
    });
  });

  describe('the recording of token uses', () => {
    const clock = settableClock();

    async function startOnFaulty(interval: number) {
      const errors: unknown[] = [];
      const storage = faultyStorage(memoryStorage());
      const onError = (error: unknown) => void errors.push(error);
      const flags = await openFlags({ storage, usage: { interval }, pollInterval: 0, now: clock.now, onError });
      const { secret } = await flags.tokens.create(WEB);
      const commits = () => storage.calls.filter(({ method }) => method === 'commit').length;
      return { flags, storage, secret, errors, commits };
    }

    it('writes once an hour, however often a token is used', async () => {
      const { flags, secret, commits } = await startOnFaulty(1);
      const before = commits();
      for (let hour = 1; hour <= 2; hour++) {
        for (let use = 0; use < 5; use++) await flags.verifyToken(secret);
        await until(async () => (await usesOf(flags))[0] === clock.text());
        for (let use = 0; use < 5; use++) await flags.verifyToken(secret);
        clock.advance(HOUR);
      }
      await flags.close();
      expect(commits() - before).toBe(2);
    });

    it('leaves nothing of a token that was deleted before or after its use was written', async () => {
      const { flags, storage, secret } = await startOnFaulty(0);
      const other = await openFlags({
        storage: { ...storage, close: async () => undefined },
        usage: { interval: 0 },
      });
      const uses = () => storage.list({ kind: 'token-use', part: 'body' });
      const [token] = (await flags.tokens.list()).items;
      await flags.verifyToken(secret);
      await other.verifyToken(secret);
      await other.close();
      expect(await uses()).toHaveLength(1);
      await flags.tokens.delete({ token: token?.id ?? '' });
      expect(await uses()).toEqual([]);
      const late = await openFlags({ storage: { ...storage, close: async () => undefined }, usage: { interval: 0 } });
      const created = await late.tokens.create(WEB);
      await late.verifyToken(created.secret);
      await flags.tokens.delete({ token: created.token.id });
      await late.close();
      expect(await uses()).toEqual([]);
      await flags.close();
    });

    it('accepts the caller, reports once and tries again while the storage fails', async () => {
      const { flags, storage, secret, errors } = await startOnFaulty(1);
      const error = new FlagsError('storage_busy', 'locked');
      storage.inject({ method: 'commit', error });
      await flags.verifyToken(secret);
      await until(() => errors.length > 0);
      const tries = storage.calls.length;
      expect(await flags.verifyToken(secret)).toMatchObject(WEB);
      await until(() => storage.calls.slice(tries).some(({ method }) => method === 'commit'));
      storage.heal();
      await flags.verifyToken(secret);
      await until(async () => (await usesOf(flags))[0] === clock.text());
      expect(errors).toEqual([error]);
      await flags.close();
    });
  });
});

describe('known tokens', () => {
  const OPS = { name: 'ops', kind: 'admin' } as const;

  onEveryStorage((start) => {
    describe('a token that was verified before', () => {
      it('is accepted after other changes, each time as a copy', async () => {
        const flags = await start();
        const { token, secret } = await flags.tokens.create(OPS);
        const first = await flags.verifyToken(secret);
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        expect([first, await flags.verifyToken(secret)]).toEqual([token, token]);
        Object.assign(first ?? {}, { kind: 'client' });
        expect(await flags.verifyToken(secret)).toEqual(token);
      });

      it('is refused from the moment its deletion is acknowledged', async () => {
        const flags = await start();
        const { token, secret } = await flags.tokens.create(OPS);
        await flags.verifyToken(secret);
        await flags.tokens.delete({ token: token.id });
        expect(await flags.verifyToken(secret)).toBeUndefined();
      });

      it('is refused when it has expired meanwhile', async () => {
        let time = Date.parse('2026-03-01T00:00:00Z');
        const flags = await start({ now: () => new Date(time) });
        const { secret } = await flags.tokens.create({ ...OPS, expiresAt: '2026-03-01T00:00:01Z' });
        expect(await flags.verifyToken(secret)).toMatchObject(OPS);
        time += 1000;
        expect(await flags.verifyToken(secret)).toBeUndefined();
      });
    });
  });

  describe('the token of a request', () => {
    it('is read from the storage once per data version', async () => {
      const storage = faultyStorage(memoryStorage());
      const flags = await openFlags({ storage });
      const { secret } = await flags.tokens.create(OPS);
      const reads = () => storage.calls.filter(({ method }) => method === 'get').length;
      const before = reads();
      for (let time = 0; time < 3; time++) await flags.verifyToken(secret);
      expect(reads() - before).toBe(1);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const changed = reads();
      await flags.verifyToken(secret);
      expect(reads() - changed).toBe(1);
    });

    it('is not kept when it was deleted while it was read', async () => {
      const storage = faultyStorage(memoryStorage());
      const flags = await openFlags({ storage });
      const { token, secret } = await flags.tokens.create(OPS);
      const held = storage.inject({ method: 'get', point: 'after', nth: 1, hang: true });
      const reads = storage.calls.length;
      const verified = flags.verifyToken(secret);
      while (storage.calls.length < reads + 2) await new Promise(setImmediate);
      const other = await openFlags({ storage: { ...storage, close: async () => undefined } });
      const deleted = other.tokens.delete({ token: token.id });
      await deleted;
      held.release();
      await verified;
      expect(await flags.verifyToken(secret)).toBeUndefined();
      await flags.close();
    });

    it('is refused from the moment at which another connection has deleted it', async () => {
      const { path, remove } = temporaryDirectory();
      const file = join(path, 'flags.db');
      const flags = await openFlags({ storage: sqliteStorage(file) });
      const other = await openFlags({ storage: sqliteStorage(file) });
      const { token, secret } = await flags.tokens.create(OPS);
      expect(await flags.verifyToken(secret)).toEqual(token);
      await other.tokens.delete({ token: token.id });
      expect(await flags.verifyToken(secret)).toBeUndefined();
      await Promise.all([flags.close(), other.close()]);
      remove();
    });

    it('is read each time if the storage has no data version', async () => {
      const { dataVersion: _, ...plain } = memoryStorage();
      const flags = await openFlags({ storage: plain });
      const { token, secret } = await flags.tokens.create(OPS);
      expect(await flags.verifyToken(secret)).toEqual(token);
      await flags.tokens.delete({ token: token.id });
      expect(await flags.verifyToken(secret)).toBeUndefined();
    });
  });
});
