import assert from 'node:assert/strict';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsApi, toFetchHandler } from '@flags/http';
import { changeEverything } from './changes.mjs';

const flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
await changeEverything(flags);
const handle = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
const FEATURES = '/api/admin/projects/default/features';
const patch = [{ op: 'replace', path: '/description', value: 'patched' }];
const changes = [{ op: 'updateFlag', ref: { project: 'default', flag: 'fetched' }, input: { stale: true } }];

assert.equal(await statusOf('POST', FEATURES, { name: 'fetched' }), 201);
assert.equal(await statusOf('POST', FEATURES, { name: 7 }), 400);
assert.equal(await statusOf('GET', '/api/admin/projects?limit=x'), 400);
assert.equal(await statusOf('PATCH', `${FEATURES}/fetched`, patch), 200);
assert.equal(await statusOf('PATCH', `${FEATURES}/fetched`, [{ op: 'none' }]), 400);
assert.equal(await statusOf('POST', '/api/admin/changes', { changes: 7 }), 400);
assert.equal(await statusOf('POST', '/api/admin/changes', { changes }), 200);
assert.equal(await statusOf('GET', '/api/admin/openapi.json'), 200);
assert.equal(await statusOf('POST', '/ofrep/v1/evaluate/flags/a', { context: { targetingKey: 'ada' } }), 200);
await flags.close();
console.log('http without code from strings: ok');

async function statusOf(method, path, body) {
  const headers = { 'content-type': 'application/json' };
  const request = new Request(`http://localhost${path}`, { method, body: JSON.stringify(body), headers });
  return (await handle(request)).status;
}
