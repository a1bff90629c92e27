import type { Server } from 'node:http';

/** Stops taking connections, lets requests finish for so many milliseconds, then cuts off the rest. */
export async function closeServer(server: Server, patience: number): Promise<void> {
  // A connection that a request was under way on becomes idle only after it: look again until all are gone.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), patience);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(deadline);
}
