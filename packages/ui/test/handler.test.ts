import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createFlagsUi, createFlagsUiFetchHandler, type FlagsUiOptions } from '@flags/ui';
import express from 'express';
import helmet from 'helmet';
import { relativeRoot } from '../src/page.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FRAMEWORKS: Record<string, typeof express> = {
  'Express 4': jest.requireActual('express4'),
  'Express 5': express,
};

describe.each(Object.entries(FRAMEWORKS))('the handler under %s', (_, framework) => {
  it.each(['', '/a/b'])('serves the page and its files below "%s", and passes the rest on', async (mount) => {
    const app = framework();
    app.use(helmet());
    app.use(mount || '/', createFlagsUi());
    app.use((_request: unknown, response: { end(text: string): void }) => response.end('host'));
    const url = `${await listen(app)}${mount}`;
    for (const path of ['/ui', '/ui/', '/ui/projects/a', '/ui/projects/a/flags/b%2Fc']) {
      const page = await fetch(url + path);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*trusted-types 'none'$/);
      const files = [...(await page.text()).matchAll(/(?:href|src)="([^"]*assets[^"]*)"/g)].map(([, file]) => file);
      expect(files).toHaveLength(2);
      for (const file of files) expect((await fetch(new URL(file ?? '', url + path))).status).toBe(200);
    }
    expect(await (await fetch(`${url}/uix`)).text()).toBe('host');
  });

  it('redirects from its mount path to the page, also behind a gateway that strips a prefix', async () => {
    const app = framework();
    app.use('/a/b', createFlagsUi());
    app.use((_request: unknown, response: { end(text: string): void }) => response.end('host'));
    const url = await listen(app);
    for (const path of ['/a/b', '/a/b/', '/a/b?x=/y', '/a/b/?x']) {
      const { status, headers } = await fetch(url + path, { redirect: 'manual' });
      expect([path, status]).toEqual([path, 302]);
      const behindGateway = `https://host/prefix${path}`;
      expect(new URL(headers.get('location') ?? '', behindGateway).href).toBe('https://host/prefix/a/b/ui/');
    }
    const page = await fetch(`${url}/a/b`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    expect(await (await fetch(`${url}/a/b`, { method: 'POST' })).text()).toBe('host');
  });

  it('leaves the root of the application to the application', async () => {
    const app = framework();
    app.use(createFlagsUi());
    app.use((_request: unknown, response: { end(text: string): void }) => response.end('host'));
    expect(await (await fetch(`${await listen(app)}/`)).text()).toBe('host');
  });
});

it('redirects from the root of its own server, and from basePath', async () => {
  const own = await listen(createFlagsUi());
  expect((await fetch(own)).url).toBe(`${own}/ui/`);
  const based = await listen(createFlagsUi({ basePath: '/flags' }));
  for (const path of ['/flags', '/flags/']) expect((await fetch(based + path)).url).toBe(`${based}/flags/ui/`);
  expect((await fetch(based)).status).toBe(404);
  const handler = createFlagsUiFetchHandler({ basePath: '/flags' });
  const redirect = await handler(new Request('http://host/flags'));
  expect([redirect?.status, redirect?.headers.get('location')]).toEqual([302, './flags/ui/']);
  expect(await createFlagsUiFetchHandler()(new Request('http://host/'))).toBeUndefined();
});

it('replies 404 for other paths on plain node:http, and finds its mount path with basePath', async () => {
  const url = await listen(createFlagsUi({ basePath: '/internal/flags' }));
  expect((await fetch(`${url}/internal/flags/ui/`)).status).toBe(200);
  expect((await fetch(`${url}/ui/`)).status).toBe(404);
});

it('serves the Fetch API, and leaves other paths to the API', async () => {
  const handler = createFlagsUiFetchHandler({ basePath: '/flags', title: 'Shop' });
  const page = await handler(new Request('http://host/flags/ui/projects/a'));
  expect(await page?.text()).toContain('<title>Shop</title>');
  expect(await handler(new Request('http://host/flags/api/admin/projects'))).toBeUndefined();
});

