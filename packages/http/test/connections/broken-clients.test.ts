import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { type FaultyStorage, faultyStorage } from '@flags/core/testing';
import express from 'express';
import { extent, inFull } from '../../../../test/extent.js';
import { SEED } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';
import { STORAGES } from '../../../core/test/storage-kinds.js';
import { createFlagsRouter } from '../../../express/src/index.js';
import { type EventClient, listen } from '../client/event-client.js';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { manualHeartbeats } from '../client/manual-heartbeats.js';
import { createOn } from '../client/states.js';
import { type HostileServer, startHostileServer } from '../contract/hostile-server.js';
import type { RawRequest } from '../contract/raw-client.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { hostileRequests } from './hostile-stream.js';
import { createLargeFlags } from './large-flags.js';
import { creation, openRaw, type RawConnection } from './raw-requests.js';
import { requestWithoutReading, type SlowReader } from './slow-reader.js';

describe('broken clients', () => {
  const CLIENTS = extent({ short: 50, full: 500 });
  const BROKEN_OFF = extent({ short: 60, full: 1000 });
  const FEATURES = '/api/admin/projects/default/features';

  let flags: Flags;
  let storage: FaultyStorage;
  let server: Server;
  let port: number;
  /** The errors that reached the host's error handler. */
  let faults: unknown[];

  async function start(options: ServerOptions & { readonly timeout?: number } = {}): Promise<void> {
    const { timeout = 0, ...timeouts } = options;
    storage = faultyStorage(memoryStorage());
    flags = await openFlags({ storage });
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
  const names = async () => (await flags.listFlags({ project: 'default' })).items.map(({ name }) => name);

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
    ])('delay nobody with their %s, get 408, and leave nothing', async (_, beginning) => {
      await start();
      const clients = await openMany(CLIENTS);
      for (const client of clients) client.write(beginning);
      await expectServing();
      // Only now: a busy machine may need longer for the request above.
      const { headersTimeout, requestTimeout } = server;
      Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
      await until(() => clients.every((client) => client.isClosed()));
      Object.assign(server, { headersTimeout, requestTimeout });
      expect(clients.filter((client) => client.received().startsWith('HTTP/1.1 408 '))).toHaveLength(CLIENTS);
      await until(async () => (await connections()) === 0);
      expect(await names()).toEqual([]);
      await expectServing();
    });
  });

  describe('a client that half closes its connection', () => {
    it('has its request executed completely if it was sent', async () => {
      await start();
      const client = await openRaw(port);
      client.write(creation('checkout'));
      client.halfClose();
      await until(async () => (await names()).length === 1);
      await until(() => client.isClosed());
      await until(async () => (await connections()) === 0);
      await expectServing();
    });

    it('changes nothing in the middle of its request', async () => {
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
    it('has its change executed completely while it is written', async () => {
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

    it('changes nothing while its change is written and fails', async () => {
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

    it('leaves every change complete or absent at any point, and no open connection', async () => {
      await start();
      const text = creation('flag-0000');
      await Promise.all(
        Array.from({ length: BROKEN_OFF }, async (_, number) => {
          const client = await openRaw(port);
          const whole = creation(`flag-${String(number).padStart(4, '0')}`);
          // Everything except the last is cut at another place each time.
          const sent = number % 3 === 0 ? whole : whole.slice(0, number % text.length);
          client.write(sent);
          if (number % 2 === 0) await new Promise(setImmediate);
          client.breakOff();
        }),
      );
      await until(async () => (await connections()) === 0);
      await expectServing();
      const created = await names();
      const { total } = await flags.events.list({ type: 'flag-created' });
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
      // For connections from now on: a busy machine may need longer for an answer.
      server.timeout = 0;
      await expectServing();
      await until(async () => (await connections()) === 0);
      for (const client of clients) client.readAll();
      await until(() => clients.every((client) => client.isCutOff()));
      for (const client of clients) expect(client.taken()).toBeLessThan(size);
      await expectServing();
    });
  });
});

describe('a client of a stream', () => {
  const STREAM = '/api/client/streaming';
  const SMALL = '?namePrefix=small';
  /** Far more than fits into the buffers of both ends of a connection. */
  const MEGABYTES = 36;
  const TOTAL = MEGABYTES * 1_000_000;

  const { interval, beat } = manualHeartbeats();
  let server: LiveServer;
  let flags: Flags;
  let clients: { leave: () => void }[] = [];

  async function start(): Promise<void> {
    server = await startLiveServer({ router: { auth: 'none', heartbeatInterval: interval } });
    flags = server.flags;
    await createOn(flags, { name: 'small' });
    await createLargeFlags(flags, MEGABYTES);
  }

  afterEach(async () => {
    for (const client of clients) client.leave();
    clients = [];
    await server.stop();
  });

  async function joinWithoutReading(): Promise<SlowReader> {
    const reader = await requestWithoutReading(server.port, STREAM);
    clients.push(reader);
    return reader;
  }

  /** A client that reads, and receives little. */
  async function join(): Promise<EventClient> {
    const client = await listen(`${server.url}${STREAM}${SMALL}`);
    clients.push(client);
    return client;
  }

  function connections(): Promise<number> {
    return promisify(server.server.getConnections.bind(server.server))();
  }

  /** Sends heartbeats until this many clients are left. */
  function untilConnected(count: number): Promise<void> {
    return until(async () => {
      beat();
      return (await connections()) === count;
    });
  }

  it('gets all events after any number of heartbeats if it reads slowly', async () => {
    await start();
    const { heartbeats } = await join();
    const reader = await joinWithoutReading();
    for (let part = 1; part <= 12; part++) {
      const before = heartbeats();
      await reader.readTo((TOTAL / 12) * part);
      beat();
      await until(() => heartbeats() > before);
    }
    reader.readAll();
    // A heartbeat follows when everything else has been read.
    while (!reader.tail().endsWith(':\n\n\r\n') && !reader.isCutOff()) {
      const before = reader.taken();
      beat();
      await until(() => reader.taken() > before || reader.isCutOff());
    }
    expect([reader.taken() > TOTAL, reader.isCutOff()]).toEqual([true, false]);
  });

  inFull('is disconnected after some heartbeats if it stops reading', async () => {
    await start();
    const reader = await joinWithoutReading();
    await reader.readTo(TOTAL / 12);
    await untilConnected(0);
    reader.readAll();
    await until(reader.isCutOff);
    expect(reader.taken()).toBeLessThan(TOTAL);
  });

  it('does not delay other clients if it never reads', async () => {
    await start();
    for (let number = 0; number < 20; number++) await joinWithoutReading();
    const other = await join();
    await until(() => other.messages.length === 1);
    await flags.disable({ project: 'default', flag: 'small', environment: 'production' });
    await until(() => other.messages.length === 2);
    await untilConnected(1);
    expect(other.hasEnded()).toBe(false);
  });

  inFull('keeps no copy of the sent data if it never reads', async () => {
    await start();
    await joinWithoutReading();
    const one = await buffersOnceConnected(1);
    for (let number = 0; number < 30; number++) await joinWithoutReading();
    const many = await buffersOnceConnected(31);
    expect(many - one).toBeLessThan(TOTAL);
  });

  /** Bytes in buffers, when this many clients have received as much as they can. */
  async function buffersOnceConnected(count: number): Promise<number> {
    await until(async () => (await connections()) === count);
    const { url } = server;
    // An answer to a later request: the streams started before.
    await fetch(`${url}/api/client/features${SMALL}`);
    return process.memoryUsage().arrayBuffers;
  }
});

describe('hostile input', () => {
  const MEBIBYTE = 1024 * 1024;
  const BYTES = extent({ short: MEBIBYTE / 4, full: 50 * MEBIBYTE });
  const AT_ONCE = 16;

  const HOSTS = STORAGES.map((storage, index) => {
    return { storage, version: EXPRESS_VERSIONS[index % EXPRESS_VERSIONS.length] as (typeof EXPRESS_VERSIONS)[number] };
  });

  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');

  describe.each(HOSTS)(`a server on $storage.name that gets ${BYTES} bytes of hostile input (seed ${SEED})`, (host) => {
    let server: HostileServer;

    beforeEach(async () => {
      server = await startHostileServer(host.version, host.storage);
    });

    afterEach(() => server.stop());

    it('refuses invalid input without effects, and does not retain it', async () => {
      const requests = hostileRequests(SEED);
      await attack(requests, extent({ short: 0, full: MEBIBYTE / 4 }));
      const before = usedHeap();
      const answers = await attack(requests, BYTES);
      // Garbage of tests that ran before in this process moves the heap as well: only a large input shows retained
      // memory.
      extent({ short: () => undefined, full: () => expect(usedHeap() - before).toBeLessThan(48 * MEBIBYTE) })();
      expect(answers.refused).toBeGreaterThan(answers.granted);
      await server.expectAlive();
    });

    /** Sends at least this many bytes of addresses and bodies. */
    async function attack(requests: Generator<RawRequest, never>, bytes: number) {
      const count = { refused: 0, granted: 0 };
      for (let sent = 0; sent < bytes; ) {
        const batch = Array.from({ length: AT_ONCE }, () => requests.next().value);
        const answers = await server.attackAtOnce(batch);
        for (const { status = 400 } of answers) count[status < 300 ? 'granted' : 'refused'] += 1;
        for (const { path, body = '' } of batch) sent += path.length + body.length;
      }
      return count;
    }
  });

  function usedHeap(): number {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  }
});
