import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';

/** What a server process is told first. */
export async function configuration<T>(): Promise<T> {
  const [message] = await once(process, 'message');
  return message;
}

/** Tells the parent where to go, and from then on, whenever it asks, how much processor time was used (in µs). */
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
