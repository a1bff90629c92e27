import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../test/until.js';
import { adminClient } from './admin-client.js';
import { endAll, runToEnd, type ServerProcess, startServer } from './server-process.js';

const ADMIN = 'admin-secret-of-at-least-32-characters';
const METRICS = 'metrics-secret-of-at-least-32-characters';

describe('a server that follows another one', () => {
  const directory = mkdtempSync(join(tmpdir(), 'flags-follower-'));
  let upstream: ServerProcess;
  let follower: ServerProcess;
  let environment: Readonly<Record<string, string>>;
  let admin: ReturnType<typeof adminClient>;

  beforeAll(async () => {
    upstream = await startServer({ FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: ADMIN });
    admin = adminClient(upstream.url, ADMIN);
    await admin.createFlag('checkout');
    await admin.post('/api/admin/projects/default/features/checkout/environments/production/strategies', {
      name: 'default',
    });
    const token = await secretOf('client');
    environment = {
      FLAGS_UPSTREAM: upstream.url,
      FLAGS_UPSTREAM_TOKEN: token,
      FLAGS_CACHE: join(directory, 'flags-cache.json'),
      FLAGS_METRICS_TOKEN: METRICS,
    };
    follower = await startServer(environment);
  });

  afterAll(async () => {
    await endAll();
    rmSync(directory, { recursive: true, force: true });
  });

  async function secretOf(type: string): Promise<string> {
    const answer = await admin.post('/api/admin/api-tokens', {
      username: type,
      type,
      environment: 'production',
      projects: ['*'],
    });
    return ((await answer.json()) as { secret: string }).secret;
  }

  /** Returns the names of the flags that are on, as a browser sees them. */
  async function flagsOn(url: string, token: string): Promise<readonly string[]> {
    const answer = await fetch(`${url}/api/frontend`, { headers: { authorization: token } });
    return ((await answer.json()) as { toggles: { name: string }[] }).toggles.map(({ name }) => name);
  }

  it('serves SDKs with their tokens, and each change', async () => {
    const browser = await secretOf('frontend');
    expect(await flagsOn(follower.url, browser)).toEqual([]);
    await admin.post('/api/admin/projects/default/features/checkout/environments/production/on');
    await until(async () => (await flagsOn(follower.url, browser)).includes('checkout'));
    const anonymous = await fetch(`${follower.url}/api/frontend`);
    expect(anonymous.status).toBe(401);
  });

  it('has no administration and no page, and is healthy', async () => {
    const projects = await fetch(`${follower.url}/api/admin/projects`, { headers: { authorization: ADMIN } });
    expect([projects.status, await projects.json()]).toEqual([
      404,
      expect.objectContaining({ message: expect.stringContaining('is a follower') }),
    ]);
    const page = await fetch(`${follower.url}/ui/`);
    expect([page.status, await page.json()]).toEqual([
      404,
      expect.objectContaining({ message: expect.stringContaining('This is a follower') }),
    ]);
    for (const path of ['/health', '/ready']) {
      expect(await (await fetch(follower.url + path)).json()).toMatchObject({ status: 'ok', flags: 'current' });
    }
    expect(await (await fetch(`${follower.url}/live`)).json()).toEqual({ status: 'ok' });
  });

  it('has metrics for its own token, and none for tokens of the other server', async () => {
    const ask = (authorization: string) => fetch(`${follower.url}/metrics`, { headers: { authorization } });
    const answer = await ask(METRICS);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringMatching(/^flags_follower_connected\{.*\} 1$/m),
    ]);
    const refused = await ask(ADMIN);
    expect([refused.status, await refused.json()]).toEqual([
      401,
      expect.objectContaining({ message: 'Send the token in FLAGS_METRICS_TOKEN, in the header Authorization.' }),
    ]);
  });

  it('starts from its file while the other one is away, and ends on SIGTERM', async () => {
    expect(await follower.end('SIGTERM')).toBe(0);
    await upstream.end('SIGKILL');
    const alone = await startServer(environment);
    expect(await (await fetch(`${alone.url}/health`)).json()).toMatchObject({ status: 'ok', flags: 'stale' });
    expect(await alone.end('SIGTERM')).toBe(0);
  });

  it('says in one line that the token is refused', async () => {
    const other = await startServer({ FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: ADMIN });
    const { code, printed } = await runToEnd({ FLAGS_UPSTREAM: other.url, FLAGS_UPSTREAM_TOKEN: 'unknown' });
    expect([code, printed]).toEqual([1, expect.stringMatching(/^FLAGS_UPSTREAM: .* FLAGS_UPSTREAM_TOKEN\.\n$/)]);
  });
});
