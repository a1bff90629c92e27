import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { until } from '../../../../test/until.js';
import { toNodeHandler } from '../../src/adapters/node.js';
import { createFlagsApi } from '../../src/create-flags-api.js';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

describe('a body that is not read', () => {
  let flags: Flags;
  let server: Server;

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    const api = createFlagsApi(flags, {
      auth: ({ headers }: IncomingMessage) => (headers.authorization === 'none' ? null : { name: 'Ada' }),
    });
    server = createServer(toNodeHandler(api)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await flags.close();
  });

  interface Sending {
    readonly bytes: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly isChunked?: boolean;
  }

  /** Sends a body chunk by chunk, in turns of the event loop, so that the server replies before its end. */
  function send(path: string, { bytes, headers = {}, isChunked = false }: Sending): Promise<number | string> {
    return new Promise((resolve) => {
      const length = isChunked ? {} : { 'content-length': `${bytes}` };
      const sent = requestHttp(
        {
          host: '127.0.0.1',
          port: (server.address() as AddressInfo).port,
          path,
          method: 'POST',
          agent: false,
          headers: { 'content-type': 'application/json', connection: 'close', ...length, ...headers },
        },
        (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      let left = bytes;
      const next = () => {
        if (left <= 0) return void sent.end();
        left -= CHUNK.byteLength;
        sent.write(CHUNK.subarray(0, Math.min(CHUNK.byteLength, left + CHUNK.byteLength)), () => setTimeout(next, 1));
      };
      next();
    });
  }

  it.each<[string, number, string, Omit<Sending, 'bytes'>]>([
    ['is larger than its route takes', 413, '/api/frontend', {}],
    ['is larger than its route takes, without a length', 413, '/api/frontend', { isChunked: true }],
    ['belongs to no route', 404, '/api/admin/nowhere', {}],
    ['comes from a stranger', 401, '/api/admin/projects', { headers: { authorization: 'none' } }],
    ['is not JSON by its type', 415, '/api/admin/projects', { headers: { 'content-type': 'text/plain' } }],
    ['is ignored by its route', 404, '/api/admin/archive/revive/nothing', {}],
  ])('never costs its client the reply: it %s', async (_why, status, path, sending) => {
    for (let time = 0; time < 10; time++) expect(await send(path, { bytes: MIB, ...sending })).toBe(status);
  });

  it('is discarded within a bound', async () => {
    const bytes = 64 * MIB;
    let received = 0;
    server.on('connection', (socket) => socket.on('close', () => (received = socket.bytesRead)));
    await send('/api/frontend', { bytes });
    await until(() => received > 0);
    expect(received).toBeLessThan(bytes / 2);
  });
});