it('answers 304 while the page is the same, and 405 to writes', async () => {
  const url = `${await listen(createFlagsUi())}/ui/`;
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  expect((await fetch(url, { headers: { 'if-none-match': `W/${etag}` } })).status).toBe(304);
  const post = await fetch(url, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});

describe('the files', () => {
  async function scriptOf(url: string): Promise<string> {
    const [, script] = /src="([^"]+)"/.exec(await (await fetch(`${url}/ui/`)).text()) ?? [];
    return `${url}/ui/${script}`;
  }

  it('are immutable, and encoded as the client accepts', async () => {
    const script = await scriptOf(await listen(createFlagsUi()));
    const texts = new Set<string>();
    const expected = { br: 'br', gzip: 'gzip', identity: null, 'br;q=0, gzip': 'gzip' };
    for (const [accepted, encoding] of Object.entries(expected)) {
      const response = await fetch(script, { headers: { 'accept-encoding': accepted } });
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe(encoding);
      texts.add(await response.text());
    }
    expect(texts.size).toBe(1);
  });

  it('reply 404 for any other name', async () => {
    const url = await listen(createFlagsUi());
    for (const name of ['app-000000000000.js', '__proto__', 'constructor', '..%2fpackage.json']) {
      expect((await fetch(`${url}/ui/assets/${name}`)).status).toBe(404);
    }
  });

  it('are limited to 90 kB of script and 10 kB of styles, compressed with gzip', async () => {
    const url = await listen(createFlagsUi());
    const page = await (await fetch(`${url}/ui/`)).text();
    const [style, script] = [...page.matchAll(/"(assets\/[^"]+)"/g)].map(([, file]) => `${url}/ui/${file}`);
    const sizeOf = async (file = '') =>
      gzipSync(Buffer.from(await (await fetch(file)).arrayBuffer()), { level: 9 }).byteLength;
    expect(await sizeOf(script)).toBeLessThanOrEqual(90_000);
    expect(await sizeOf(style)).toBeLessThanOrEqual(10_000);
  });
});

it('renders hostile options as text', async () => {
  const title = '</title><script>alert(1)</script>';
  const url = await listen(createFlagsUi({ title, banner: { text: '</script><script>alert(1)</script>' } }));
  const page = await (await fetch(`${url}/ui/`)).text();
  expect(page).not.toContain('<script>alert');
  const [, settings = ''] = /id="settings">(.*)<\/script>/.exec(page) ?? [];
  expect(JSON.parse(settings).title).toBe(title);
});

it('sends no content security policy if the host asks for none', async () => {
  const url = await listen(createFlagsUi({ csp: false }));
  expect((await fetch(`${url}/ui/`)).headers.has('content-security-policy')).toBe(false);
});

it.each<[FlagsUiOptions, string | null, boolean]>([
  [{}, 'DENY', true],
  [{ csp: false }, 'DENY', false],
  [{ allowFraming: true }, null, false],
  [{ csp: false, allowFraming: true }, null, false],
])('forbids frames unless the host allows them: %j', async (options, header, isInPolicy) => {
  const { headers } = await fetch(`${await listen(createFlagsUi(options))}/ui/`);
  expect(headers.get('x-frame-options')).toBe(header);
  expect(headers.get('content-security-policy')?.includes("frame-ancestors 'none'") ?? false).toBe(isInPolicy);
});

it.each([
  [{ nonsense: 1 }, 'there is no option nonsense'],
  [{ constructor: 1 }, 'there is no option constructor'],
  [{ title: '' }, 'title must be a non-empty string'],
  [{ signIn: 'javascript:alert(1)' }, 'signIn must be an http or https address'],
  [{ reviewIn: 'production' }, 'reviewIn must be a list'],
  [{ banner: { text: 'x', tone: 'loud' } }, 'banner must be'],
  [{ csp: 'no' }, 'csp must be true or false'],
  [{ allowFraming: 1 }, 'allowFraming must be true or false'],
])('refuses %j', (options, message) => {
  expect(() => createFlagsUi(options as FlagsUiOptions)).toThrow(message);
});

it.each([
  ['', 'ui/'],
  ['/', ''],
  ['/a', ''],
  ['/a/', '../'],
  ['/a/b', '../'],
  ['/a/b/c', '../../'],
])('links from "/ui%s" back by "%s"', (rest, root) => {
  expect(relativeRoot(rest)).toBe(root);
  expect(new URL(`${root}assets/x`, `http://host/mount/ui${rest}`).pathname).toBe('/mount/ui/assets/x');
});
