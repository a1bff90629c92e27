import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFlags, memoryStorage } from '@flags/core';
import { EXPRESS_VERSIONS } from '../../../http/test/express-versions.js';
import { createFlagsRouter } from '../../src/index.js';
import { requestRaw } from './raw-path.js';

describe.each(EXPRESS_VERSIONS)('repeated slashes in a path, on Express $major', (version) => {
  it.each([
    ['/', '/api//client/features'],
    ['/', '//api/client/features'],
    ['/', '/api/client///features//'],
    ['/', '//api//admin/projects//default/features?limit=1'],
    ['/flags', '/flags//api/client/features'],
    ['/flags', '/flags/api//client/features?project=a'],
  ])('count as one: mounted at %s, %s', async (mount, path) => {
    const flags = await createFlags({ storage: memoryStorage() });
    const router = createFlagsRouter(flags, { auth: 'none' });
    const server = createServer(version.express().use(mount, router)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, body } = await requestRaw(port, path);
    server.close();
    await flags.close();
    expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ features: [] })]);
  });
});

describe('the router without Express', () => {
  it('says at once what to write', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const router = createFlagsRouter(flags, { auth: 'none' }) as unknown as (
      request: Partial<IncomingMessage>,
      response: Partial<ServerResponse>,
    ) => void;
    expect(() => router({ url: '/api/client/features', method: 'GET', headers: {} }, {})).toThrow(
      'createServer(express().use(router))',
    );
    await flags.close();
  });
});
