import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsRouter } from '@flags/express';
import express from 'express';
import { populate } from '../population.js';
import { answerQuestions, monotonic, settingsOfProcess } from './child.js';
import { createMarker, setMarker } from './marker.js';

export interface RootSettings {
  readonly file: string;
  readonly port: number;
  readonly flags: number;
}

/** What a root has cost since the previous sample. */
export interface RootSample {
  /** Bytes. */
  readonly resident: number;
  /** Bytes written to all connections. */
  readonly sent: number;
  /** The longest turn of the event loop, in milliseconds of processor time: the followers use the same processors. */
  readonly longestTurn: number;
  /** By the clock, with the time that other processes took. */
  readonly longestDelay: number;
  readonly openStreams: number;
}

const RESOLUTION = 5;

const settings = settingsOfProcess<RootSettings>();
const isNew = !existsSync(settings.file);
const flags = await openFlags({ storage: sqliteStorage(settings.file) });
if (isNew) {
  await createMarker(flags);
  await populate(flags, { flags: settings.flags, projects: 1 });
}
const router = createFlagsRouter(flags, { auth: 'token' });
/** Milliseconds since 1970 of the requests for streams. */
let connections: number[] = [];
let openStreams = 0;
const app = express().disable('x-powered-by');
app.use('/api/client/streaming', (_, response, next) => {
  connections.push(Date.now());
  openStreams += 1;
  response.on('close', () => {
    openStreams -= 1;
  });
  next();
});
const server = createServer(app.use(router));
const sockets = new Set<Socket>();
let sentByClosed = 0;
let sentBefore = 0;
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => {
    sockets.delete(socket);
    sentByClosed += socket.bytesWritten;
  });
});
server.listen(settings.port, '127.0.0.1', 4_000);
await once(server, 'listening');
const delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();
let longestTurn = 0;
let usedBefore = processorTime();
setInterval(() => {
  const used = processorTime();
  longestTurn = Math.max(longestTurn, used - usedBefore);
  usedBefore = used;
}, 1);

/** Milliseconds of this process. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function sample(): RootSample {
  let sent = sentByClosed;
  for (const socket of sockets) sent += socket.bytesWritten;
  const longestDelay = Math.max(0, delay.max / 1e6 - RESOLUTION);
  const turns = { longestTurn, longestDelay };
  const result = { resident: process.memoryUsage().rss, sent: sent - sentBefore, ...turns, openStreams };
  delay.reset();
  longestTurn = 0;
  sentBefore = sent;
  return result;
}

/** Evaluations of the flags of the population, by application. */
async function countUsage(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let after: string | undefined; ; ) {
    const { items, next } = await flags.usage.list({ hours: 24 }, { limit: 1000, after });
    for (const { flag, application, yes, no } of items) {
      if (flag.startsWith('flag-')) counts[application] = (counts[application] ?? 0) + yes + no;
    }
    if (next === undefined) return counts;
    after = next;
  }
}

answerQuestions(
  {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    createToken: async () =>
      (await flags.tokens.create({ name: 'follower', kind: 'client', environment: 'production' })).secret,
    /** Returns when the change began, by the monotonic clock. */
    change: async (change: number) => {
      const begun = monotonic();
      await setMarker(flags, change);
      return begun;
    },
    sample,
    countUsage,
    connections: () => {
      const found = connections;
      connections = [];
      return found;
    },
  },
  async () => {
    router.close();
    server.close();
    server.closeAllConnections();
    await flags.close();
  },
);
