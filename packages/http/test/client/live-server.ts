import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Flags, type FlagsOptions, memoryStorage, openFlags } from '@flags/core';
import { KEEP_IDLE } from '../../../../test/idle-connections.js';
import { until } from '../../../../test/until.js';
import { createFlagsRouter, type FlagsRouter, type FlagsRouterOptions } from '../../../express/src/index.js';
import { EXPRESS_5, type ExpressVersion } from '../express-versions.js';

export interface LiveServerOptions {
  readonly version?: ExpressVersion;
  readonly router?: FlagsRouterOptions;
  readonly flags?: Partial<FlagsOptions>;
  readonly port?: number;
  /** The host's error handler. */
  readonly onError?: (error: unknown) => void;
}

/** A listening host, with its flags and its router. */
export interface LiveServer {
  readonly url: string;
  readonly port: number;
  readonly flags: Flags;
  readonly router: FlagsRouter;
  readonly server: Server;
  /** Ends streams, then the server, then the flags. */
  readonly stop: () => Promise<void>;
}

export async function startLiveServer(options: LiveServerOptions = {}): Promise<LiveServer> {
  const { version = EXPRESS_5, router: routerOptions = { auth: 'none' }, port = 0 } = options;
  const flags = await openFlags({ storage: memoryStorage(), ...options.flags });
  const router = createFlagsRouter(flags, routerOptions);
  const app = version.express().use(router);
  app.use((error: unknown, _request: unknown, response: ServerResponse, _next: unknown) => {
    options.onError?.(error);
    if (!response.headersSent) response.statusCode = 500;
    response.end();
  });
  const sockets = new Set<Socket>();
  const server = createServer(KEEP_IDLE, app).listen(port, '127.0.0.1');
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    flags,
    router,
    server,
    async stop() {
      router.close();
      let isClosed = false;
      server.close(() => {
        isClosed = true;
      });
      // Busy clients keep their connections alive: each is ended between two requests. Node does not count one without any
      // request as idle.
      await until(() => {
        server.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
        return isClosed;
      });
      await flags.close();
    },
  };
}
