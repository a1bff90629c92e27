import type { Storage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';
import { type Cut, type CuttingProxy, startCuttingProxy } from './cutting-proxy.js';

const database = ownDatabase();

describe('a commit whose connection is cut', () => {
  let proxy: CuttingProxy;
  let storage: Storage;

  beforeAll(async () => {
    proxy = await startCuttingProxy(database.url());
    storage = await postgresStorage({
      connectionString: proxy.url,
      schema: 'cut',
      listen: false,
      outcomeTimeout: 300,
    });
  });
  afterAll(async () => {
    await storage.close();
    await proxy.close();
  });

  async function commitCut(cut: Cut, id: string) {
    proxy.cut = cut;
    proxy.cuts = 0;
    try {
      return await storage.commit(change(id));
    } catch (error) {
      return (error as { code?: unknown }).code;
    } finally {
      expect(proxy.cuts).toBe(1);
      proxy.cut = 'never';
    }
  }

  it('succeeds, once, when the database has committed and the answer is lost', async () => {
    expect(await commitCut('before the client hears', 'answered')).toEqual({ ok: true, revisions: [1] });
    expect((await storage.get(flag('answered')))?.revision).toBe(1);
    expect(await subjectsAfter(storage)).toEqual(['answered']);
  });

  it('fails with storage_unavailable, and nothing changed, when the database never heard of it', async () => {
    expect(await commitCut('before the database hears', 'unheard')).toBe('storage_unavailable');
    expect(await storage.get(flag('unheard'))).toBeUndefined();
    expect(await storage.commit(change('unheard'))).toEqual({ ok: true, revisions: [1] });
  });

  it('fails with outcome_unknown when the database cannot be asked', async () => {
    expect(await commitCut('for good, before the client hears', 'unknown')).toBe('outcome_unknown');
    expect((await storage.get(flag('unknown')))?.revision).toBe(1);
  });
});
