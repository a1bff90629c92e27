import assert from 'node:assert/strict';
import { memoryStorage, openFlags } from '@flags/core';
import { createApp } from './app.js';

const flags = await openFlags({ storage: memoryStorage() });
const { secret } = await flags.tokens.create({ name: 'check', kind: 'admin' });
const app = createApp(flags);

const created = await app.request('/internal/flags/api/admin/projects/default/features', {
  method: 'POST',
  headers: { authorization: secret, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'checkout' }),
});
assert.equal(created.status, 201);
assert.equal((await flags.listFlags({ project: 'default' })).items.length, 1);
assert.equal(await (await app.request('/')).text(), 'The shop.');

await flags.close();
console.log('ok: Hono serves the flags and its own routes');
