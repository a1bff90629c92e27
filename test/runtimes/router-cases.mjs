import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { memoryStorage, openFlags } from '../../packages/core/dist/index.js';
import { createFlagsRouter } from '../../packages/express/dist/index.js';

const express = createRequire(new URL('../../packages/express/package.json', import.meta.url))('express');
const FLAGS = '/api/admin/projects/default/features';

/** The router over HTTP: administration, conditional reads, evaluation and a stream. */
export function declareRouterCases() {
  describe('the router', () => {
    it('creates, switches and reads a flag, and refuses what it cannot grant', () =>
      withServer(async ({ send, flags }) => {
        assert.equal((await send('POST', FLAGS, { name: 'checkout' })).status, 201);
        assert.equal((await send('POST', FLAGS, { name: 'checkout' })).status, 409);
        assert.equal((await send('POST', FLAGS, { name: 'not a name' })).status, 400);
        const environment = `${FLAGS}/checkout/environments/production`;
        assert.equal((await send('POST', `${environment}/strategies`, { name: 'default' })).status, 200);
        assert.equal((await send('POST', `${environment}/on`)).status, 200);
        assert.equal(flags.isEnabled('checkout', {}), true);
      }));

    it('answers 304 to a client that has the current features', () =>
      withServer(async ({ send, flags }) => {
        await flags.createFlag({ project: 'default' }, { name: 'checkout' });
        const first = await send('GET', '/api/client/features');
        assert.equal(first.status, 200);
        assert.deepEqual(
          first.body.features.map(({ name }) => name),
          ['checkout'],
        );
        const again = await send('GET', '/api/client/features', undefined, { 'if-none-match': first.etag });
        assert.equal(again.status, 304);
      }));

    it('streams the features and every change', () =>
      withServer(async ({ url, flags }) => {
        const controller = new AbortController();
        const response = await fetch(`${url}/api/client/streaming`, { signal: controller.signal });
        const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
        let heard = '';
        const hear = async (part) => {
          while (!heard.includes(part)) heard += (await text.read()).value;
        };
        await hear('event:unleash-connected');
        await flags.createFlag({ project: 'default' }, { name: 'later' });
        await hear('"later"');
        controller.abort();
      }));
  });
}

async function withServer(work) {
  const flags = await openFlags({ storage: memoryStorage() });
  const router = createFlagsRouter(flags, { auth: 'none' });
  const server = express().use(router).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const url = `http://127.0.0.1:${server.address().port}`;
    await work({ url, flags, send: (...request) => send(url, ...request) });
  } finally {
    router.close();
    server.closeAllConnections();
    server.close();
    await flags.close();
  }
}

async function send(url, method, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, etag: response.headers.get('etag'), body: isJson ? JSON.parse(text) : text };
}
