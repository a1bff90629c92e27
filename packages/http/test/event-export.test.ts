import { memoryStorage, openFlags } from '@flags/core';
import type { NewEvent } from '@flags/core/storage';
import { createFlagsApi, toFetchHandler } from '../src/index.js';

const PER_COMMIT = 500;

/** An engine with a long history, whose storage counts the pages that are read. */
async function withHistory(length: number) {
  const storage = memoryStorage();
  let pages = 0;
  const counted = {
    ...storage,
    events: (query: Parameters<typeof storage.events>[0]) => {
      if (query.order === 'newest-first' && query.limit > 0) pages++;
      return storage.events(query);
    },
  };
  const flags = await openFlags({
    storage: counted,
    pollInterval: 0,
    due: { run: 'elsewhere' },
    usage: { interval: 0 },
  });
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  const [sample] = (await storage.events({ order: 'newest-first', limit: 1 })).events;
  if (!sample) throw new Error('There is no event.');
  const { position: _, id: __, revision: ___, ...event } = sample as typeof sample & { id?: unknown };
  for (let made = 1; made < length; made += PER_COMMIT) {
    const key = { kind: 'test', id: `${made}` };
    const count = Math.min(PER_COMMIT, length - made);
    const events = Array.from({ length: count }, (): NewEvent => ({ ...event, subject: key }));
    await storage.commit({ writes: [{ key, expected: 0, parent: null, body: {}, summary: null }], events });
  }
  return { flags, pages: () => pages };
}

describe('an export of events', () => {
  it('reads few pages before its client does, and no more until the client goes on', async () => {
    const { flags, pages } = await withHistory(100_000);
    const api = createFlagsApi(flags, { auth: 'none' });
    const response = await toFetchHandler(api)(new Request('http://localhost/api/admin/event-export?format=csv'));
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const reader = response.body?.getReader();
    await reader?.read();
    for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve));
    // A reply up to 1 MiB is collected before its head is sent.
    expect(pages()).toBeLessThan(20);
    let lines = 0;
    for (let text = await reader?.read(); text && !text.done; text = await reader?.read()) {
      for (const byte of text.value) if (byte === 0x0a) lines++;
    }
    expect(lines).toBeGreaterThan(95_000);
    expect(pages()).toBeGreaterThanOrEqual(100);
    api.close();
    await flags.close();
  });

  it('ends early when its token does', async () => {
    const { flags, pages } = await withHistory(20_000);
    const { secret, token } = await flags.tokens.create({ name: 'auditor', kind: 'admin' });
    const api = createFlagsApi(flags, { auth: 'token' });
    const headers = { authorization: secret };
    const response = await toFetchHandler(api)(new Request('http://localhost/api/admin/event-export', { headers }));
    const reader = response.body?.getReader();
    await reader?.read();
    await flags.tokens.delete({ token: token.id });
    const rest = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toThrow();
    expect(pages()).toBeLessThan(15);
    api.close();
    await flags.close();
  });

  it('leaves out what the caller may not see', async () => {
    const flags = await openFlags({ storage: memoryStorage(), due: { run: 'elsewhere' }, usage: { interval: 0 } });
    await flags.createProject({ id: 'secret', name: 'Secret' });
    await flags.createFlag({ project: 'secret' }, { name: 'hidden' });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const authorize = (_actor: unknown, _action: string, project: string | null) => project !== 'secret';
    const api = createFlagsApi(flags, { auth: () => ({ name: 'ada' }), authorize });
    const get = async (path: string) => (await toFetchHandler(api)(new Request(`http://localhost${path}`))).text();
    const exported = (await get('/api/admin/event-export')).split('\n').filter((line) => line !== '');
    const { events } = JSON.parse(await get('/api/admin/events'));
    expect(exported.map((line): unknown => JSON.parse(line))).toEqual(events);
    expect(exported.join()).not.toContain('hidden');
    api.close();
    await flags.close();
  });
});
