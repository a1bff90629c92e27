import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { createOn } from '../client/states.js';

export const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

/** A server on one SQLite file and one port, with the flag `checkout` on, and a token of each kind. */
export interface RestartingServer {
  readonly url: string;
  readonly secrets: Readonly<Record<'admin' | 'client' | 'frontend', string>>;
  /** The flags of the running server. */
  readonly flags: () => Flags;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startRestartingServer(): Promise<RestartingServer> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-sdk-'));
  const start = (port: number) =>
    startLiveServer({
      port,
      router: { auth: 'token' },
      flags: { storage: sqliteStorage(join(directory, 'flags.db')) },
    });
  let server: LiveServer = await start(0);
  const { url, port, flags } = server;
  await createOn(flags, { name: 'checkout' });
  await flags.setVariants(PRODUCTION, [{ name: 'blue', payload: { type: 'string', value: '#00f' } }]);
  const admin = (await flags.createToken({ name: 'admin', kind: 'admin' })).secret;
  const client = (await flags.createToken({ name: 'web', kind: 'client', environment: 'production' })).secret;
  const frontend = (await flags.createToken({ name: 'page', kind: 'frontend', environment: 'production' })).secret;
  return {
    url,
    secrets: { admin, client, frontend },
    flags: () => server.flags,
    async restart() {
      await server.stop();
      server = await start(port);
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
