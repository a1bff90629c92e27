import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Many connections to one event stream, and the messages that they have received. */
export interface IdleClients {
  /** The number of connections with at least this many messages. */
  withMessages(count: number): number;
  withHeartbeats(count: number): number;
  /** The number of open connections. */
  open(): number;
  leave(): Promise<void>;
}

interface Client {
  readonly socket: Socket;
  messages: number;
  heartbeats: number;
}

/** The number of simultaneous connection attempts: more than a server's backlog would be refused. */
const BATCH = 100;

export async function connectIdle(url: string, count: number): Promise<IdleClients> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const size = Math.min(BATCH, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: size }, () => connectOne(url)))));
  }
  const those = (holds: (client: Client) => boolean) => clients.filter(holds).length;
  return {
    withMessages: (count) => those(({ messages }) => messages >= count),
    withHeartbeats: (count) => those(({ heartbeats }) => heartbeats >= count),
    open: () => those(({ socket }) => !socket.destroyed),
    async leave() {
      const closed = clients.filter(({ socket }) => !socket.destroyed).map(({ socket }) => once(socket, 'close'));
      for (const { socket } of clients) socket.destroy();
      await Promise.all(closed);
    },
  };
}

async function connectOne(url: string): Promise<Client> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const client: Client = { socket, messages: 0, heartbeats: 0 };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    if (chunk.includes('\nevent:')) client.messages += 1;
    if (chunk.includes('\n:\n\n')) client.heartbeats += 1;
  });
  await once(socket, 'connect');
  socket.write('GET /api/client/streaming?environment=production HTTP/1.1\r\nhost: localhost\r\n\r\n');
  return client;
}
