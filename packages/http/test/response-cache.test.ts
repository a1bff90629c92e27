import { memoryStorage, openFlags } from '@flags/core';
import { type FaultyStorage, faultyStorage } from '@flags/core/testing';
import express from 'express';
import request from 'supertest';
import { createFlagsRouter } from '../../express/src/index.js';
import { createReplyCache } from '../src/api/caching.js';
import { createSqliteFile } from './contract/sqlite-file.js';
import { createHostApp, FLAGS } from './host-app.js';

const PROJECT = '/api/admin/projects/default';
const PATHS = ['/api/admin/projects', PROJECT, FLAGS, `${FLAGS}?limit=1`, `${FLAGS}/checkout`];
const DAY = 86_400_000;

/** Lists read the documents, or the events since the last list. */
function readsOf({ calls }: FaultyStorage): number {
  return calls.filter(({ method }) => method === 'list' || method === 'events').length;
}

describe.each(PATHS)('the answer of %s', (path) => {
  it('is generated once and reused until the data changes', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({
      flags: { storage, pollInterval: 0, now: () => new Date('2026-03-01') },
    });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const first = await request(app).get(path).expect(200);
    const reads = readsOf(storage);
    const second = await request(app).get(path).expect(200);
    expect(readsOf(storage)).toBe(reads);
    expect([second.text, second.headers]).toEqual([first.text, { ...first.headers, date: expect.any(String) }]);
    await request(app)
      .get(path)
      .set('If-None-Match', first.headers.etag ?? '')
      .expect(304, '');

    await flags.createFlag({ project: 'default' }, { name: 'another' });
    await request(app).get(path).expect(200);
    expect(readsOf(storage)).toBeGreaterThan(reads);
  });

  it('is refused to callers without permission, even if it is cached', async () => {
    let isAllowed = true;
    const router = { auth: () => ({ name: 'ada' }), authorize: () => isAllowed };
    const { app, flags } = await createHostApp({ router });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await request(app).get(path).expect(200);
    isAllowed = false;
    await request(app).get(path).expect(403);
  });
});

describe('a list of half a megabyte', () => {
  it('is generated once and reused until the data changes', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
    const names = Array.from({ length: 1500 }, (_, number) => `${'long-'.repeat(18)}${number}`);
    await Promise.all(names.map((name) => flags.createFlag({ project: 'default' }, { name })));
    const first = await request(app).get(FLAGS).expect(200);
    expect(first.text.length).toBeGreaterThan(300_000);
    const reads = readsOf(storage);
    const second = await request(app).get(FLAGS).expect(200);
    expect([second.text, second.headers.etag, readsOf(storage)]).toEqual([first.text, first.headers.etag, reads]);
  });
});

describe('a list of more than a megabyte', () => {
  it('is generated once for each request, and has no tag', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
    const names = Array.from({ length: 4_000 }, (_, number) => `${'long-'.repeat(18)}${number}`);
    await Promise.all(names.map((name) => flags.createFlag({ project: 'default' }, { name })));
    const first = await request(app).get(FLAGS).expect(200);
    expect(first.text.length).toBeGreaterThan(1024 * 1024);
    expect(first.headers).not.toHaveProperty('etag');
    const reads = readsOf(storage);
    const second = await request(app).get(FLAGS).expect(200);
    expect([second.text, readsOf(storage)]).toEqual([first.text, reads + 1]);

    await flags.createFlag({ project: 'default' }, { name: 'another' });
    const before = readsOf(storage);
    const server = app.listen(0);
    const asked = [1, 2, 3].map(async () => (await request(server).get(FLAGS).expect(200)).body.features.length);
    expect(await Promise.all(asked)).toEqual(Array(3).fill(names.length + 1));
    expect(readsOf(storage) - before).toBe(3);
    server.close();
  });
});

