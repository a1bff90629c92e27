import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { FlagsError } from '@flags/core';
import express from 'express';
import { until } from '../../../test/until.js';
import { listen, urlOf } from '../src/listen.js';
import { createMetrics, metricsRoute } from '../src/metrics.js';
import { adminClient } from './admin-client.js';
import { databaseOfEachTest } from './database-file.js';
import { type ServerProcess, startServer } from './server-process.js';

const ADMIN = 'admin-secret-of-at-least-32-characters';
const METRICS = 'metrics-secret-of-at-least-32-characters';

describe('the metrics of a server', () => {
  const file = databaseOfEachTest();
  let server: ServerProcess;
  let admin: ReturnType<typeof adminClient>;

  beforeEach(async () => {
    server = await startServer({ FLAGS_DB: file.path, FLAGS_ADMIN_TOKEN: ADMIN, FLAGS_METRICS_TOKEN: METRICS });
    admin = adminClient(server.url, ADMIN);
  });

  const ask = (path: string, authorization?: string) =>
    fetch(server.url + path, authorization === undefined ? {} : { headers: { authorization } });

  it('are read with an admin token or the token for metrics, and are Prometheus text', async () => {
    for (const authorization of [ADMIN, `Bearer ${ADMIN}`, METRICS, `Bearer ${METRICS}`]) {
      const answer = await ask('/metrics', authorization);
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
        'no-store',
      ]);
      expect(await answer.text()).toMatch(/^flags_stale\{.*\} 0$/m);
    }
  });

  it('are refused to others with 401, in the form of all errors', async () => {
    const created = await admin.post('/api/admin/api-tokens', {
      username: 'web',
      type: 'client',
      environment: 'production',
      projects: ['*'],
    });
    const { secret } = (await created.json()) as { readonly secret: string };
    for (const authorization of [undefined, '', 'Bearer ', secret, METRICS.replace('m', 'M'), `${METRICS}x`]) {
      const answer = await ask('/metrics', authorization);
      const message = 'Send an admin token, or the token in FLAGS_METRICS_TOKEN, in the header Authorization.';
      expect([answer.status, answer.headers.get('www-authenticate'), await answer.json()]).toEqual([
        401,
        'Bearer',
        { name: 'AuthenticationRequired', code: 'unauthenticated', message, details: [{ message }] },
      ]);
    }
    expect((await ask('/api/admin/projects', METRICS)).status).toBe(401);
  });

  it('measure changes, the storage and requests, with the units in their names', async () => {
    expect((await admin.createFlag('checkout')).status).toBe(201);
    const read = async () => (await ask('/metrics', METRICS)).text();
    await until(async () => /^flags_changes_total\{.*flags_event_type="flag-created".*\} 1$/m.test(await read()));
    const text = await read();
    for (const sample of [
      /^flags_wal_size_bytes\{.*\} \d+$/m,
      /^flags_storage_operation_duration_seconds_count\{.*flags_storage_operation="commit".*\} \d+$/m,
      /^http_server_request_duration_seconds_count\{.*http_request_method="POST".*http_response_status_code="201".*\} 1$/m,
    ]) {
      expect(text).toMatch(sample);
    }
    expect(text).not.toMatch(/error_type="5/);
  });

  it('can be read while the storage is away, with the token for metrics; the server lives, and is not ready', async () => {
    for (const path of ['/live', '/ready', '/health']) {
      const answer = await ask(path);
      expect([path, answer.status, await answer.json()]).toEqual([path, 200, { status: 'ok' }]);
    }
    await rm(file.path);
    for (const path of ['/ready', '/health']) {
      const answer = await ask(path);
      expect([path, answer.status, await answer.json()]).toEqual([path, 503, { status: 'unavailable' }]);
    }
    expect((await ask('/live')).status).toBe(200);
    const answer = await ask('/metrics', METRICS);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/^flags_stale\{.*\} 1$/m)]);
  });
});

describe('the metrics of a server whose storage cannot verify tokens', () => {
  it('are refused with the error of the storage, except with the token for metrics', async () => {
    const isAdmin = () => Promise.reject(new FlagsError('storage_unavailable', 'The database is away.'));
    const access = { auth: 'token', metricsToken: METRICS, isAdmin } as const;
    const app = express().get('/metrics', metricsRoute(createMetrics(), access));
    const server = await listen(app, { port: 0, host: '127.0.0.1', maxConnections: 10 });
    const ask = (authorization: string) => fetch(`${urlOf(server)}/metrics`, { headers: { authorization } });
    const refused = await ask(ADMIN);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '1',
      {
        name: 'ServiceUnavailableError',
        code: 'storage_unavailable',
        message: 'The database is away.',
        details: [{ message: 'The database is away.' }],
      },
    ]);
    expect((await ask(METRICS)).status).toBe(200);
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
});
