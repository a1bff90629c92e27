import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { Flags, FlagsStorage } from '@flags/core';
import { Pool, type PoolClient } from 'pg';
import { until } from '../../../../test/until.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';
import { type PgPool, postgresStorage } from '../../src/index.js';
import { ownDatabase, ownServer } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';
import { type Cut, type CuttingProxy, startCuttingProxy } from './cutting-proxy.js';

describe('a commit whose connection is cut', () => {
  const database = ownDatabase();

  let proxy: CuttingProxy;
  let storage: FlagsStorage;

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

  it('fails with storage_unavailable, and nothing has changed, when the database never received it', async () => {
    expect(await commitCut('before the database hears', 'unheard')).toBe('storage_unavailable');
    expect(await storage.get(flag('unheard'))).toBeUndefined();
    expect(await storage.commit(change('unheard'))).toEqual({ ok: true, revisions: [1] });
  });

  it('fails with outcome_unknown when the database cannot be read', async () => {
    expect(await commitCut('for good, before the client hears', 'unknown')).toBe('outcome_unknown');
    expect((await storage.get(flag('unknown')))?.revision).toBe(1);
  });
});

describe('a service whose database is unavailable', () => {
  const database = ownServer();
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

  let flags: Flags;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const storage = await postgresStorage(database.url());
    const host = await createHostApp({ flags: { storage, pollInterval: 50, onError: () => undefined } });
    flags = host.flags;
    server = createServer(host.app).listen(0);
    await once(server, 'listening');
    url = `http://localhost:${(server.address() as AddressInfo).port}${FLAGS}`;
    await flags.createFlag(PRODUCTION, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.enable(PRODUCTION);
  });

  afterAll(async () => {
    server.close();
    await flags.close();
  });

  const write = () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'payments' }),
    });

  it('answers 503 with Retry-After, continues to evaluate, reports a stale state, and recovers without a restart', async () => {
    await database.server().stop('immediate');
    for (const answer of [await fetch(url), await fetch(`${url}/checkout`), await write()]) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await until(() => flags.status().state === 'stale');
    expect(flags.isEnabled('checkout')).toBe(true);
    await database.server().start();
    await until(() => flags.status().state === 'current');
    expect((await fetch(`${url}/checkout`)).status).toBe(200);
    expect((await write()).status).toBe(201);
  });
});

describe('a connection that ends in the message that created it', () => {
  /** A message of PostgreSQL's protocol: its type, its length, its payload. */
  function message(letter: string, body: string): Buffer {
    const head = Buffer.alloc(5, letter);
    head.writeInt32BE(4 + Buffer.byteLength(body), 1);
    return Buffer.concat([head, Buffer.from(body)]);
  }

  const AUTHENTICATED = message('R', '\0\0\0\0');
  const READY = message('Z', 'I');
  const SHUTDOWN = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

  it('fails the call, and not the process', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTDOWN])));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const opening = postgresStorage(`postgres://postgres@127.0.0.1:${port}/app?sslmode=disable`);
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable' });
    server.close();
    await once(server, 'close');
  });
});

describe('a node that stalls before its COMMIT', () => {
  const database = ownDatabase();

  let pool: Pool;
  let stalling: FlagsStorage;
  let other: FlagsStorage;
  const stall: { isReached: boolean; goOn?: () => void } = { isReached: false };

  beforeAll(async () => {
    pool = new Pool({ connectionString: database.url() });
    pool.on('error', () => undefined);
    const place = { schema: 'stalled', listen: false };
    other = await postgresStorage({ connectionString: database.url(), ...place });
    await other.commit(change('checkout'));
    stalling = await postgresStorage({ pool: stallingPool(), ...place, queryTimeout: 1_000 });
  });
  afterAll(async () => {
    await Promise.all([stalling.close(), other.close()]);
    await pool.end();
  });

  /** Delays COMMIT until `goOn` is called. The database does not know that the client waits. */
  function stallingPool(): PgPool {
    return Object.assign(Object.create(pool), {
      async connect() {
        const client = await pool.connect();
        return Object.assign(Object.create(client), { query: stalledQuery(client) });
      },
    });
  }

  function stalledQuery(client: PoolClient) {
    return async (query: { readonly text: string }) => {
      if (query.text === 'COMMIT') {
        stall.isReached = true;
        await new Promise<void>((resolve) => {
          stall.goOn = resolve;
        });
      }
      return client.query(query);
    };
  }

  it('does not block the document for other nodes, and gets an error that nothing has changed', async () => {
    const stalled = stalling.commit(change('checkout', 1));
    const refused = expect(stalled).rejects.toMatchObject({ code: 'storage_unavailable' });
    await until(() => stall.isReached);
    expect(await other.commit(change('checkout', 1))).toEqual({ ok: true, revisions: [2] });
    stall.goOn?.();
    await refused;
    expect((await other.get(flag('checkout')))?.revision).toBe(2);
    expect(await subjectsAfter(other)).toEqual(['checkout', 'checkout']);
  });
});
