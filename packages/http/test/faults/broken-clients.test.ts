import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { type FaultyStorage, faultyStorage } from '@flags/core/testing';
import express from 'express';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { createFlagsRouter } from '../../../express/src/index.js';
import { createLargeFlags } from './large-flags.js';
import { creation, openRaw, type RawConnection } from './raw-requests.js';
import { requestWithoutReading, type SlowReader } from './slow-reader.js';

const CLIENTS = extent({ short: 50, full: 500 });
const BROKEN_OFF = extent({ short: 60, full: 1000 });
const FEATURES = '/api/admin/projects/default/features';

let flags: Flags;
let storage: FaultyStorage;
let server: Server;
let port: number;
/** What reached the host's error handler. */
let faults: unknown[];

async function start(options: ServerOptions & { readonly timeout?: number } = {}): Promise<void> {
  const { timeout = 0, ...timeouts } = options;
  storage = faultyStorage(memoryStorage());
  flags = await createFlags({ storage });
  faults = [];
  const app = express().use(createFlagsRouter(flags, { auth: 'none' }));
  app.use(((error, _request, response, _next) => {
    faults.push(error);
    response.status(500).end();
  }) as import('express').ErrorRequestHandler);
  server = createServer({ connectionsCheckingInterval: 20, ...timeouts }, app).listen(0, '127.0.0.1');
  server.timeout = timeout;
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
}

afterEach(async () => {
  storage.heal();
  server.close();
  server.closeAllConnections();
  await flags.close();
});

const connections = (): Promise<number> => promisify(server.getConnections.bind(server))();
const names = async () => (await flags.listFlags({ project: 'default' })).map(({ name }) => name);

async function expectServing(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${FEATURES}`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  expect(faults).toEqual([]);
}

async function openMany(count: number): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => openRaw(port)));
}

describe('clients that send slowly', () => {
  it.each([
    ['heads', 'GET /api/admin/projects HTTP/1.1\r\nhost: localhost\r\nx-slow: '],
    ['bodies', creation('slow').slice(0, -10)],
  ])('with their %s keep nobody waiting, are told so by 408, and leave nothing', async (_, beginning) => {
    await start({ headersTimeout: 300, requestTimeout: 300 });
    const clients = await openMany(CLIENTS);
    for (const client of clients) client.write(beginning);
    await expectServing();
    await until(() => clients.every((client) => client.isClosed()));
    expect(clients.filter((client) => client.received().startsWith('HTTP/1.1 408 '))).toHaveLength(CLIENTS);
    await until(async () => (await connections()) === 0);
    expect(await names()).toEqual([]);
    await expectServing();
  });
});

describe('a client that half closes its connection', () => {
  it('after its request has it executed completely', async () => {
    await start();
    const client = await openRaw(port);
    client.write(creation('checkout'));
    client.halfClose();
    await until(async () => (await names()).length === 1);
    await until(() => client.isClosed());
    await until(async () => (await connections()) === 0);
    await expectServing();
  });

  it('in the middle of its request changes nothing', async () => {
    await start();
    const client = await openRaw(port);
    client.write(creation('checkout').slice(0, -3));
    client.halfClose();
    await until(() => client.isClosed());
    await until(async () => (await connections()) === 0);
    expect(await names()).toEqual([]);
    await expectServing();
  });
});

describe('a client that disconnects', () => {
  it('while its change is written has it executed completely', async () => {
    await start();
    const hanging = storage.inject({ method: 'commit', hang: true });
    const client = await openRaw(port);
    client.write(creation('checkout'));
    await until(() => hanging.strikes() === 1);
    client.breakOff();
    await until(async () => (await connections()) === 0);
    expect(await names()).toEqual([]);
    hanging.release();
    await until(async () => (await names()).length === 1);
    await expectServing();
  });

  it('while its change is written and fails changes nothing', async () => {
    await start();
    const hanging = storage.inject({ method: 'commit', hang: true, error: new Error('disk') });
    const client = await openRaw(port);
    client.write(creation('checkout'));
    await until(() => hanging.strikes() === 1);
    client.breakOff();
    await until(async () => (await connections()) === 0);
    hanging.remove();
    await until(() => faults.length === 1);
    expect(await names()).toEqual([]);
    faults = [];
    await expectServing();
  });

  it('at any point leaves every change complete or absent, and no open connection', async () => {
    await start();
    const text = creation('flag-0000');
    await Promise.all(
      Array.from({ length: BROKEN_OFF }, async (_, number) => {
        const client = await openRaw(port);
        const whole = creation(`flag-${String(number).padStart(4, '0')}`);
        // Everything but the last is cut short at another place each time.
        const sent = number % 3 === 0 ? whole : whole.slice(0, number % text.length);
        client.write(sent);
        if (number % 2 === 0) await new Promise(setImmediate);
        client.breakOff();
      }),
    );
    await until(async () => (await connections()) === 0);
    await expectServing();
    const created = await names();
    const { total } = await flags.listEvents({ type: 'flag-created' });
    expect(total).toBe(created.length);
    for (const name of created) expect(Number(name.slice(5)) % 3).toBe(0);
    for (const flag of created)
      expect(await flags.getFlag({ project: 'default', flag })).toMatchObject({ revision: 1 });
  });
});

describe('clients that never read their answer', () => {
  it('are disconnected after the server’s timeout, and do not delay other clients', async () => {
    await start({ timeout: 300 });
    const size = await createLargeFlags(flags, 12);
    const clients: SlowReader[] = [];
    for (let number = 0; number < 20; number++) {
      clients.push(await requestWithoutReading(port, '/api/client/features?environment=production'));
    }
    // Of connections from now on: a busy machine may need longer for an answer.
    server.timeout = 0;
    await expectServing();
    await until(async () => (await connections()) === 0);
    for (const client of clients) client.readAll();
    await until(() => clients.every((client) => client.isCutOff()));
    for (const client of clients) expect(client.taken()).toBeLessThan(size);
    await expectServing();
  });
});
