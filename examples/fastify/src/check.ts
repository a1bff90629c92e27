import assert from 'node:assert/strict';
import { memoryStorage, openFlags } from '@flags/core';
import { createApp } from './app.js';

const flags = await openFlags({ storage: memoryStorage() });
const { secret } = await flags.tokens.create({ name: 'check', kind: 'admin' });
const app = createApp(flags);
const origin = await app.listen({ port: 0, host: '127.0.0.1' });

const created = await fetch(`${origin}/internal/flags/api/admin/projects/default/features`, {
  method: 'POST',
  headers: { authorization: secret, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'checkout' }),
});
assert.equal(created.status, 201);
assert.equal((await flags.listFlags({ project: 'default' })).items.length, 1);
assert.equal(await (await fetch(origin)).text(), 'The shop.');
assert.equal((await fetch(`${origin}/elsewhere`)).status, 404);

const client = await flags.tokens.create({ name: 'sdk', kind: 'client', environment: 'production' });
const stream = await fetch(`${origin}/internal/flags/api/client/streaming`, {
  headers: { authorization: client.secret },
});
assert.equal(stream.status, 200);
await app.close();
await stream.text().catch(() => undefined);
await flags.close();
console.log('ok: Fastify serves the flags and its own routes, and stops while a client streams');
