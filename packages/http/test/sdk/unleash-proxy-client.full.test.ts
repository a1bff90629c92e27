import { once } from 'node:events';
import { type ClientFeaturesResponse, InMemStorageProvider, Unleash } from 'unleash-client';
import { UnleashClient } from 'unleash-proxy-client';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { PLACES_IN_LENGTH } from '../followers.js';
import { expectMetricsOf } from './metrics-seen.js';
import { PRODUCTION, type RestartingServer, startRestartingServer } from './restarting-server.js';

let server: RestartingServer;
let client: UnleashClient;
let errors: unknown[];

afterEach(async () => {
  client.stop();
  await server.stop();
  jest.restoreAllMocks();
});

const CASES = PLACES_IN_LENGTH.flatMap((place) =>
  extent({ short: [false], full: [false, true] }).map((usePOSTrequests) => [place, usePOSTrequests] as const),
);

describe.each(CASES)('unleash-proxy-client, served by %s, asking by POST: %s', (place, usePOSTrequests) => {
  beforeEach(async () => {
    // It writes to the console while the server is down.
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    server = await startRestartingServer(place);
    client = new UnleashClient({
      url: `${server.url}/api/frontend`,
      clientKey: server.secrets.frontend,
      appName: 'page',
      // It aborts a request when the next is due: on a busy machine none would finish with a short interval.
      refreshInterval: 0.3,
      metricsInterval: 0.1,
      metricsIntervalInitial: 0,
      usePOSTrequests,
    });
    errors = [];
    client.on('error', (error: unknown) => errors.push(error));
    await client.start();
  });

  it('starts, receives a change, and survives a restart of the server', async () => {
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

  it('gets the evaluations of its context', async () => {
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

  it('gets the same result as unleash-client for a constraint on environment', async () => {
    const names = { default: 'in-default', staging: 'in-staging' };
    for (const [environment, flag] of Object.entries(names)) {
      const ref = { ...PRODUCTION, flag };
      await server.flags().createFlag({ project: 'default' }, { name: flag });
      const constraints = [{ contextName: 'environment', operator: 'IN', values: [environment] }] as const;
      await server.flags().addStrategy(ref, { name: 'default', constraints });
      await server.flags().enable(ref);
    }
    // Both clients send `default` where their configuration names no environment.
    const features = server.flags().configuration().flags as unknown as ClientFeaturesResponse['features'];
    const reference = new Unleash({
      url: 'http://unused.invalid',
      appName: 'page',
      bootstrap: { data: features },
      storageProvider: new InMemStorageProvider(),
      refreshInterval: 0,
      disableMetrics: true,
      skipInstanceCountWarning: true,
    });
    reference.on('error', () => undefined);
    await once(reference, 'ready');
    const expected = Object.values(names).map((name) => reference.isEnabled(name));
    reference.destroy();
    expect(expected).toEqual([true, false]);
    await until(() => client.isEnabled('checkout') && client.getAllToggles().length > 1);
    expect(Object.values(names).map((name) => client.isEnabled(name))).toEqual(expected);
  }, 60_000);

  it('reports usage that every metrics endpoint shows', async () => {
    let evaluations = 0;
    const evaluate = () => {
      evaluations += 1;
      return client.isEnabled('checkout');
    };
    await until(evaluate);
    while (evaluations < 100) evaluate();
    await expectMetricsOf('page', server, { strategies: [], evaluations });
  }, 60_000);

  it('is refused once its token is deleted, and with an unknown one', async () => {
    await until(() => client.isEnabled('checkout'));
    await server.flags().tokens.delete({ token: server.secrets.frontend });
    await until(() => errors.some((error) => JSON.stringify(error).includes('401')));
    // It keeps what it had.
    await server.flags().disable(PRODUCTION);
    await server.untilCurrent();
    expect(client.isEnabled('checkout')).toBe(true);

    client.stop();
    client = new UnleashClient({
      url: `${server.url}/api/frontend`,
      clientKey: 'default:production.0123456789abcdef',
      appName: 'stranger',
      // Its first report starts a timer that outlives stop().
      disableMetrics: true,
      usePOSTrequests,
    });
    errors = [];
    client.on('error', (error: unknown) => errors.push(error));
    await client.start();
    await until(() => errors.some((error) => JSON.stringify(error).includes('401')));
  }, 60_000);
});
