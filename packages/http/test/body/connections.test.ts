import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Request, Response } from 'express';
import { until } from '../../../../test/until.js';
import type { FlagsRouterOptions } from '../../../express/src/index.js';
import { EXPRESS_VERSIONS, type ExpressVersion } from '../express-versions.js';
import { createHostApp, FLAGS, type HostApp } from '../host-app.js';

const OWNER = '/api/admin/projects/default/users/1/roles/4';

interface Connection {
  readonly socket: Socket;
  readonly host: HostApp;
  /** The latest request, as the host sees it. */
  readonly seen: { request?: Request; response?: Response };
}

interface ConnectionOptions {
  readonly version: ExpressVersion;
  readonly router?: FlagsRouterOptions;
}

async function withConnection(
  { version, router = { auth: 'none' } }: ConnectionOptions,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const seen: Connection['seen'] = {};
  const keep = (request: Request, response: Response, next: () => void) => {
    Object.assign(seen, { request, response });
    next();
  };
  const host = await createHostApp({ version, router, before: [keep] });
  const server = host.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  try {
    await once(socket, 'connect');
    await work({ socket, host, seen });
  } finally {
    socket.destroy();
    server.close();
    await once(server, 'close');
  }
}

function head(line: string, length: number, connection = 'keep-alive'): string {
  const headers = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${length}`];
  return [`${line} HTTP/1.1`, ...headers, `Connection: ${connection}`, '', ''].join('\r\n');
}

describe.each(EXPRESS_VERSIONS)('a connection, on Express $major', (version) => {
  it('may send a body byte by byte', () =>
    withConnection({ version }, async ({ socket }) => {
      const text = '{"name":"checkout"}';
      socket.setNoDelay(true);
      socket.write(head(`POST ${FLAGS}`, text.length, 'close'));
      for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve));
      expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 201 /);
    }));

  it('that closes while its body is read causes a 400, not a fault', () =>
    withConnection({ version }, async ({ socket, host, seen }) => {
      socket.write(`${head(`POST ${FLAGS}`, 100)}{"name":`);
      await until(() => seen.request?.readableFlowing === true);
      socket.destroy();

      await until(() => seen.response?.writableEnded);
      expect(seen.response?.statusCode).toBe(400);
      expect(host.faults).toEqual([]);
    }));

  it('that closes before its body is read changes nothing', async () => {
    let letIn = () => {};
    const admitted = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    const router = { auth: () => admitted.then(() => ({ name: 'Ada' })) };
    await withConnection({ version, router }, async ({ socket, host, seen }) => {
      socket.write(`${head(`POST ${OWNER}`, 100)}{`);
      await until(() => seen.request !== undefined);
      socket.destroy();
      await until(() => seen.request?.destroyed);
      letIn();

      await until(() => seen.response?.writableEnded);
      expect(seen.response?.statusCode).toBe(400);
      expect(await host.flags.listMembers({ project: 'default' })).toEqual([]);
      expect(host.faults).toEqual([]);
    });
  });

  it('serves the next request after a body that was not read', () =>
    withConnection({ version }, async ({ socket }) => {
      const body = 'x'.repeat(2_000_000);
      socket.write(`${head(`DELETE ${FLAGS}/unknown`, body.length)}${body}`);
      socket.write(head(`GET ${FLAGS}`, 0, 'close'));
      const answers = (await socket.toArray()).join('');
      expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['404', '200']);
    }));
});
