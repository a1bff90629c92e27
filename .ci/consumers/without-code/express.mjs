import assert from 'node:assert/strict';
import { once } from 'node:events';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsRouter, flagsMiddleware } from '@flags/express';
import express from 'express';
import { changeEverything, SECRET } from './changes.mjs';

const flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
await changeEverything(flags);
const app = express();
app.use(createFlagsRouter(flags, { auth: 'token' }));
app.use(flagsMiddleware(flags, () => ({ userId: 'ada' })));
app.get('/page', (request, response) => response.json(request.flags.isEnabled('a')));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;
const headers = { authorization: SECRET, 'content-type': 'application/json' };

assert.equal((await fetch(`${url}/api/client/features`, { headers })).status, 200);
assert.equal((await fetch(`${url}/api/client/metrics`, { method: 'POST', headers, body: '{}' })).status, 400);
assert.equal(typeof (await (await fetch(`${url}/page`)).json()), 'boolean');
server.close();
server.closeAllConnections();
await flags.close();
console.log('express without code from strings: ok');
