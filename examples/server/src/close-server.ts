import type { Server } from 'node:http';

/** Stops accepting connections, waits this many milliseconds for requests, then closes the remaining connections. */
export async function closeServer(server: Server, patience: number): Promise<void> {
  // A connection becomes idle only after its running request: checks again until all are closed.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), patience);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(deadline);
}
