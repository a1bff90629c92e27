import { promisify } from 'node:util';
import type { Flags } from '@flags/core';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { type EventClient, listen } from '../client/event-client.js';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { manualHeartbeats } from '../client/manual-heartbeats.js';
import { createOn } from '../client/states.js';
import { createLargeFlags } from './large-flags.js';
import { requestWithoutReading, type SlowReader } from './slow-reader.js';

const STREAM = '/api/client/streaming';
const SMALL = '?namePrefix=small';
/** Far more than the buffers of both ends of a connection hold. */
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

/** A client that reads, and is sent little. */
async function join(): Promise<EventClient> {
  const client = await listen(`${server.url}${STREAM}${SMALL}`);
  clients.push(client);
  return client;
}

function connections(): Promise<number> {
  return promisify(server.server.getConnections.bind(server.server))();
}

/** Lets heartbeats pass until so many clients are left. */
function untilConnected(count: number): Promise<void> {
  return until(async () => {
    beat();
    return (await connections()) === count;
  });
}

describe('a client of a stream', () => {
  it('that reads slowly gets all events, after any number of heartbeats', async () => {
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
    // A sign of life comes when everything else has been taken.
    while (!reader.tail().endsWith(':\n\n\r\n') && !reader.isCutOff()) {
      const before = reader.taken();
      beat();
      await until(() => reader.taken() > before || reader.isCutOff());
    }
    expect([reader.taken() > TOTAL, reader.isCutOff()]).toEqual([true, false]);
  });

  it('that stops reading is disconnected after some heartbeats', async () => {
    await start();
    const reader = await joinWithoutReading();
    await reader.readTo(TOTAL / 12);
    await untilConnected(0);
    reader.readAll();
    await until(reader.isCutOff);
    expect(reader.taken()).toBeLessThan(TOTAL);
  });

  it('that never reads does not delay other clients', async () => {
    await start();
    for (let number = 0; number < 20; number++) await joinWithoutReading();
    const other = await join();
    await until(() => other.messages.length === 1);
    await flags.disable({ project: 'default', flag: 'small', environment: 'production' });
    await until(() => other.messages.length === 2);
    await untilConnected(1);
    expect(other.hasEnded()).toBe(false);
  });

  inFull('that never reads holds no copy of what it was sent', async () => {
    await start();
    await joinWithoutReading();
    const one = await buffersOnceConnected(1);
    for (let number = 0; number < 30; number++) await joinWithoutReading();
    const many = await buffersOnceConnected(31);
    expect(many - one).toBeLessThan(TOTAL);
  });
});

/** Bytes in buffers, when so many clients have been sent what they can take. */
async function buffersOnceConnected(count: number): Promise<number> {
  await until(async () => (await connections()) === count);
  const { url } = server;
  // An answer to a later request: the streams were begun before.
  await fetch(`${url}/api/client/features${SMALL}`);
  return process.memoryUsage().arrayBuffers;
}
