// Starts the built application, switches a flag on over the HTTP API, and reads the page.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';

const port = await freePort();
const url = `http://localhost:${port}`;
const directory = mkdtempSync(join(tmpdir(), 'nextjs-'));
const env = { ...process.env, FLAGS_DB: join(directory, 'flags.db') };
const flags = await openFlags({ storage: sqliteStorage(env.FLAGS_DB) });
const { secret } = await flags.tokens.create({ name: 'check', kind: 'admin' });
await flags.close();
const next = join('node_modules', 'next', 'dist', 'bin', 'next');
const server = spawn(process.execPath, [next, 'start', '--port', `${port}`], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  await until(() => fetch(url).then(() => true));
  assert.match(await textOf('/'), /The old checkout/);
  const admin = '/flags/api/admin/projects/default/features';
  await post(admin, { name: 'checkout' });
  await post(`${admin}/checkout/environments/production/strategies`, { name: 'default' });
  await post(`${admin}/checkout/environments/production/on`, {});
  assert.match(await textOf('/'), /The new checkout/);
  assert.equal((await fetch(`${url}/flags/elsewhere`)).status, 404);

  // The HTML has what the hooks of OpenFeature show, for the user of the request and for nobody else.
  const ofAda = { contextName: 'userId', operator: 'IN', values: ['ada'] };
  await post(admin, { name: 'banner' });
  await post(`${admin}/banner/environments/production/strategies`, { name: 'default', constraints: [ofAda] });
  await setVariants(`${admin}/banner/variants`, [
    { name: 'red', weight: 1000, payload: { type: 'string', value: 'red' } },
  ]);
  await post(`${admin}/banner/environments/production/on`, {});
  const pages = await Promise.all(Array.from({ length: 60 }, (_, n) => textOf('/', n % 2 === 0 ? 'ada' : 'bob')));
  for (const [n, page] of pages.entries()) assert.equal(/<p>The (<!-- -->)?red/.test(page), n % 2 === 0);
} finally {
  server.kill();
  await once(server, 'exit');
  rmSync(directory, { recursive: true });
}
console.log('ok: the page and the route handler share the flags, and the HTML has the flags of its user');

async function post(path, body) {
  const headers = { authorization: secret, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(response.ok, `${path}: ${response.status}`);
}

async function setVariants(path, variants) {
  const headers = { authorization: secret, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'PUT', headers, body: JSON.stringify(variants) });
  assert.ok(response.ok, `${path}: ${response.status}`);
}

async function textOf(path, user = 'bob') {
  return (await fetch(url + path, { headers: { cookie: `user=${user}` } })).text();
}

async function until(condition) {
  while (!(await condition().catch(() => false))) {
    assert.equal(server.exitCode, null, 'the server has ended');
    await setTimeout(100);
  }
}

async function freePort() {
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
