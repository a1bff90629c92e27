import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, type FlagsOptions, openFlags } from '@flags/core';
import express from 'express';
import { KEEP_IDLE } from '../../../test/idle-connections.js';
import { until } from '../../../test/until.js';
import { MEMORY } from '../../core/test/storage-kinds.js';
import { createFlagsRouter, type FlagsRouterOptions } from '../../express/src/index.js';
import { startFollower } from '../src/follow-flags.js';
import type { Follower, FollowerOptions } from '../src/index.js';
import { TIMES, type Times } from '../src/times.js';

/** Durations for tests, where another one does not matter. */
const SHORT: Times = {
  ...TIMES,
  request: 1_000,
  backoff: 100,
  tokenCheck: 100,
  unknownToken: 200,
  tokenPause: 5,
  cacheWrite: 20,
  cachedStart: 300,
};

/** A server that listens on one port, and can be killed and started again there. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends all connections at once. */
  stop(): Promise<void>;
}

/** The servers that listen. */
const listening = new Set<Listening>();

/** Serves with Node's own server. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
  endStreams = (): void => undefined,
): Promise<Listening> {
  const server: Server = createServer(KEEP_IDLE, handle).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: given } = server.address() as AddressInfo;
  const own: Listening = {
    url: `http://127.0.0.1:${given}`,
    port: given,
    async stop() {
      if (!listening.delete(own)) return;
      endStreams();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  listening.add(own);
  return own;
}

/** Serves flags, or a follower; by default to callers with tokens. */
export async function serve(
  source: Flags | Follower,
  port = 0,
  options: FlagsRouterOptions = { auth: 'token' },
): Promise<Listening> {
  const router = createFlagsRouter(source, options);
  return listen(express().use(router), port, () => router.close());
}

/** An engine with a server, and a token to follow it. */
export interface Root extends Listening {
  readonly flags: Flags;
  readonly token: string;
  /** Ends the server and the engine. */
  readonly end: () => Promise<void>;
}

export async function startRoot(options: Partial<FlagsOptions> = {}, { open } = MEMORY): Promise<Root> {
  const { storage, dispose } = await open();
  const flags = await openFlags({ storage, ...options });
  const { secret: token } = await flags.tokens.create({ name: 'follower', kind: 'client', environment: 'production' });
  const server = await serve(flags);
  return {
    ...server,
    flags,
    token,
    async end() {
      await server.stop();
      await flags.close();
      await dispose();
    },
  };
}

export const PRODUCTION = { project: 'default', environment: 'production' };

/** Creates a flag that is on for everybody in production. */
export async function createOn(flags: Flags, flag: string): Promise<void> {
  await flags.createFlag(PRODUCTION, { name: flag });
  await flags.addStrategy({ ...PRODUCTION, flag }, { name: 'default' });
  await flags.enable({ ...PRODUCTION, flag });
}

const followers: Follower[] = [];
const errors: unknown[] = [];

/** The errors of all followers of a test. */
export const seenErrors: readonly unknown[] = errors;

/** Follows with short durations. `closeAll` and `endAll` close the follower. */
export async function follow(
  { url, token }: Pick<Root, 'url' | 'token'>,
  options: Partial<FollowerOptions> = {},
  conditions: { readonly times?: Partial<Times>; readonly now?: () => number } = {},
): Promise<Follower> {
  const follower = await startFollower(
    {
      url,
      token,
      usage: { interval: 0 },
      onError: (error) => errors.push(error),
      onProblem: () => undefined,
      ...options,
    },
    { now: conditions.now ?? Date.now, times: { ...SHORT, ...conditions.times } },
  );
  followers.push(follower);
  return follower;
}

/** Closes all followers of a test. */
export async function closeAll(): Promise<void> {
  await Promise.all(followers.splice(0).map((follower) => follower.close()));
  errors.length = 0;
}

/** Closes all followers and all servers, also those that a failed test has left. */
export async function endAll(): Promise<void> {
  await closeAll();
  // The last one first: it may ask those before.
  for (const server of [...listening].reverse()) await server.stop();
}

/** Waits until a flag has this state. */
export function untilEnabled(follower: Follower, flag: string, enabled = true): Promise<void> {
  return until(() => follower.isEnabled(flag) === enabled);
}
