import { UnleashClient } from 'unleash-proxy-client';
import { until } from '../../../../test/until.js';
import { expectMetricsOf } from './metrics-seen.js';
import { PRODUCTION, type RestartingServer, startRestartingServer } from './restarting-server.js';

let server: RestartingServer;
let client: UnleashClient;

beforeEach(async () => {
  // It tells the console while the server is away.
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  server = await startRestartingServer();
});

afterEach(async () => {
  client.stop();
  await server.stop();
  jest.restoreAllMocks();
});

describe.each([false, true])('unleash-proxy-client, asking by POST: %s', (usePOSTrequests) => {
  beforeEach(async () => {
    client = new UnleashClient({
      url: `${server.url}/api/frontend`,
      clientKey: server.secrets.frontend,
      appName: 'page',
      // It gives up a request when the next is due: on a busy machine a short interval would leave none.
      refreshInterval: 0.3,
      metricsInterval: 0.1,
      metricsIntervalInitial: 0,
      usePOSTrequests,
    });
    client.on('error', () => undefined);
    await client.start();
  });

  it('starts, sees a change after it is made, and goes on over a restart of the server', async () => {
    await until(() => client.isEnabled('checkout'));
    expect(client.getVariant('checkout')).toMatchObject({ name: 'blue', payload: { type: 'string', value: '#00f' } });

    await server.flags().disable(PRODUCTION);
    await until(() => !client.isEnabled('checkout'));
    await server.flags().enable(PRODUCTION);
    await until(() => client.isEnabled('checkout'));

    await server.restart();
    expect(client.isEnabled('checkout')).toBe(true);
    await server.flags().disable(PRODUCTION);
    await until(() => !client.isEnabled('checkout'));
  }, 60_000);

  it('gets the answers for its context', async () => {
    const ref = { ...PRODUCTION, flag: 'search' };
    await server.flags().createFlag({ project: 'default' }, { name: 'search' });
    await server.flags().addStrategy(ref, {
      name: 'default',
      constraints: [
        { contextName: 'userId', operator: 'IN', values: ['7'] },
        { contextName: 'plan', operator: 'IN', values: ['pro'] },
      ],
    });
    await server.flags().enable(ref);
    await client.updateContext({ userId: '7', properties: { plan: 'pro' } });
    await until(() => client.isEnabled('search'));
    await client.updateContext({ userId: '8', properties: { plan: 'pro' } });
    await until(() => !client.isEnabled('search'));
  }, 60_000);

  it('has what it counts in every endpoint of the metrics', async () => {
    await until(() => client.isEnabled('checkout'));
    await expectMetricsOf('page', server, []);
  }, 60_000);
});
