import Database from 'better-sqlite3';
import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { type LogLine, type ServerProcess, startServer } from './server-process.js';

const TOKEN = 'a-secret-for-this-test-of-32-characters';
const file = databaseOfEachTest();
let server: ServerProcess;

beforeEach(async () => {
  server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: TOKEN });
});

describe('the reference server', () => {
  it('is healthy while its storage answers', async () => {
    const response = await fetch(`${server.url}/health`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('answers unknown paths with JSON', async () => {
    const response = await fetch(`${server.url}/nothing`);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);
  });

  it('answers 400 to a URL that cannot be decoded', async () => {
    const response = await fetch(`${server.url}/api/admin/projects/%E0%A4%A`, { headers: { authorization: TOKEN } });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, expect.stringContaining('json')]);
  });

  it('logs one line per request', async () => {
    const client = adminClient(server.url, TOKEN);
    await client.createFlag('checkout');
    await client.get('/api/admin/projects/default?x=1');
    await server.end('SIGTERM');
    expect(requestsOf(server)).toEqual([
      ['POST', '/api/admin/projects/default/features', 201],
      ['GET', '/api/admin/projects/default?x=[hidden]', 200],
    ]);
  });

  it('keeps tokens out of the log, also those in a path', async () => {
    const client = adminClient(server.url, TOKEN);
    await client.get('/api/admin/projects');
    await fetch(`${server.url}/api/admin/projects`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect((await client.remove(`/api/admin/api-tokens/${encodeURIComponent(TOKEN)}`)).status).toBe(200);
    await server.end('SIGTERM');
    expect(requestsOf(server)).toHaveLength(3);
    expect(server.printed()).not.toContain(TOKEN);
  });

  it('keeps tokens out of the log wherever they are sent, and whatever the answer is', async () => {
    const client = adminClient(server.url, TOKEN);
    const created = await fetch(`${server.url}/api/admin/api-tokens`, {
      method: 'POST',
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ tokenName: 'ops', type: 'admin' }),
    });
    const { secret } = (await created.json()) as { readonly secret: string };
    const name = encodeURIComponent(secret);
    for (const path of [
      `/api/admin/projects?token=${name}`,
      `/api/admin/projects/${name}`,
      `/nothing/${name}`,
      `/api/admin/api-tokens/${name}/more`,
      `/API/admin/API-tokens/${name}`,
      `/api/admin/api%2Dtokens/${name}`,
      `/api/admin/%E0${name}`,
    ]) {
      await client.get(path);
    }
    injectFault(file.path);
    await fetch(`${server.url}/api/admin/projects/default/features`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-token': secret },
      body: JSON.stringify({ name: 'checkout', description: secret }),
    });
    await server.end('SIGTERM');
    expect(requestsOf(server)).toHaveLength(9);
    expect(server.printed()).not.toContain(TOKEN);
    expect(server.printed()).not.toContain(secret.split('.')[1]);
  });
});

describe('a server with FLAGS_CORS', () => {
  it('lets pages of those origins ask for flags, and no others', async () => {
    const origin = 'https://shop.example.org';
    const open = await startServer({ FLAGS_DB: ':memory:', FLAGS_ADMIN_TOKEN: TOKEN, FLAGS_CORS: origin });
    const allowed = async (from: string) => {
      const response = await fetch(`${open.url}/api/frontend`, {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'GET' },
      });
      return response.headers.get('access-control-allow-origin');
    };
    expect(await allowed(origin)).toBe(origin);
    expect(await allowed('https://elsewhere.example.org')).toBeNull();
    await open.end('SIGTERM');
  });
});

describe('a server whose storage fails', () => {
  it('answers 500 with the id under which the log has the cause', async () => {
    injectFault(file.path);
    const response = await adminClient(server.url, TOKEN).createFlag('checkout');
    const { id } = (await response.json()) as { id: string };
    await server.end('SIGTERM');
    const line = server.log().find(({ req }) => req?.id === id);
    expect(response.status).toBe(500);
    expect(line).toMatchObject({
      level: 50,
      res: { statusCode: 500 },
      err: { message: 'injected fault' },
    });
  });

  it('answers 503 where a retry may help, and logs the cause', async () => {
    removeTables(file.path);
    const response = await adminClient(server.url, TOKEN).get('/api/admin/projects');
    await server.end('SIGTERM');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'storage_unavailable' });
    const line = server.log().find(({ res }) => res?.statusCode === 503);
    expect(line).toMatchObject({ level: 50, err: { message: expect.stringContaining('no such table') } });
  });

  it('is not healthy', async () => {
    removeTables(file.path);
    expect((await fetch(`${server.url}/health`)).status).toBe(503);
  });
});

function requestsOf({ log }: ServerProcess) {
  const lines: readonly LogLine[] = log();
  return lines.flatMap(({ req, res }) => (req && res ? [[req.method, req.url, res.statusCode]] : []));
}

function injectFault(path: string): void {
  const database = new Database(path);
  database.exec(`CREATE TRIGGER fault BEFORE INSERT ON flags_events BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
  database.close();
}

function removeTables(path: string): void {
  const database = new Database(path);
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck();
  for (const name of names.all()) database.exec(`DROP TABLE "${String(name)}"`);
  database.close();
}
