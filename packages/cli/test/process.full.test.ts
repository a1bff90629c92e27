import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../../../examples/server/test/server-process.js';
import { inFull } from '../../../test/extent.js';
import { temporaryFolder } from './command-line.js';

const BIN = join(__dirname, '../dist/main.js');
const path = temporaryFolder();
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Runs the built command as a separate process. */
function flagsProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(process.execPath, [BIN, ...args], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

it('works on a SQLite file as a process', async () => {
  const env = { FLAGS_STORE: path('flags.db') };
  expect(await flagsProcess(['list'], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no file'),
  });
  expect(await flagsProcess(['migrate'], env)).toMatchObject({ code: 0, err: '' });
  expect(await flagsProcess(['create', 'checkout'], env)).toMatchObject({ code: 0, err: '' });
  expect(await flagsProcess(['on', 'checkout'], env)).toMatchObject({
    code: 3,
    out: expect.stringContaining('enabled off → on'),
  });
  expect((await flagsProcess(['list'], env)).out).toMatch(/^checkout +default +release +off +off/m);
});

inFull('works on the reference server', async () => {
  const secret = 'operator-secret-of-at-least-32-characters';
  const server = await startServer({ PORT: '0', FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: secret });
  const env = { FLAGS_STORE: server.url, FLAGS_TOKEN: secret };
  expect(await flagsProcess(['create', 'checkout'], env)).toMatchObject({ code: 0, err: '' });
  expect(await flagsProcess(['on', 'checkout', '--yes'], env)).toMatchObject({ code: 0 });
  expect((await flagsProcess(['list'], { ...env, FLAGS_STORE: `${server.url}/ui` })).out).toMatch(
    /^checkout .* 100 % /m,
  );
  await server.end('SIGTERM');
});

it('serves sample flags and the admin page at once, and ends cleanly on SIGINT', async () => {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], { env: { PATH: process.env.PATH } });
  running.add(child);
  let out = '';
  const exit = once(child, 'exit');
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    out += String(chunk);
    if (out.includes('Ctrl-C')) break;
  }
  const [, url = ''] = /Admin page {2}(\S+)ui\/$/m.exec(out) ?? [];
  const page = await fetch(`${url}ui/`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  expect((await fetch(url)).url).toBe(`${url}ui/`);
  const { features } = (await (await fetch(`${url}api/admin/features`)).json()) as { features: { name: string }[] };
  expect(features.map(({ name }) => name)).toEqual(['banner', 'checkout', 'pay-later']);
  const usage = await fetch(`${url}api/admin/metrics/usage?flag=checkout&hours=24`);
  expect(((await usage.json()) as { usage: unknown[] }).usage.length).toBeGreaterThan(40);
  child.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
});

it('serves a demo in memory beside a named store, with a token for other machines', async () => {
  const store = path('flags.db');
  const env = { PATH: process.env.PATH, FLAGS_STORE: store };
  const served: unknown[] = [];
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const child = spawn(process.execPath, [BIN, 'serve', '--demo', '--port', '0', '--json', '--host', host], { env });
    running.add(child);
    const exit = once(child, 'exit');
    const [text] = await once(child.stdout, 'data');
    const { url = '', auth, token } = JSON.parse(String(text)) as Record<string, string>;
    const { port } = new URL(url);
    const features = `http://127.0.0.1:${port}/api/admin/features`;
    const anonymous = (await fetch(features)).status;
    const response = await fetch(features, { headers: { authorization: token ?? '' } });
    const { total } = (await response.json()) as { total: number };
    served.push([auth, anonymous, total]);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  }
  expect(served).toEqual([
    ['none', 200, 3],
    ['token', 401, 3],
  ]);
  expect(existsSync(store)).toBe(false);
});

it('serves a store with a token that is created once', async () => {
  const store = path('flags.db');
  const tokens: unknown[] = [];
  for (let start = 0; start < 2; start++) {
    const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--json', '--store', store]);
    running.add(child);
    const exit = once(child, 'exit');
    const [text] = await once(child.stdout, 'data');
    const { url, auth, token } = JSON.parse(String(text)) as Record<string, string>;
    tokens.push(token);
    expect(auth).toBe('token');
    expect((await fetch(`${url}/api/admin/features`)).status).toBe(401);
    const headers = { authorization: tokens[0] as string };
    expect((await fetch(`${url}/api/admin/features`, { headers })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  }
  expect(tokens).toEqual([expect.any(String), undefined]);
});

it('follows a server, and serves SDKs with its tokens', async () => {
  const admin = 'operator-secret-of-at-least-32-characters';
  const server = await startServer({ FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: admin });
  const created = await fetch(`${server.url}/api/admin/api-tokens`, {
    method: 'POST',
    headers: { authorization: admin, 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'followers', type: 'client', environment: 'production', projects: ['*'] }),
  });
  const { secret } = (await created.json()) as { secret: string };
  const follow = ['serve', '--follow', server.url, '--cache', path('flags-cache.json'), '--port', '0', '--json'];
  const child = spawn(process.execPath, [BIN, ...follow, '--token', secret]);
  running.add(child);
  const exit = once(child, 'exit');
  const [text] = await once(child.stdout, 'data');
  const { url, ...about } = JSON.parse(String(text)) as Record<string, string>;
  expect(about).toEqual({ upstream: server.url, environment: 'production', auth: 'token', source: 'upstream' });
  const features = await fetch(`${url}/api/client/features`, { headers: { authorization: secret } });
  expect(await features.json()).toMatchObject({ features: [] });
  child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  await server.end('SIGTERM');
  expect(existsSync(path('flags-cache.json'))).toBe(true);

  const refused = (args: readonly string[]) => flagsProcess(['serve', ...args]);
  expect(await refused(['--follow', server.url])).toMatchObject({ code: 64, err: expect.stringMatching(/--token/) });
  expect(await refused(['--cache', 'x.json'])).toMatchObject({ code: 64, err: expect.stringMatching(/--follow/) });
  const both = await refused(['--follow', server.url, '--token', secret, '--store', ':memory:']);
  expect(both).toMatchObject({ code: 64, err: expect.stringMatching(/leave out --store/) });
});
