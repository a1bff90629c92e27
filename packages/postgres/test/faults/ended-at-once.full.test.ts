import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { postgresStorage } from '../../src/index.js';

/** A message of PostgreSQL's protocol: its type, its length, its payload. */
function message(letter: string, body: string): Buffer {
  const head = Buffer.alloc(5, letter);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const AUTHENTICATED = message('R', '\0\0\0\0');
const READY = message('Z', 'I');
const SHUTDOWN = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

describe('a connection that is ended in the message that made it', () => {
  it('fails the call, and not the process', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTDOWN])));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const opening = postgresStorage(`postgres://postgres@127.0.0.1:${port}/app?sslmode=disable`);
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable' });
    server.close();
    await once(server, 'close');
  });
});
