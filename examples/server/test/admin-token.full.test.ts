import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import Database from 'better-sqlite3';
import { inFull } from '../../../test/extent.js';
import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { type ServerProcess, startServer } from './server-process.js';

const OWN = 'a-secret-of-my-own-with-32-characters';
const file = databaseOfEachTest();

describe('the admin token', () => {
  it('is shown at the first start, with a call that works', async () => {
    const server = await startServer({ FLAGS_DB: file.path });
    const [, header, url] = /curl -H 'Authorization: (.+)' (\S+)/.exec(server.printed()) ?? [];
    const response = await fetch(String(url), { headers: { authorization: String(header) } });
    expect(response.status).toBe(200);
    expect(url?.startsWith(server.url)).toBe(true);
  });

  it('is not shown again; the next start says how to create another', async () => {
    const first = await startServer({ FLAGS_DB: file.path });
    const secret = shownSecret(first);
    await first.end('SIGTERM');
    const second = await startServer({ FLAGS_DB: file.path });
    expect(second.printed()).not.toContain(secret);
    expect(second.printed()).toContain('FLAGS_ADMIN_TOKEN=');
    expect((await adminClient(second.url, secret).get('/api/admin/projects')).status).toBe(200);
  });

  it('can be given at every start, and is never printed', async () => {
    const environment = { FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: OWN };
    const first = await startServer(environment);
    await first.end('SIGTERM');
    const second = await startServer(environment);
    expect((await adminClient(second.url, OWN).get('/api/admin/projects')).status).toBe(200);
    expect(first.printed() + second.printed()).not.toContain(OWN);
  });

  inFull('can be given to an instance whose first one was lost', async () => {
    await (await startServer({ FLAGS_DB: file.path })).end('SIGTERM');
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: OWN });
    expect((await adminClient(server.url, OWN).get('/api/admin/projects')).status).toBe(200);
  });

  inFull('can be replaced by another given one, and both are accepted', async () => {
    const other = `another-${OWN}`;
    await (await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: OWN })).end('SIGTERM');
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: other });
    for (const secret of [OWN, other]) {
      expect((await adminClient(server.url, secret).get('/api/admin/projects')).status).toBe(200);
    }
  });

  inFull('stays deleted when it is given again, and the log says what to do', async () => {
    const first = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: OWN });
    expect((await adminClient(first.url, OWN).remove(`/api/admin/api-tokens/${OWN}`)).status).toBe(200);
    await first.end('SIGTERM');
    const second = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: OWN });
    expect((await adminClient(second.url, OWN).get('/api/admin/projects')).status).toBe(401);
    await second.end('SIGTERM');
    expect(second.log()).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringMatching(/^FLAGS_ADMIN_TOKEN .* was deleted/) }),
    );
  });

  inFull('is accepted with a short secret that was stored before', async () => {
    const flags = await openFlags({ storage: sqliteStorage(file.path) });
    await flags.tokens.create({ name: 'admin by configuration', kind: 'admin', secret: OWN });
    await flags.close();
    const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');
    const database = new Database(file.path);
    const [long, short] = [hash(OWN), hash('short')];
    database
      .prepare(
        `UPDATE flags_documents SET id = substr(@short, 1, 32),
           body = replace(replace(body, @long, @short), substr(@long, 1, 32), substr(@short, 1, 32))
         WHERE kind = 'token'`,
      )
      .run({ long, short });
    database.close();
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: 'short' });
    expect((await adminClient(server.url, 'short').get('/api/admin/projects')).status).toBe(200);
  });

  it('is needed unless FLAGS_AUTH is none', async () => {
    const closed = await startServer({ FLAGS_DB: ':memory:' });
    expect((await fetch(`${closed.url}/api/admin/projects`)).status).toBe(401);
    const open = await startServer({ FLAGS_DB: ':memory:', FLAGS_AUTH: 'none' });
    expect((await fetch(`${open.url}/api/admin/projects`)).status).toBe(200);
    expect(open.printed()).toContain('FLAGS_AUTH=none');
  });
});

describe('a server without authentication', () => {
  it('refuses pages of other origins, and hosts other than its own and the configured ones', async () => {
    const server = await startServer({
      FLAGS_DB: ':memory:',
      FLAGS_AUTH: 'none',
      FLAGS_TRUSTED_ORIGINS: 'https://admin.example.org, http://localhost:5173',
      FLAGS_ALLOWED_HOSTS: 'flags.example.org',
    });
    const post = async (headers: Readonly<Record<string, string>>) => {
      const asked = request(`${server.url}/api/admin/projects`, { method: 'POST', headers });
      const [response] = (await once(asked.end('{}'), 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    expect(await post({})).toBe(400);
    expect(await post({ origin: 'http://localhost:5173' })).toBe(400);
    expect(await post({ origin: 'http://localhost:3000' })).toBe(403);
    expect(await post({ host: 'flags.example.org' })).toBe(400);
    expect(await post({ host: 'rebound.example.org' })).toBe(403);
  });
});

function shownSecret(server: ServerProcess): string {
  const [, secret] = /^ {2}(\*:\*\.\S+)$/m.exec(server.printed()) ?? [];
  if (secret === undefined) throw new Error(`No token was shown: ${server.printed()}`);
  return secret;
}
