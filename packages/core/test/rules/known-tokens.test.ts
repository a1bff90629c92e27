import { join } from 'node:path';
import { createFlags, memoryStorage } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { faultyStorage } from '../../src/testing.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';

const OPS = { name: 'ops', kind: 'admin' } as const;

onEveryStorage((start) => {
  describe('a token that was verified before', () => {
    it('is accepted still after other changes, each time as a copy', async () => {
      const flags = await start();
      const { token, secret } = await flags.createToken(OPS);
      const first = await flags.verifyToken(secret);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect([first, await flags.verifyToken(secret)]).toEqual([token, token]);
      Object.assign(first ?? {}, { kind: 'client' });
      expect(await flags.verifyToken(secret)).toEqual(token);
    });

    it('is refused from the moment its deletion is acknowledged', async () => {
      const flags = await start();
      const { token, secret } = await flags.createToken(OPS);
      await flags.verifyToken(secret);
      await flags.deleteToken({ token: token.id });
      expect(await flags.verifyToken(secret)).toBeUndefined();
    });

    it('is refused when it has expired meanwhile', async () => {
      let time = Date.parse('2026-03-01T00:00:00Z');
      const flags = await start({ now: () => new Date(time) });
      const { secret } = await flags.createToken({ ...OPS, expiresAt: '2026-03-01T00:00:01Z' });
      expect(await flags.verifyToken(secret)).toMatchObject(OPS);
      time += 1000;
      expect(await flags.verifyToken(secret)).toBeUndefined();
    });
  });
});

describe('the token of a request', () => {
  it('is read from the storage once, until anything has changed', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await createFlags({ storage });
    const { secret } = await flags.createToken(OPS);
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
    const flags = await createFlags({ storage });
    const { token, secret } = await flags.createToken(OPS);
    const held = storage.inject({ method: 'get', point: 'after', nth: 1, hang: true });
    const reads = storage.calls.length;
    const verified = flags.verifyToken(secret);
    while (storage.calls.length < reads + 2) await new Promise(setImmediate);
    const other = await createFlags({ storage: { ...storage, close: async () => undefined } });
    const deleted = other.deleteToken({ token: token.id });
    await deleted;
    held.release();
    await verified;
    expect(await flags.verifyToken(secret)).toBeUndefined();
    await flags.close();
  });

  it('is refused from the moment at which another connection has deleted it', async () => {
    const { path, remove } = temporaryDirectory();
    const file = join(path, 'flags.db');
    const flags = await createFlags({ storage: sqliteStorage(file) });
    const other = await createFlags({ storage: sqliteStorage(file) });
    const { token, secret } = await flags.createToken(OPS);
    expect(await flags.verifyToken(secret)).toEqual(token);
    await other.deleteToken({ token: token.id });
    expect(await flags.verifyToken(secret)).toBeUndefined();
    await Promise.all([flags.close(), other.close()]);
    remove();
  });

  it('is read each time where the storage tells no stamp', async () => {
    const { dataVersion: _, ...plain } = memoryStorage();
    const flags = await createFlags({ storage: plain });
    const { token, secret } = await flags.createToken(OPS);
    expect(await flags.verifyToken(secret)).toEqual(token);
    await flags.deleteToken({ token: token.id });
    expect(await flags.verifyToken(secret)).toBeUndefined();
  });
});
