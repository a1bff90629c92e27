import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import request from 'supertest';
import '../src/request.js';
import { EXPRESS_VERSIONS } from '../../http/test/express-versions.js';
import { createHostApp } from '../../http/test/host-app.js';
import { flagsMiddleware } from '../src/flags-middleware.js';

describe('the middleware', () => {
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

  async function createForSeven(flags: Flags): Promise<void> {
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '7' } });
    await flags.enable(PRODUCTION);
  }

  describe.each(EXPRESS_VERSIONS)('request.flags, upon Express $major', (version) => {
    it('evaluates the context of its request', async () => {
      const { app, flags } = await createHostApp({ version });
      await createForSeven(flags);
      app.use(flagsMiddleware(flags, ({ headers }) => ({ userId: `${headers['x-user']}` })));
      app.get('/', (incoming, response) => void response.json(incoming.flags.isEnabled('checkout')));
      expect((await request(app).get('/').set('x-user', '7')).body).toBe(true);
      expect((await request(app).get('/').set('x-user', '8')).body).toBe(false);
      await flags.close();
    });

    it('has the IPv4 address of an IPv4 client of a server that listens on IPv6', async () => {
      const { app, flags } = await createHostApp({ version });
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.addStrategy(PRODUCTION, { name: 'remoteAddress', parameters: { IPs: '127.0.0.0/8' } });
      await flags.enable(PRODUCTION);
      app.use(flagsMiddleware(flags, ({ ip }) => ({ remoteAddress: ip })));
      app.get('/', ({ ip, flags: own }, response) => void response.json([ip, own.isEnabled('checkout')]));
      const server = app.listen(0, '::');
      try {
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const reply = await fetch(`http://127.0.0.1:${port}/`);
        expect(await reply.json()).toEqual(['::ffff:127.0.0.1', true]);
      } finally {
        server.close();
        await flags.close();
      }
    });

    it('evaluates one state for the whole request', async () => {
      const { app, flags } = await createHostApp({ version });
      await createForSeven(flags);
      app.use(flagsMiddleware(flags, () => ({ userId: 7 })));
      app.get('/', async (incoming, response) => {
        const before = incoming.flags.isEnabled('checkout');
        await flags.disable(PRODUCTION);
        response.json([before, incoming.flags.isEnabled('checkout'), flags.isEnabled('checkout', { userId: 7 })]);
      });
      expect((await request(app).get('/')).body).toEqual([true, true, false]);
      await flags.close();
    });

    it('evaluates another environment on demand', async () => {
      const { app, flags } = await createHostApp({ version });
      await createForSeven(flags);
      app.use(flagsMiddleware(flags, () => ({ userId: 7 }), { environment: 'development' }));
      app.get('/', (incoming, response) => void response.json(incoming.flags.isEnabled('checkout')));
      expect((await request(app).get('/')).body).toBe(false);
      await flags.close();
    });

    it("passes errors of the host's function to the host", async () => {
      const { app, flags } = await createHostApp({ version });
      app.use(
        flagsMiddleware(flags, () => {
          throw new Error('no session');
        }),
      );
      app.get('/', (_incoming, response) => void response.json('reached'));
      await request(app).get('/').expect(500);
      await flags.close();
    });
  });
});

describe('versions of Express', () => {
  it('are not loaded by the router, nor are their parsers', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    for (const name of ['express', 'body-parser', 'router']) {
      jest.doMock(
        name,
        () => {
          throw new Error(`${name} was loaded.`);
        },
        { virtual: true },
      );
    }
    jest.isolateModules(() => {
      const { createFlagsRouter } = require('../src/index.js');
      expect(() => createFlagsRouter(flags, { auth: 'none' })).not.toThrow();
      expect(() => require('express')).toThrow('express was loaded.');
    });
  });

  it('are 4 and 5', () => {
    expect(require('express4/package.json').version).toMatch(/^4\./);
    expect(require('express/package.json').version).toMatch(/^5\./);
  });
});
