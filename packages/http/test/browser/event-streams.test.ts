import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { disconnectBrowser } from '@flags/test-browser';
import express from 'express';
import { until } from '../../../../test/until.js';
import { temporaryDirectory } from '../../../core/test/storage/temporary-directory.js';
import { createFlagsRouter, type FlagsRouterOptions } from '../../../express/src/index.js';
import { endAll, follow, type Listening, serve } from '../../../follower/test/servers.js';
import { switchOn } from '../ofrep/states.js';
import {
  describeInBrowser,
  type FlagPage,
  installedVersion,
  isStream,
  LOOKED_AT,
  type Network,
  openPage,
  servePage,
  startNetwork,
  within,
} from './open-page.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
/** The page of a shop, at another origin than the flags. */
const OPEN: FlagsRouterOptions = { auth: 'token', cors: { origins: '*' } };

it.each(Object.entries(LOOKED_AT))('these tests were looked at with %s %s', (name, version) => {
  expect(installedVersion(name)).toBe(version);
});

describeInBrowser('the page of an application, with OpenFeature and its default options', () => {
  const pages: FlagPage[] = [];
  const networks: Network[] = [];
  const engines: Flags[] = [];
  let flags: Flags;
  let secret: string;

  beforeEach(async () => {
    flags = await open();
    await switchOn(flags, 'checkout');
    secret = (await flags.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' })).secret;
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.close();
    for (const network of networks.splice(0)) await network.stop();
    await endAll();
    for (const engine of engines.splice(0)) await engine.close();
  });
  afterAll(disconnectBrowser);

  async function open(storage = memoryStorage()): Promise<Flags> {
    const engine = await openFlags({ storage });
    engines.push(engine);
    return engine;
  }

  async function connect(...places: readonly Listening[]): Promise<Network> {
    const network = await startNetwork(...places.map(({ port }) => port));
    networks.push(network);
    return network;
  }

  /** Opens a page of another origin, and waits for its stream and the event with which that begins. */
  async function visit({ url, requests, streams }: Network, origin = url): Promise<FlagPage> {
    const page = await openPage(origin, { baseUrl: url, headers: [['Authorization', secret]] });
    pages.push(page);
    expect(await page.isOn()).toBe(true);
    await until(() => streams() === 1 && requests[2]?.status() === 304);
    return page;
  }

  const isOff = (page: FlagPage) => async () => !(await page.isOn());

  it('sees a change within two seconds, and asks for nothing else', async () => {
    const network = await connect(await serve(flags, 0, OPEN));
    const shop = await connect();
    const page = await visit(network, shop.url);
    await flags.disable(PRODUCTION);
    await within(2000, isOff(page));
    await until(() => network.requests.length >= 4);
    expect(network.requests.map(({ path }) => path.split('?')[0])).toEqual([
      '/ofrep/v1/evaluate/flags',
      '/ofrep/v1/event-stream',
      '/ofrep/v1/evaluate/flags',
      '/ofrep/v1/evaluate/flags',
    ]);
  });

  it('sees what has changed while its server restarted, within two seconds of the new stream', async () => {
    const server = await serve(flags, 0, OPEN);
    const network = await connect(server);
    const page = await visit(network);
    await server.stop();
    await flags.disable(PRODUCTION);
    await serve(flags, server.port, OPEN);
    await until(() => network.streams() === 2);
    await within(2000, isOff(page));
    expect(network.requests.length).toBeLessThanOrEqual(10);
  });

  it('backs off when its token is deleted', async () => {
    const network = await connect(await serve(flags, 0, OPEN));
    await visit(network);
    await flags.tokens.delete({ token: secret });
    // Ends the stream before the event.
    await flags.disable(PRODUCTION);
    const refused = () => network.requests.filter(({ status }) => status() === 401);
    await until(() => refused().length === 4);
    const [stream, ...evaluations] = refused().map(({ path, at }) => ({ path, at }));
    expect([stream, ...evaluations].map((one) => isStream(one?.path ?? ''))).toEqual([true, false, false, false]);
    // The stream is not asked for again, and the pauses grow: one second, two, four.
    const [first = 0, second = 0, third = 0] = evaluations.map(({ at }) => at);
    expect(second - first).toBeGreaterThan(1900);
    expect(third - second).toBeGreaterThan(3900);
  });

  it('sees changes behind one address of two nodes, also when one of them ends', async () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'flags.db');
    const [one, other] = [await open(await sqliteStorage(file)), await open(await sqliteStorage(file))];
    flags = one;
    await switchOn(one, 'checkout');
    secret = (await one.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' })).secret;
    await other.refresh();
    const nodes = [await serve(one, 0, OPEN), await serve(other, 0, OPEN)] as const;
    // The stream is at the second node, and the next evaluation at the first one.
    const network = await connect(...nodes);
    const page = await visit(network);
    await one.disable(PRODUCTION);
    await within(3000, isOff(page));
    await nodes[1].stop();
    network.send([nodes[0].port]);
    await one.enable(PRODUCTION);
    await until(() => network.streams() === 2);
    await within(2000, page.isOn);
    expect(network.requests.length).toBeLessThanOrEqual(13);
    for (const engine of engines.splice(0)) await engine.close();
    directory.remove();
  });

  it('sees changes behind one address of two followers, also when one of them ends', async () => {
    const root = await serve(flags);
    const { secret: token } = await flags.tokens.create({ name: 'own', kind: 'client', environment: 'production' });
    const followers = [await follow({ url: root.url, token }), await follow({ url: root.url, token })] as const;
    const places = [await serve(followers[0], 0, OPEN), await serve(followers[1], 0, OPEN)] as const;
    const network = await connect(...places);
    const page = await visit(network);
    await flags.disable(PRODUCTION);
    await within(2000, isOff(page));
    await places[1].stop();
    network.send([places[0].port]);
    await flags.enable(PRODUCTION);
    await until(() => network.streams() === 2);
    await within(2000, page.isOn);
    expect(network.requests.length).toBeLessThanOrEqual(13);
  });

  it('sees changes behind one address of nodes and followers', async () => {
    const root = await serve(flags, 0, OPEN);
    const { secret: token } = await flags.tokens.create({ name: 'own', kind: 'client', environment: 'production' });
    const places = [root];
    for (let nth = 0; nth < 2; nth++) places.push(await serve(await follow({ url: root.url, token }), 0, OPEN));
    const network = await connect(...places);
    const page = await openPage(network.url, { baseUrl: network.url, headers: [['Authorization', secret]] });
    pages.push(page);
    // A follower that does not know the token of the page cannot check a key of the node: the page tries again.
    await until(() => network.streams() >= 1);
    await flags.disable(PRODUCTION);
    await within(2000, isOff(page));
    expect(network.requests.length).toBeLessThanOrEqual(13);
  });

  describe("with a function of the host's", () => {
    /** An application whose users log in by a cookie, or send a bearer token. */
    async function startHost(): Promise<Network> {
      const router = createFlagsRouter(flags, {
        auth: ({ headers }) => {
          const isUser = /user=ada/.test(headers.cookie ?? '') || headers.authorization === 'Bearer of-ada';
          return isUser ? { name: 'ada' } : null;
        },
      });
      const app = express();
      app.get('/page', (request, response) => {
        response.setHeader('set-cookie', 'user=ada; SameSite=Strict; HttpOnly');
        servePage(request, response);
      });
      app.use((request, response, next) => void (servePage(request, response) || next()));
      app.use('/flags', router);
      const server = createServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const network = await startNetwork(port);
      networks.push({
        ...network,
        async stop() {
          router.close();
          server.closeAllConnections();
          server.close();
          await network.stop();
        },
      });
      return { ...network, url: `http://127.0.0.1:${port}` };
    }

    it('sees changes by the stream, with cookies and a relative address', async () => {
      const { url } = await startHost();
      const page = await openPage(url, { baseUrl: '/flags' });
      pages.push(page);
      expect(await page.isOn()).toBe(true);
      await flags.disable(PRODUCTION);
      await within(2000, isOff(page));
    });

    it('opens no stream with a bearer token, and sees changes by `pollInterval`', async () => {
      const { url } = await startHost();
      const network = await connect({ port: Number(new URL(url).port) } as Listening);
      const headers: [string, string][] = [['Authorization', 'Bearer of-ada']];
      const page = await openPage(network.url, { baseUrl: `${network.url}/flags`, headers, pollInterval: 500 });
      pages.push(page);
      expect(await page.isOn()).toBe(true);
      await flags.disable(PRODUCTION);
      await until(isOff(page));
      expect(network.requests.filter(({ path }) => isStream(path))).toEqual([]);
    });
  });
});
