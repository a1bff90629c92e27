import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { sharedBrowser, type Visit, visit } from '@flags/test-browser';
import { buildSync } from 'esbuild';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';

/** Tests in a browser: skipped without one. */
export const describeInBrowser = sharedBrowser() === undefined ? describe.skip : describe;

/** The versions that these tests were last looked at with. A later one may behave otherwise: read its source first. */
export const LOOKED_AT: Readonly<Record<string, string>> = {
  '@openfeature/ofrep-web-provider': '0.4.3',
  '@openfeature/web-sdk': '1.10.0',
};

let bundled: string | undefined;

function bundle(): string {
  if (bundled) return bundled;
  const { outputFiles } = buildSync({
    entryPoints: [join(__dirname, 'page.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    mainFields: ['module', 'main'],
  });
  bundled = outputFiles[0]?.text ?? '';
  return bundled;
}

/** Answers the page itself; false for every other path. */
export function servePage({ url }: IncomingMessage, response: ServerResponse): boolean {
  if (url === '/page') response.setHeader('content-type', 'text/html').end('<script src="/page.js"></script>');
  else if (url === '/page.js') response.setHeader('content-type', 'text/javascript').end(bundle());
  else if (url === '/favicon.ico') response.writeHead(204).end();
  else return false;
  return true;
}

/** A page with a flag. */
export interface FlagPage {
  readonly isOn: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Opens the page of an origin, with the provider's default options unless it has others. Resolves when it is ready. */
export async function openPage(
  origin: string,
  options: { readonly baseUrl: string; readonly headers?: readonly [string, string][]; readonly pollInterval?: number },
): Promise<FlagPage> {
  const visited: Visit = await visit(`${origin}/page`);
  // Tests end connections and tokens.
  visited.expectFault(/./);
  await visited.page.evaluate(`start(${JSON.stringify(options)})`);
  return { isOn: () => visited.page.evaluate('isOn()') as Promise<boolean>, close: () => visited.close() };
}

/** One address in front of servers, which take turns. It counts the requests of pages, and can be cut. */
export interface Network {
  readonly url: string;
  /** The requests of pages that have arrived, without preflights and the page itself. */
  readonly requests: readonly {
    readonly path: string;
    readonly at: number;
    readonly status: () => number | undefined;
  }[];
  /** The streams that were opened. */
  readonly streams: () => number;
  readonly send: (ports: readonly number[]) => void;
  readonly cut: () => void;
  readonly restore: () => void;
  readonly stop: () => Promise<void>;
}

export async function startNetwork(...first: readonly number[]): Promise<Network> {
  let ports = first;
  let isCut = false;
  let turn = 0;
  const sockets = new Set<Socket>();
  const requests: { path: string; at: number; status: () => number | undefined }[] = [];
  const server = createServer((incoming, response) => {
    if (servePage(incoming, response)) return;
    const { method = 'GET', url = '/', headers } = incoming;
    let status: number | undefined;
    if (method !== 'OPTIONS') requests.push({ path: url, at: performance.now(), status: () => status });
    const port = ports[turn++ % ports.length];
    const onward = forward({ host: '127.0.0.1', port, path: url, method, headers }, (reply) => {
      status = reply.statusCode;
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.on('error', () => response.destroy());
      reply.on('close', () => reply.complete || response.destroy());
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => {
    if (isCut) return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    streams: () => requests.filter(({ path, status }) => isStream(path) && status() === 200).length,
    send(others) {
      ports = others;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      isCut = false;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function isStream(path: string): boolean {
  return path.includes('/event-stream');
}

/** The short form runs beside other tests, and allows three times as much. */
const TOLERANCE = extent({ short: 3, full: 1 });

/** Resolves when the condition holds. Rejects if that takes longer, in milliseconds. */
export async function within(limit: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  await until(condition);
  const took = Math.round(performance.now() - startedAt);
  if (took > limit * TOLERANCE) throw new Error(`It took ${took} ms, not ${limit} at most.`);
}

/** Returns the installed version of a development dependency. */
export function installedVersion(name: string): string {
  return JSON.parse(readFileSync(join(__dirname, '../../node_modules', name, 'package.json'), 'utf8')).version;
}
