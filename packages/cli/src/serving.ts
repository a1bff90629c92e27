import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError, usageError } from './output.js';
import type { CommonOptions } from './session.js';

/** Where a command listens. */
export interface ListenOptions {
  readonly port: string;
  readonly host: string;
}

/** The options of `serve`. */
export interface ServeOptions extends CommonOptions, ListenOptions {
  readonly auth?: 'token' | 'none';
  readonly demo?: boolean;
  readonly follow?: string;
  readonly cache?: string;
}

/** Returns the address of a listening server. */
export function urlOf(server: Server, { host }: ListenOptions): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return ['127.0.0.1', 'localhost', '::1'].includes(host);
}

/** @throws CommandError when the port or the host is not available */
export function listen(server: Server, { port, host }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const advice = isTaken ? `Port ${port} is in use. Choose another one: --port 0` : undefined;
      reject(new CommandError(advice ?? `${host}:${port} cannot be listened on: ${error.message}`));
    });
    if (Number(port) > 65_535) reject(usageError(`--port is a number from 0 to 65535, not ${port}.`));
    else server.listen(Number(port), host, resolve);
  });
}

/** Resolves at Ctrl-C, or when the process is asked to end. */
export function waitForStop(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

/** Ends all connections. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
