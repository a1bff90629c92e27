import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Flags } from '@flags/core';
import { until } from '../../../../test/until.js';
import { createHostApp, FLAGS } from '../../../http/test/host-app.js';
import { postgresStorage } from '../../src/index.js';
import { ownServer } from '../own-database.js';

const database = ownServer();
const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

describe('a service whose database is away', () => {
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

  it('answers 503 with Retry-After, evaluates on, says that it is stale, and serves again without a restart', async () => {
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
