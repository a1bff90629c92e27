import { setTimeout } from 'node:timers/promises';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { disconnectBrowser } from '@flags/test-browser';
import { until } from '../../../../test/until.js';
import type { FlagsRouterOptions } from '../../../express/src/index.js';
import { endAll, follow, type Listening, serve } from '../../../follower/test/servers.js';
import { switchOn } from '../ofrep/states.js';
import { describeInBrowser, type FlagPage, type Network, openPage, startNetwork, within } from './open-page.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };
const MINUTE = 60_000;

/** An application with a page. Each has flags of its own, because all of them wait at the same time. */
interface Shop {
  readonly flags: Flags;
  readonly secret: string;
  readonly network: Network;
  readonly page: FlagPage;
  readonly places: readonly Listening[];
}

/** In real time: the pauses of the browser and of the provider are what is tested. */
describeInBrowser('the minute after something has happened to the page of an application', () => {
  const options: FlagsRouterOptions = { auth: 'token', cors: { origins: '*' } };
  const shops: Shop[] = [];

  afterEach(async () => {
    for (const { page, network } of shops) {
      await page.close();
      await network.stop();
    }
    await endAll();
    for (const { flags } of shops.splice(0)) await flags.close();
  });
  afterAll(disconnectBrowser);

  async function open(serveAll: (flags: Flags) => Promise<readonly Listening[]>): Promise<Shop> {
    const flags = await openFlags({ storage: memoryStorage() });
    await switchOn(flags, 'checkout');
    const { secret } = await flags.tokens.create({ name: 'page', kind: 'frontend', environment: 'production' });
    const places = await serveAll(flags);
    const network = await startNetwork(...places.map(({ port }) => port));
    const headers: [string, string][] = [['Authorization', secret]];
    const page = await openPage(network.url, { baseUrl: network.url, headers });
    const shop = { flags, secret, network, page, places };
    shops.push(shop);
    await until(() => network.streams() >= 1 && network.requests.at(-1)?.status() !== undefined);
    return shop;
  }

  const alone = async (flags: Flags) => [await serve(flags, 0, options)];

  async function withFollowers(flags: Flags): Promise<readonly Listening[]> {
    const root = await serve(flags, 0, options);
    const { secret: token } = await flags.tokens.create({ name: 'own', kind: 'client', environment: 'production' });
    const followers = [await follow({ url: root.url, token }), await follow({ url: root.url, token })];
    return Promise.all(followers.map((follower) => serve(follower, 0, options)));
  }

  /** The flag is off within two seconds of the new stream, and the page sends at most ten requests in the minute after. */
  async function expectQuietReturn({ network, page }: Shop, streams: number): Promise<void> {
    await until(() => network.streams() > streams);
    const reconnectedAt = network.requests.filter(({ path }) => path.includes('/event-stream')).at(-1)?.at ?? 0;
    await within(2000, async () => !(await page.isOn()));
    await setTimeout(MINUTE - (performance.now() - reconnectedAt));
    const after = network.requests.filter(({ at }) => at >= reconnectedAt);
    expect(after.length).toBeLessThanOrEqual(10);
  }

  it(
    'has at most ten requests, and what has changed',
    async () => {
      const [lost, restarted, moved, deleted] = await Promise.all([
        open(alone),
        open(alone),
        open(withFollowers),
        open(alone),
      ]);

      async function loseNetwork({ network, flags }: Shop): Promise<void> {
        const streams = network.streams();
        network.cut();
        await flags.disable(PRODUCTION);
        await setTimeout(MINUTE);
        network.restore();
        await expectQuietReturn(lost, streams);
      }

      async function restart({ network, flags, places }: Shop): Promise<void> {
        const streams = network.streams();
        await places[0]?.stop();
        await flags.disable(PRODUCTION);
        await setTimeout(5000);
        await serve(flags, places[0]?.port, options);
        await expectQuietReturn(restarted, streams);
      }

      async function moveToOtherFollower({ network, flags, places }: Shop): Promise<void> {
        const streams = network.streams();
        network.send(places.slice(1).map(({ port }) => port));
        network.cut();
        await flags.disable(PRODUCTION);
        network.restore();
        await expectQuietReturn(moved, streams);
      }

      async function deleteToken({ network, flags, secret }: Shop): Promise<void> {
        const before = network.requests.length;
        await flags.tokens.delete({ token: secret });
        await flags.disable(PRODUCTION);
        await setTimeout(MINUTE);
        const after = network.requests.slice(before);
        expect(after.length).toBeLessThanOrEqual(10);
        expect(after.length).toBeGreaterThan(2);
      }

      await Promise.all([loseNetwork(lost), restart(restarted), moveToOtherFollower(moved), deleteToken(deleted)]);
    },
    5 * MINUTE,
  );
});
