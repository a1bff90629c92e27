import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { memoryStorage, openFlags } from '@flags/core';
import { createApp } from './app.js';
import { renameUser } from './users.js';

/** Tests the statements of this example's README over HTTP. */
const flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
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
  const { items: events } = await flags.events.list({ flag: 'checkout' });
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

const admin = '/internal/flags/api/admin';
const requests = `${admin}/change-requests`;

await check('an editor requests a change for later, and a viewer sees it', async () => {
  const ada = await callerNamed('ada', 'lovelace');
  const ref = { project: 'default', flag: 'checkout' };
  const changes = [{ op: 'updateFlag', ref, input: { description: 'The new checkout' } }];
  const at = new Date(Date.now() + 1_000).toISOString();
  assert.equal((await ada('POST', requests, { changes, at })).status, 201);
  const charles = await callerNamed('charles', 'babbage');
  const response = await charles('GET', requests);
  const seen = (await response.json()) as {
    readonly changeRequests: readonly { readonly author: { readonly name: string } }[];
  };
  assert.deepEqual(
    seen.changeRequests.map(({ author }) => author.name),
    ['ada'],
  );
  assert.equal((await charles('POST', requests, { changes })).status, 403);
  while ((await flags.getFlag(ref)).description !== 'The new checkout') await setTimeout(50);
});

const production = { project: 'default', flag: 'checkout', environment: 'production' };
const launch = [
  { op: 'addStrategy', ref: production, input: { name: 'default' } },
  { op: 'enable', ref: production },
];

await check('an editor requests a change of production, and another one approves what it does', async () => {
  await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
  const [ada, grace] = [await callerNamed('ada', 'lovelace'), await callerNamed('grace', 'hopper')];
  await refused(ada('POST', `${admin}/changes`, { changes: launch }), 'approval_required');
  const made = await ada('POST', requests, { changes: launch, reason: 'The new checkout is ready' });
  assert.equal(made.status, 201);
  const { id, state, effect: first } = (await made.json()) as ChangeRequest;
  assert.equal(state, 'open');
  const request = `${requests}/${id}`;
  await refused(ada('POST', `${request}/apply`), 'approval_required');
  await refused(ada('POST', `${request}/approve`, { effect: first }), 'own_change_request');
  // What somebody has not seen cannot be approved.
  const variants = [{ op: 'setVariants', ref: production, input: [{ name: 'red' }, { name: 'blue' }] }];
  assert.equal((await ada('POST', `${admin}/changes`, { changes: variants })).status, 200);
  await refused(grace('POST', `${request}/approve`, { effect: first }), 'effect_changed');
  const { effect } = (await (await grace('GET', request)).json()) as ChangeRequest;
  assert.equal((await grace('POST', `${request}/approve`, { effect })).status, 200);
  const applied = (await (await ada('POST', `${request}/apply`)).json()) as ChangeRequest;
  assert.equal(applied.state, 'applied');
  assert.equal((await flags.getFlag(production)).environments.find(({ name }) => name === 'production')?.enabled, true);
  await refused(ada('POST', `${request}/withdraw`), 'change_request_not_open');
  // What only switches off needs no approval.
  assert.equal((await ada('POST', `${admin}/changes/${applied.changeSet}/undo`)).status, 200);
});

await check('an editor under a new name is still the author of her request', async () => {
  const ada = await callerNamed('ada', 'lovelace');
  const made = await ada('POST', requests, { changes: launch });
  const { id, effect } = (await made.json()) as ChangeRequest;
  renameUser(1, 'ada king');
  const renamed = await callerNamed('ada king', 'lovelace');
  await refused(renamed('POST', `${requests}/${id}/approve`, { effect }), 'own_change_request');
  await refused(renamed('POST', `${requests}/${id}/reject`), 'own_change_request');
  assert.equal((await renamed('POST', `${requests}/${id}/withdraw`)).status, 200);
  renameUser(1, 'ada');
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

interface ChangeRequest {
  readonly id: string;
  readonly state: string;
  readonly effect: string | null;
  readonly changeSet: string | null;
}

async function refused(call: Promise<Response>, code: string): Promise<void> {
  const response = await call;
  const body = (await response.json()) as { readonly code: string };
  assert.deepEqual([response.status, body.code], [409, code]);
}

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
