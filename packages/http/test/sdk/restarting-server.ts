import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { createOn } from '../client/states.js';
import { type Place, startFollowers } from '../followers.js';

export const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

/** A server on one SQLite file and one port, with the flag `checkout` on, and a token of each kind. */
export interface RestartingServer {
  /** Where SDKs are served: by the server itself, or by a follower. */
  readonly url: string;
  /** Where the admin API is. */
  readonly root: string;
  readonly secrets: Readonly<Record<'admin' | 'client' | 'frontend', string>>;
  /** The flags of the running server. */
  readonly flags: () => Flags;
  /** Restarts the server, and the one that serves SDKs. */
  readonly restart: () => Promise<void>;
  /** Resolves as soon as SDKs are served what the server has. */
  readonly untilCurrent: () => Promise<void>;
  /** Closes the followers, which send all of their counts. */
  readonly closeFollowers: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startRestartingServer(place: Place = 'the root'): Promise<RestartingServer> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-sdk-'));
  const start = (port: number) =>
    startLiveServer({
      port,
      router: { auth: 'token' },
      flags: { storage: sqliteStorage(join(directory, 'flags.db')) },
    });
  let server: LiveServer = await start(0);
  const { url: root, port, flags } = server;
  await createOn(flags, { name: 'checkout' });
  await flags.setVariants(PRODUCTION, [{ name: 'blue', payload: { type: 'string', value: '#00f' } }]);
  const admin = (await flags.tokens.create({ name: 'admin', kind: 'admin' })).secret;
  const client = (await flags.tokens.create({ name: 'web', kind: 'client', environment: 'production' })).secret;
  const frontend = (await flags.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' })).secret;
  const followers = await startFollowers(server, place);
  await followers.untilCurrent();
  return {
    url: followers.url,
    root,
    secrets: { admin, client, frontend },
    flags: () => server.flags,
    restart: () =>
      followers.during(async () => {
        await server.stop();
        server = await start(port);
      }),
    untilCurrent: followers.untilCurrent,
    closeFollowers: followers.close,
    async stop() {
      await followers.stop();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
