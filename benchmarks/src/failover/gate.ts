import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can be shut. */
export interface Gate {
  readonly port: number;
  /** Ends all connections, and accepts none until `open`. */
  shut(): void;
  open(): void;
  close(): void;
}

export async function startGate(target: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  let isShut = false;
  const server = createServer((from) => {
    if (isShut) return void from.destroy();
    const to = connect(target, '127.0.0.1');
    for (const socket of [from, to]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        from.destroy();
        to.destroy();
      });
    }
    from.pipe(to);
    to.pipe(from);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    shut() {
      isShut = true;
      cut();
    },
    open() {
      isShut = false;
    },
    close() {
      server.close();
      cut();
    },
  };
}
