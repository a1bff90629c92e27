import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { startServer } from './server-process.js';

const ROOT = join(__dirname, '../../..');

/** All other tests start what `tsc -b` wrote, most of them in one file. */
describe('the bundle that npm start runs', () => {
  const database = databaseOfEachTest();

  it('is made of the sources, serves the API and the page, and keeps its file', async () => {
    const made = spawnSync(process.execPath, ['scripts/bundle-server.mjs'], { cwd: ROOT, encoding: 'utf8' });
    expect(made).toMatchObject({ status: 0, stderr: '' });
    const secret = 'admin-secret-of-at-least-32-characters';
    const environment = { FLAGS_DB: database.path, FLAGS_ADMIN_TOKEN: secret };
    const server = await startServer(environment, {}, join(ROOT, 'examples/server/bundle/main.cjs'));

    // Node prints no warning before the welcome.
    expect(server.printed()).toMatch(/^The admin page: /);
    const driver = { name: expect.any(String), reason: expect.stringMatching(/^better-sqlite3 .*installed$/) };
    expect(server.log()[0]).toMatchObject({ msg: 'listening', driver });
    expect(existsSync(database.path)).toBe(true);
    const admin = adminClient(server.url, secret);
    await admin.createFlag('checkout');
    expect((await admin.get('/api/admin/projects/default/features/checkout')).status).toBe(200);
    const page = await fetch(`${server.url}/ui/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});
