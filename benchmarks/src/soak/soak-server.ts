import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsRouter } from '@flags/express';
import express from 'express';
import { placeAt } from '../population.js';

/** The options of a process. */
export interface NodeSettings {
  readonly file: string;
  readonly clock: { readonly start: number; readonly haste: number };
  /** Milliseconds of that clock. */
  readonly retention: number;
}

/** The state of a process. */
export interface NodeSample {
  /** Bytes, after the garbage was collected. */
  readonly heap: number;
  readonly buffers: number;
  readonly resident: number;
  /** Sockets, timers, and other active resources. */
  readonly handles: number;
  /** The delay of the event loop since the previous sample, in milliseconds. */
  readonly delay: { readonly median: number; readonly p99: number; readonly longest: number };
  /** Microseconds of processor time, since its start. */
  readonly processorTime: number;
  /** Evaluations in this process, since its start. */
  readonly evaluations: number;
}

const MILLISECOND = 1e6;
/** Evaluations in a row, a hundred times a second. */
const EVALUATIONS = 500;

const [settings] = (await once(process, 'message')) as [NodeSettings];
const { file, clock, retention } = settings;
const now = () => new Date(clock.start + (Date.now() - clock.start) * clock.haste);
const flags = await openFlags({ storage: sqliteStorage(file), now, usage: { retention } });
const router = createFlagsRouter(flags, { auth: 'none' });
const server = createServer(express().use(router)).listen(0, '127.0.0.1');
await once(server, 'listening');

let evaluations = 0;
const evaluating = setInterval(() => {
  for (let call = 0; call < EVALUATIONS; call++) {
    flags.isEnabled(placeAt(call % 600).flag, { userId: `${evaluations % 1000}` }, { environment: 'development' });
    evaluations += 1;
  }
}, 10);

/** Milliseconds between two samples of the loop, which the histogram counts as delay. */
const RESOLUTION = 10;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();

function sample(): NodeSample {
  const lateness = [delay.percentile(50), delay.percentile(99), delay.max].map(toMilliseconds);
  const [median = 0, p99 = 0, longest = 0] = lateness;
  globalThis.gc?.();
  delay.reset();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    heap: heapUsed,
    buffers: arrayBuffers,
    resident: rss,
    handles: process.getActiveResourcesInfo().length,
    delay: { median, p99, longest },
    processorTime: user + system,
    evaluations,
  };
}

function toMilliseconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / MILLISECOND - RESOLUTION);
}

async function stop(): Promise<void> {
  clearInterval(evaluating);
  router.close();
  server.close();
  server.closeAllConnections();
  await flags.close();
  process.disconnect();
}

process.on('message', (message) => {
  if (message === 'sample') process.send?.(sample());
  if (message === 'stop') void stop();
});
process.send?.({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
