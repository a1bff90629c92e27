import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { memoryStorage, openFlags } from '@flags/core';
import { followFlags } from '@flags/follower';
import { createFlagsApi, toNodeHandler } from '@flags/http';
import { changeEverything, REPORT, SECRET } from './changes.mjs';

const flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
await changeEverything(flags);
const server = createServer(toNodeHandler(createFlagsApi(flags, { auth: 'token' }))).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const follower = await followFlags({ url, token: SECRET });
assert.equal(typeof follower.isEnabled('a', { userId: 'ada' }), 'boolean');
assert.equal((await follower.verifyToken(SECRET))?.kind, 'client');
await follower.reportMetrics(REPORT);
await assert.rejects(follower.reportMetrics({}), { code: 'invalid_input' });
await assert.rejects(follower.registerApplication({}), { code: 'invalid_input' });
await assert.rejects(followFlags({ url: 7, token: SECRET }), { code: 'invalid_input' });
await follower.close();
server.close();
server.closeAllConnections();
await flags.close();
console.log('follower without code from strings: ok');
