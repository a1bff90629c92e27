import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError, type ServerConfig } from './config.js';
import { TIMEOUTS } from './timeouts.js';

/**
 * Starts to listen, and resolves when the server accepts connections. Disconnects clients that send too slowly, or do
 * not read their responses, and closes connections beyond `maxConnections` at once.
 *
 * @throws ConfigError when the port or the host is not available
 */
export async function listen(
  app: RequestListener,
  { port, host, maxConnections }: Pick<ServerConfig, 'port' | 'host' | 'maxConnections'>,
  timeouts = TIMEOUTS,
): Promise<Server> {
  const { head, request, silence, check } = timeouts;
  const server = createServer(
    { headersTimeout: head, requestTimeout: request, connectionsCheckingInterval: check },
    app,
  );
  server.timeout = silence;
  server.maxConnections = maxConnections;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw explained(error, { port, host });
  }
  return server;
}

/** Returns the address of a listening server. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function explained(error: unknown, { port, host }: Pick<ServerConfig, 'port' | 'host'>): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError(
        `PORT ${port} is in use on ${host}: stop what runs there, or choose another (PORT=0: any).`,
      );
    case 'EACCES':
      return new ConfigError(`PORT ${port} is not allowed for this user: choose one above 1023.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(`HOST ${JSON.stringify(host)} is no address of this machine: try 127.0.0.1 or 0.0.0.0.`);
    default:
      return error;
  }
}
