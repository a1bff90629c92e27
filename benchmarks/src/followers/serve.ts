import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlagsRouter, type FlagsRouter } from '@flags/express';
import express from 'express';

/** A server on this machine. */
export interface Served {
  readonly url: string;
  readonly router: FlagsRouter;
  close(): Promise<void>;
}

/** Serves an engine, or a follower. Callers need tokens. */
export async function serve(source: Parameters<typeof createFlagsRouter>[0], port = 0): Promise<Served> {
  const router = createFlagsRouter(source, { auth: 'token' });
  const server = createServer(express().disable('x-powered-by').use(router)).listen(port, '127.0.0.1', 2_000);
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    router,
    async close() {
      router.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
