import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inFull } from '../../../test/extent.js';
import { until } from '../../../test/until.js';

const ROOT = join(__dirname, '../../..');

// Packs, unless .ci/run has packed with Node and npm alone, and installs: about half a minute on an idle machine.
jest.setTimeout(15 * 60_000);

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

describe('the build of the container', () => {
  inFull('needs Node and npm alone, and its server answers /live, as a server and as a follower', async () => {
    const work = mkdtempSync(join(tmpdir(), 'flags-container-'));
    const bin = join(work, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    for (const name of ['npm', 'npx']) symlinkSync(join(dirname(process.execPath), name), join(bin, name));
    const { FLAGS_PACKED } = process.env;
    const env = { PATH: bin, HOME: process.env.HOME ?? work, ...(FLAGS_PACKED && { FLAGS_PACKED }) };
    const app = join(work, 'app');
    const built = spawnSync('node', [join(ROOT, 'deploy/build.mjs'), app], { env, encoding: 'utf8' });
    expect({ status: built.status, ...(built.status !== 0 && { output: built.stdout + built.stderr }) }).toEqual({
      status: 0,
    });
    expect(readdirSync(app).toSorted()).toEqual(['dist', 'node_modules', 'package-lock.json', 'package.json']);
    expect(readdirSync(join(app, 'node_modules'))).not.toContain('better-sqlite3');

    const ADMIN = 'an-admin-token-of-at-least-32-characters';
    const server = await start(app, { FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: ADMIN });
    const created = await fetch(`${server.url}/api/admin/api-tokens`, {
      method: 'POST',
      headers: { authorization: ADMIN, 'content-type': 'application/json' },
      body: JSON.stringify({ tokenName: 'follower', type: 'client', environment: 'production', projects: ['*'] }),
    });
    const { secret } = (await created.json()) as { readonly secret: string };
    const cache = join(work, 'cache.json');
    const follower = await start(app, { FLAGS_UPSTREAM: server.url, FLAGS_UPSTREAM_TOKEN: secret, FLAGS_CACHE: cache });
    for (const { url, stop } of [follower, server]) {
      expect((await fetch(`${url}/live`)).status).toBe(200);
      expect(await stop()).toBe(0);
    }
    rmSync(work, { recursive: true });
  });
});

/** Starts the built server on a free port. */
async function start(app: string, variables: Readonly<Record<string, string>>) {
  const env = { PATH: dirname(process.execPath), PORT: '0', ...variables };
  const child = spawn(process.execPath, ['dist/main.js'], { cwd: app, env });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // A follower names the server that it follows first.
  const address = () => /(http:\/\/127\.0\.0\.1:\d+)\/(?:ui|api\/client)\//.exec(output)?.[1];
  await until(() => address() !== undefined || child.exitCode !== null);
  const url = address();
  if (url === undefined) throw new Error(output);
  return {
    url,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
