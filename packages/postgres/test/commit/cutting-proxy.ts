import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** When the proxy cuts a connection that sends COMMIT. */
export type Cut =
  | 'never'
  | 'before the database hears'
  | 'before the client hears'
  | 'for good, before the client hears';

/** A proxy between a client and the database that cuts connections at COMMIT. */
export interface CuttingProxy {
  readonly url: string;
  cut: Cut;
  /** How many commits were cut. */
  cuts: number;
  close(): Promise<void>;
}

/** @param target the connection string of a database that listens on a socket in the file system */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const path = `${new URL(target).searchParams.get('host')}/.s.PGSQL.5432`;
  const server: Server = createServer((client) => {
    const database = connect(path);
    const both = [client, database];
    const end = () => destroy(both);
    for (const socket of both) sockets.add(socket.on('error', end).on('close', end));
    if (proxy.cut === 'for good, before the client hears' && proxy.cuts > 0) end();
    let isCutting = false;
    client.on('data', (chunk) => {
      isCutting ||= proxy.cut !== 'never' && chunk.includes('COMMIT\0');
      if (isCutting) proxy.cuts += 1;
      if (isCutting && proxy.cut === 'before the database hears') end();
      else database.write(chunk);
    });
    database.on('data', (chunk) => {
      if (!isCutting) client.write(chunk);
      else if (proxy.cut === 'for good, before the client hears') destroy(sockets);
      else end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = new URL(target);
  const proxy: CuttingProxy = {
    url: `postgres://postgres@127.0.0.1:${port}${url.pathname}`,
    cut: 'never',
    cuts: 0,
    async close() {
      destroy(sockets);
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

function destroy(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy();
}
