import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { listen } from '../src/listen.js';
import { TIMEOUTS, type Timeouts } from '../src/timeouts.js';

const CONFIG = { port: 0, host: '127.0.0.1', database: ':memory:', auth: 'none' } as const;
/** Far longer than a test takes. */
const NEVER: Timeouts = { head: 600_000, request: 600_000, silence: 600_000, check: 10 };
/** More than the buffers of both ends of a connection hold. */
const LARGE = Buffer.alloc(64 * 1024 * 1024);

let server: Server;
let socket: Socket;

async function begin(timeouts: Partial<Timeouts>, text: string): Promise<void> {
  const app: RequestListener = (request, response) => {
    request.resume().on('end', () => response.end(LARGE));
  };
  server = await listen(app, CONFIG, { ...NEVER, ...timeouts });
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
}

/** What a client that reads was answered when it is cut off. */
async function answer(): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.resume();
  await once(socket, 'close');
  return text;
}

afterEach(async () => {
  socket.destroy();
  server.close();
  await once(server, 'close');
});

describe('a client of the reference server', () => {
  it('that does not get to the end of its head is told 408', async () => {
    await begin({ head: 50 }, 'GET /health HTTP/1.1\r\nhost: ');
    expect(await answer()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('that does not get to the end of its body is told 408', async () => {
    await begin({ request: 50, head: 50 }, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n12345');
    expect(await answer()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('that does not read its answer is cut off', async () => {
    await begin({ silence: 50 }, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    socket.pause();
    const [connection] = (await once(server, 'connection')) as [Socket];
    await once(connection, 'close');
    expect((await answer()).length).toBeLessThan(LARGE.length);
  });

  it('that listens to a stream hears signs of life before it would be cut off for silence', () => {
    const heartbeatInterval = 15_000;
    expect(TIMEOUTS.silence).toBeGreaterThan(2 * heartbeatInterval);
  });
});
