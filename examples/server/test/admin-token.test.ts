import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { type ServerProcess, startServer } from './server-process.js';

const file = databaseOfEachTest();

describe('the admin token', () => {
  it('is shown at the first start, with a call that works as it is', async () => {
    const server = await startServer({ FLAGS_DB: file.path });
    const [, header, url] = /curl -H "Authorization: (.+)" (\S+)/.exec(server.printed()) ?? [];
    const response = await fetch(String(url), { headers: { authorization: String(header) } });
    expect(response.status).toBe(200);
    expect(url?.startsWith(server.url)).toBe(true);
  });

  it('is not shown again, and the next start says how to get another', async () => {
    const first = await startServer({ FLAGS_DB: file.path });
    const secret = shownSecret(first);
    await first.end('SIGTERM');
    const second = await startServer({ FLAGS_DB: file.path });
    expect(second.printed()).not.toContain(secret);
    expect(second.printed()).toContain('FLAGS_ADMIN_TOKEN=');
    expect((await adminClient(second.url, secret).get('/api/admin/projects')).status).toBe(200);
  });

  it('can be given, at every start anew, and is never printed', async () => {
    const environment = { FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: 'a-secret-of-my-own' };
    const first = await startServer(environment);
    await first.end('SIGTERM');
    const second = await startServer(environment);
    expect((await adminClient(second.url, 'a-secret-of-my-own').get('/api/admin/projects')).status).toBe(200);
    expect(first.printed() + second.printed()).not.toContain('a-secret-of-my-own');
  });

  it('can be given to an instance whose first one was lost', async () => {
    await (await startServer({ FLAGS_DB: file.path })).end('SIGTERM');
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: 'another' });
    expect((await adminClient(server.url, 'another').get('/api/admin/projects')).status).toBe(200);
  });

  it('is needed unless FLAGS_AUTH is none', async () => {
    const closed = await startServer({ FLAGS_DB: ':memory:' });
    expect((await fetch(`${closed.url}/api/admin/projects`)).status).toBe(401);
    const open = await startServer({ FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' });
    expect((await fetch(`${open.url}/api/admin/projects`)).status).toBe(200);
    expect(open.printed()).toContain('FLAGS_AUTH=none');
  });
});

function shownSecret(server: ServerProcess): string {
  const [, secret] = /^ {2}(\*:\*\.\S+)$/m.exec(server.printed()) ?? [];
  if (secret === undefined) throw new Error(`No token was shown: ${server.printed()}`);
  return secret;
}
