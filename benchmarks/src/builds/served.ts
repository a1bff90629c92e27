import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

/** The first message to a server process. */
export async function configuration<T>(): Promise<T> {
  const [message] = await once(process, 'message');
  return message;
}

/** Sends the parent the address, and on every later request the used processor time (in µs). */
export function announce(app: Express, details: object): void {
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ origin: `http://127.0.0.1:${port}`, ...details });
  });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.on('disconnect', () => process.exit());
}