describe('a cached reply', () => {
  it('shows every acknowledged change, also of another process on the same file', async () => {
    const file = await createSqliteFile();
    const again = await createSqliteFile(file.path);
    const { app, flags } = await createHostApp({ flags: { storage: file.storage } });
    const other = await openFlags({ storage: again.storage });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    for (let number = 0; number < 20; number++) {
      const writer = number % 2 === 0 ? other : flags;
      await writer.createFlag({ project: 'default' }, { name: `flag-${number}` });
      const { body } = await request(app).get(FLAGS).expect(200);
      expect(body.features).toHaveLength(number + 2);
    }
    const stop = new Date().toISOString();
    const counts = { checkout: { yes: 1, no: 0 } };
    await other.reportMetrics({ application: 'web', start: stop, stop, counts });
    const { body } = await request(app).get(`${FLAGS}/checkout`).expect(200);
    expect(Date.parse(body.lastSeenAt)).toBe(Date.parse(stop));
    await Promise.all([flags.close(), other.close()]);
    await again.remove();
    await file.remove();
  });

  it('is not stored if a change commits during its generation', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const path = `${FLAGS}/checkout`;
    const gets = () => storage.calls.filter(({ method }) => method === 'get').length;
    const reads = gets();
    const held = storage.inject({ method: 'get', point: 'after', nth: 1, hang: true });
    const overtaken = request(app).get(path).expect(200);
    const answered = overtaken.then(({ body }) => body);
    while (gets() === reads) await new Promise(setImmediate);
    await flags.updateFlag({ project: 'default', flag: 'checkout' }, { stale: true });
    held.release();
    expect((await answered).stale).toBe(false);
    const { body } = await request(app).get(path).expect(200);
    expect(body.stale).toBe(true);
  });

  it('is generated once for simultaneous requests', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const server = app.listen(0);
    const reads = readsOf(storage);
    const held = storage.inject({ method: 'events', nth: 1, hang: true });
    const asked = Array.from({ length: 5 }, () => request(server).get(FLAGS).expect(200));
    const answers = Promise.all(asked.map(async (one) => (await one).body.features));
    const stampsBefore = storage.calls.filter(({ method }) => method === 'dataVersion').length;
    const haveAsked = () =>
      storage.calls.filter(({ method }) => method === 'dataVersion').length - stampsBefore === asked.length;
    while (!haveAsked()) await new Promise(setImmediate);
    held.release();
    for (const features of await answers) expect(features).toMatchObject([{ name: 'checkout' }]);
    expect(readsOf(storage) - reads).toBe(1);
    server.close();
  });

  it('fails for all waiting requests, and is generated again for the next one', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 0 } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    storage.inject({ method: 'events' });
    await Promise.all([request(app).get(FLAGS).expect(503), request(app).get(FLAGS).expect(503)]);
    storage.heal();
    await request(app).get(FLAGS).expect(200);
  });

  it('shows the current health', async () => {
    let time = Date.parse('2026-03-01');
    const { app, flags } = await createHostApp({ flags: { now: () => new Date(time) } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await request(app)
      .get(PROJECT)
      .expect(200)
      .expect(({ body }) => expect(body.health).toBe(100));
    time += 41 * DAY;
    await request(app)
      .get(PROJECT)
      .expect(200)
      .expect(({ body }) => expect(body.health).toBe(0));
  });

  it('names the next page relative to its own address, wherever the router is mounted', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    for (const name of ['a', 'b']) await flags.createFlag({ project: 'default' }, { name });
    const router = createFlagsRouter(flags, { auth: 'none' });
    const app = express().use('/one', router).use('/two', router);
    for (const mount of ['/one', '/two', '/one']) {
      const { headers } = await request(app).get(`${mount}${FLAGS}?limit=1`).expect(200);
      const [, next = ''] = /^<(.*)>; rel="next"$/.exec(headers.link ?? '') ?? [];
      const { pathname, search } = new URL(next, `http://127.0.0.1${mount}${FLAGS}`);
      expect([pathname, search]).toEqual([`${mount}${FLAGS}`, '?limit=1&after=a']);
      const page = await request(app).get(`${pathname}${search}`).expect(200);
      expect(page.body.features).toMatchObject([{ name: 'b' }]);
    }
  });
});

describe('cached responses', () => {
  /** A cache, and the keys of the generated replies. */
  function createCache(limits?: { bytes: number; entryBytes: number }) {
    const made: string[] = [];
    const cache = createReplyCache(limits);
    const fetch = (key: string, length = 1) =>
      cache(key, async () => {
        made.push(key);
        return { status: 200, headers: {}, body: 'x'.repeat(length) };
      });
    return { made, fetch, cache };
  }

  it('are made once for each key', async () => {
    const { made, fetch } = createCache();
    for (const key of ['/a 1', '/a 1', '/a 2', '/a 2']) await fetch(key);
    expect(made).toEqual(['/a 1', '/a 2']);
  });

  it('are limited in size; the least recently used response is evicted', async () => {
    const { made, fetch } = createCache({ bytes: 20_000, entryBytes: 10_000 });
    for (const key of ['/a', '/b', '/a', '/c', '/a', '/b']) await fetch(key, 6_000);
    expect(made).toEqual(['/a', '/b', '/c', '/b']);
  });

  it('exclude large responses, and limit the number of small ones', async () => {
    const { made, fetch } = createCache({ bytes: 20_000, entryBytes: 10_000 });
    await fetch('/large', 10_000);
    await fetch('/large', 10_000);
    expect(made.splice(0)).toEqual(['/large', '/large']);
    const keys = Array.from({ length: 100 }, (_, index) => `/?${index}`);
    for (const key of [...keys, ...keys.toReversed()]) await fetch(key);
    expect(made.length).toBeGreaterThan(180);
    expect(made.length).toBeLessThan(200);
  });

  it('exclude a streamed response, which only the caller that made it gets', async () => {
    const { cache } = createCache();
    const made = { status: 200, headers: {}, stream: async () => undefined };
    expect(await Promise.all([cache('/a', async () => made), cache('/a', async () => made)])).toEqual([
      made,
      undefined,
    ]);
    expect(await cache('/a', async () => made)).toBeUndefined();
  });

  it('have their own bytes, and do not retain the buffer pool of Node', async () => {
    const reply = await createCache().fetch('/a', 10);
    const bytes = reply?.body as Uint8Array;
    expect(bytes).toHaveLength(10);
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  });
});
