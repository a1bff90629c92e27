import { createFlags, memoryStorage } from '@flags/core';
import { type FaultyStorage, faultyStorage } from '@flags/core/testing';
import request from 'supertest';
import { createReplies } from '../src/replies.js';
import { createSqliteFile } from './contract/sqlite-file.js';
import { EXPRESS_5 } from './express-versions.js';
import { createHostApp, FLAGS } from './host-app.js';

const PROJECT = '/api/admin/projects/default';
const PATHS = ['/api/admin/projects', PROJECT, FLAGS, `${FLAGS}?limit=1`, `${FLAGS}/checkout`];
const DAY = 86_400_000;

function readsOf({ calls }: FaultyStorage): number {
  return calls.filter(({ method }) => method === 'list').length;
}

describe.each(PATHS)('the answer of %s', (path) => {
  it('is made once and sent until something changes', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage, now: () => new Date('2026-03-01') } });
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

  it('is refused to whom it is forbidden, whoever had it before', async () => {
    let isAllowed = true;
    const router = { auth: () => ({ name: 'ada' }), authorize: () => isAllowed };
    const { app, flags } = await createHostApp({ router });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await request(app).get(path).expect(200);
    isAllowed = false;
    await request(app).get(path).expect(403);
  });
});

describe('an answer that is kept', () => {
  it('shows every change that was acknowledged, by another process on the same file too', async () => {
    const file = await createSqliteFile();
    const again = await createSqliteFile(file.path);
    const { app, flags } = await createHostApp({ flags: { storage: file.storage } });
    const other = await createFlags({ storage: again.storage });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    for (let number = 0; number < 20; number++) {
      const writer = number % 2 === 0 ? other : flags;
      await writer.createFlag({ project: 'default' }, { name: `flag-${number}` });
      const { body } = await request(app).get(FLAGS).expect(200);
      expect(body.features).toHaveLength(number + 2);
    }
    const stop = new Date().toISOString();
    const toggles = { checkout: { yes: 1, no: 0 } };
    await other.reportMetrics({ appName: 'web', bucket: { start: stop, stop, toggles } });
    const { body } = await request(app).get(`${FLAGS}/checkout`).expect(200);
    expect(Date.parse(body.lastSeenAt)).toBe(Date.parse(stop));
    await Promise.all([flags.close(), other.close()]);
    await again.remove();
    await file.remove();
  });

  it('is not one that a change has overtaken while it was made', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage } });
    const reads = readsOf(storage);
    const held = storage.inject({ method: 'list', point: 'after', nth: 1, hang: true });
    const overtaken = request(app).get(FLAGS).expect(200);
    const answered = overtaken.then(({ body }) => body);
    while (readsOf(storage) === reads) await new Promise(setImmediate);
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    held.release();
    expect((await answered).features).toEqual([]);
    const { body } = await request(app).get(FLAGS).expect(200);
    expect(body.features).toMatchObject([{ name: 'checkout' }]);
  });

  it('is made once for all who ask meanwhile', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const server = app.listen(0);
    const reads = readsOf(storage);
    const held = storage.inject({ method: 'list', nth: 1, hang: true });
    const asked = Array.from({ length: 5 }, () => request(server).get(FLAGS).expect(200));
    const answers = Promise.all(asked.map(async (one) => (await one).body.features));
    const stampsBefore = storage.calls.filter(({ method }) => method === 'stamp').length;
    const haveAsked = () =>
      storage.calls.filter(({ method }) => method === 'stamp').length - stampsBefore === asked.length;
    while (!haveAsked()) await new Promise(setImmediate);
    held.release();
    for (const features of await answers) expect(features).toMatchObject([{ name: 'checkout' }]);
    expect(readsOf(storage) - reads).toBe(1);
    server.close();
  });

  it('fails for all who wait for it, and is made anew for the next', async () => {
    const storage = faultyStorage(memoryStorage());
    const { app, flags } = await createHostApp({ flags: { storage } });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    storage.inject({ method: 'list' });
    await Promise.all([request(app).get(FLAGS).expect(503), request(app).get(FLAGS).expect(503)]);
    storage.heal();
    await request(app).get(FLAGS).expect(200);
  });

  it('shows the health of the present', async () => {
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

  it('names the next page below the path where the router is mounted', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    for (const name of ['a', 'b']) await flags.createFlag({ project: 'default' }, { name });
    const router = EXPRESS_5.createFlagsRouter(flags, { auth: 'none' });
    const app = EXPRESS_5.express().use('/one', router).use('/two', router);
    for (const mount of ['/one', '/two', '/one']) {
      const { headers } = await request(app).get(`${mount}${FLAGS}?limit=1`).expect(200);
      expect(headers.link).toContain(`<${mount}${FLAGS}?`);
    }
  });
});

describe('what is kept', () => {
  const reply = (text: string) => ({ status: 200, headers: {}, text });

  it('is its own bytes, and nothing of what is around them in the pool of Node', () => {
    const replies = createReplies();
    replies.get('/', 'one');
    replies.keep('/', 'one', { status: 200, headers: {}, text: '{"näme":1}' });
    const bytes = replies.get('/', 'one')?.bytes;
    expect(String(bytes)).toBe('{"näme":1}');
    expect(bytes?.buffer.byteLength).toBe(bytes?.byteLength);
  });

  it('is forgotten with the next stamp', () => {
    const replies = createReplies();
    replies.get('/a', '1');
    replies.keep('/a', '1', reply('first'));
    expect(replies.get('/a', '1')?.bytes?.toString()).toBe('first');
    expect(replies.get('/a', '2')).toBeUndefined();
    expect(replies.get('/a', '1')).toBeUndefined();
  });

  it('is not what was made at an older stamp than the last', () => {
    const replies = createReplies();
    replies.get('/a', '1');
    replies.get('/a', '2');
    replies.keep('/a', '1', reply('overtaken'));
    expect(replies.get('/a', '2')).toBeUndefined();
  });

  it('never takes more room than there is', () => {
    const replies = createReplies({ bytes: 10, replies: 9 });
    replies.get('/a', '1');
    expect(replies.keep('/a', '1', reply('12345678')).bytes?.length).toBe(8);
    expect(replies.keep('/b', '1', reply('1')).bytes?.length).toBe(1);
    expect(replies.get('/a', '1')).toBeDefined();
    expect(replies.get('/b', '1')).toBeUndefined();
    replies.get('/b', '2');
    replies.keep('/b', '2', reply('1'));
    expect(replies.get('/b', '2')).toBeDefined();
  });

  it('is never more than so many replies, however small they are', () => {
    const replies = createReplies({ bytes: 100, replies: 2 });
    const keys = ['/a', '/b', '/c'];
    replies.get('/a', '1');
    for (const key of keys) expect(replies.keep(key, '1', reply('1')).bytes?.length).toBe(1);
    expect(keys.map((key) => replies.get(key, '1') !== undefined)).toEqual([true, true, false]);
    replies.get('/c', '2');
    replies.keep('/c', '2', reply('1'));
    expect(replies.get('/c', '2')).toBeDefined();
  });

  it('is bounded in number also where nobody says how', () => {
    const replies = createReplies();
    replies.get('', '1');
    const keys = Array.from({ length: 1_200 }, (_, index) => `/?${index}`);
    for (const key of keys) replies.keep(key, '1', reply('1'));
    expect(keys.filter((key) => replies.get(key, '1'))).toHaveLength(1_000);
  });
});
