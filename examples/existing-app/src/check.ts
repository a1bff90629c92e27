import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createFlags, memoryStorage } from '@flags/core';
import { createApp } from './app.js';

/** Tests the statements of this example's README over HTTP. */
const flags = await createFlags({ storage: memoryStorage(), due: { run: true } });
const server = createApp(flags, 'a secret for this check').listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const features = '/internal/flags/api/admin/projects/default/features';

await check('nobody gets in without a session', async () => {
  assert.equal((await fetch(origin + features)).status, 401);
});

await check('a login gets a session of its own, and ends the one from before', async () => {
  const before = await logIn('charles', 'babbage');
  const after = await logIn('ada', 'lovelace', before);
  assert.notEqual(after, before);
  assert.equal((await fetch(origin + features, { headers: { cookie: before } })).status, 401);
  assert.equal((await fetch(origin + features, { headers: { cookie: after } })).status, 200);
});

await check('an editor creates a flag, in her own name', async () => {
  const call = await callerNamed('ada', 'lovelace');
  assert.equal((await call('POST', features, { name: 'checkout' })).status, 201);
  const { items: events } = await flags.listEvents({ flag: 'checkout' });
  assert.deepEqual(
    events.map(({ type, actor }) => [type, actor]),
    [['flag-created', 'ada']],
  );
});

await check('a viewer reads the flags, and changes none', async () => {
  const call = await callerNamed('charles', 'babbage');
  assert.equal((await call('GET', `${features}/checkout`)).status, 200);
  assert.equal((await call('DELETE', `${features}/checkout`)).status, 403);
});

await check('an API token is created by neither, and seen by neither', async () => {
  for (const [name, password] of [
    ['ada', 'lovelace'],
    ['charles', 'babbage'],
  ] as const) {
    const call = await callerNamed(name, password);
    const tokens = '/internal/flags/api/admin/api-tokens';
    assert.equal((await call('POST', tokens, { username: 'mine', type: 'admin' })).status, 403);
    assert.equal((await call('GET', tokens)).status, 403);
  }
});

await check('an editor plans a change for later, and a viewer sees it', async () => {
  const call = await callerNamed('ada', 'lovelace');
  const schedules = '/internal/flags/api/admin/schedules';
  const ref = { project: 'default', flag: 'checkout' };
  const changes = [{ op: 'updateFlag', ref, input: { description: 'The new checkout' } }];
  const made = await call('POST', schedules, { changes, at: new Date(Date.now() + 1_000).toISOString() });
  assert.equal(made.status, 201);
  const viewer = await callerNamed('charles', 'babbage');
  const response = await viewer('GET', schedules);
  const seen = (await response.json()) as {
    readonly schedules: readonly { readonly author: { readonly name: string } }[];
  };
  assert.deepEqual(
    seen.schedules.map(({ author }) => author.name),
    ['ada'],
  );
  while ((await flags.getFlag(ref)).description !== 'The new checkout') await setTimeout(50);
});

await check('an editor proposes a change of production, and another one approves it', async () => {
  await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
  const [ada, grace] = [await callerNamed('ada', 'lovelace'), await callerNamed('grace', 'hopper')];
  const admin = '/internal/flags/api/admin';
  const ref = { project: 'default', flag: 'checkout', environment: 'production' };
  const changes = [
    { op: 'addStrategy', ref, input: { name: 'default' } },
    { op: 'enable', ref },
  ];
  const refused = await ada('POST', `${admin}/changes`, { changes });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /approval_required/);
  const made = await ada('POST', `${admin}/proposals`, { changes, reason: 'The new checkout is ready' });
  assert.equal(made.status, 201);
  const { id } = (await made.json()) as { readonly id: string };
  const proposal = `${admin}/proposals/${id}`;
  assert.equal((await ada('POST', `${proposal}/approve`)).status, 409);
  assert.equal((await grace('POST', `${proposal}/approve`)).status, 200);
  assert.equal((await ada('POST', `${proposal}/apply`)).status, 200);
  assert.equal((await flags.getFlag(ref)).environments.find(({ name }) => name === 'production')?.enabled, true);
});

await check('the admin page is beside the router, under a policy of its own', async () => {
  const response = await fetch(`${origin}/internal/flags/ui/projects/default`);
  assert.equal(response.status, 200);
  assert.match(String(response.headers.get('content-security-policy')), /^default-src 'none'/);
  assert.match(await response.text(), /Shop flags/);
});

await check('the rest of the application is as it was', async () => {
  const response = await fetch(origin);
  assert.equal(await response.text(), 'The shop.');
  assert.ok(response.headers.has('content-security-policy'));
});

await check('the server stops while a client streams', async () => {
  const call = await callerNamed('ada', 'lovelace');
  const stream = await call('GET', '/internal/flags/api/admin/event-stream');
  assert.equal(stream.status, 200);
  await flags.close();
  await new Promise((resolve) => server.close(resolve));
  await stream.text().catch(() => undefined);
});

async function check(fact: string, body: () => Promise<void>): Promise<void> {
  await body();
  console.log(`ok: ${fact}`);
}

/** Returns the cookie of the session. */
async function logIn(name: string, password: string, cookie = ''): Promise<string> {
  const headers = { 'content-type': 'application/json', cookie };
  const login = await fetch(`${origin}/login`, { method: 'POST', headers, body: JSON.stringify({ name, password }) });
  return String(login.headers.get('set-cookie')?.split(';')[0]);
}

/** Logs in, and returns a function that sends requests within that session. */
async function callerNamed(name: string, password: string) {
  const headers = { 'content-type': 'application/json' };
  const cookie = await logIn(name, password);
  return (method: string, path: string, body?: unknown) =>
    fetch(origin + path, {
      method,
      headers: { ...headers, cookie },
      body: body === undefined ? null : JSON.stringify(body),
    });
}
