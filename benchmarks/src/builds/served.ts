import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

/** The first message to a server process. */
export async function configuration<T>(): Promise<T> {
  const [message] = await once(process, 'message');
  return message;
}

/** Waits until a server listens, and returns its origin. */
export async function originOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Sends the parent the address, and on every later request the used processor time (in µs). */
export function announce(app: Express, details: object): void {
  void originOf(app.listen(0, '127.0.0.1')).then((origin) => process.send?.({ origin, ...details }));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.on('disconnect', () => process.exit());
}
