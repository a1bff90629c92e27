import assert from 'node:assert/strict';
import { GET, POST } from './route.js';

const features = 'http://localhost/flags/api/admin/projects/default/features';
const headers = { 'content-type': 'application/json' };
const created = await POST(new Request(features, { method: 'POST', headers, body: '{"name":"checkout"}' }));
assert.equal(created.status, 201);

const listed = await GET(new Request(features));
assert.equal(listed.status, 200);
assert.match(await listed.text(), /"checkout"/);
assert.equal((await GET(new Request('http://localhost/flags/elsewhere'))).status, 404);
console.log('ok: the route handler serves the flags');
