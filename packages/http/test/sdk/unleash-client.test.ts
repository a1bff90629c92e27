import type { EventEmitter } from 'node:events';
import { InMemStorageProvider, Unleash, UnleashEvents } from 'unleash-client';
import { until } from '../../../../test/until.js';
import { PLACES_IN_LENGTH } from '../followers.js';
import { expectMetricsOf } from './metrics-seen.js';
import { PRODUCTION, type RestartingServer, startRestartingServer } from './restarting-server.js';

let server: RestartingServer;
let unleash: Unleash;
let modes: unknown[];
let errors: string[];

function start(type: 'polling' | 'streaming', appName: string, token = server.secrets.client): void {
  unleash = new Unleash({
    url: `${server.url}/api/`,
    appName,
    refreshInterval: 20,
    metricsInterval: 50,
    customHeaders: { Authorization: token },
    storageProvider: new InMemStorageProvider(),
    skipInstanceCountWarning: true,
    experimentalMode: type === 'streaming' ? { type } : { type, format: 'full' },
  });
  modes = [];
  unleash.on(UnleashEvents.Mode, (mode: unknown) => modes.push(mode));
  errors = [];
  // While the server is down, nobody reads them.
  unleash.on(UnleashEvents.Error, (error: Error) => errors.push(error.message));
}

afterEach(async () => {
  unleash.destroy();
  // It has dropped its listeners, but not the running request, whose failure would end the process of the tests.
  const repository: EventEmitter = Reflect.get(unleash, 'repository');
  repository.on(UnleashEvents.Error, () => undefined);
  await server.stop();
});

describe.each(PLACES_IN_LENGTH)('served by %s', (place) => {
  beforeEach(async () => {
    server = await startRestartingServer(place);
  });

  describe.each(['polling', 'streaming'] as const)('unleash-client, %s', (type) => {
    it('starts, receives a change, and survives a restart of the server', async () => {
      start(type, 'node-app');
      await until(() => unleash.isEnabled('checkout'));
      expect(unleash.getVariant('checkout')).toEqual({
        name: 'blue',
        enabled: true,
        feature_enabled: true,
        featureEnabled: true,
        payload: { type: 'string', value: '#00f' },
      });

      await server.flags().disable(PRODUCTION);
      await until(() => !unleash.isEnabled('checkout'));
      await server.flags().enable(PRODUCTION);
      await until(() => unleash.isEnabled('checkout'));

      await server.restart();
      expect(unleash.isEnabled('checkout')).toBe(true);
      await server.flags().disable(PRODUCTION);
      await until(() => !unleash.isEnabled('checkout'));
      expect(modes).toEqual([]);
    }, 60_000);

    it('evaluates segments, constraints and rollouts like the library', async () => {
      const flags = server.flags();
      const { id } = await flags.segments.create({
        name: 'even',
        constraints: [{ contextName: 'n', operator: 'STR_ENDS_WITH', values: ['0', '2', '4', '6', '8'] }],
      });
      const ref = { ...PRODUCTION, flag: 'search' };
      await flags.createFlag({ project: 'default' }, { name: 'search' });
      await flags.addStrategy(ref, {
        name: 'flexibleRollout',
        parameters: { rollout: 50, groupId: 'search', stickiness: 'userId' },
        segments: [id],
      });
      await flags.enable(ref);
      start(type, 'node-app');
      const contexts = Array.from({ length: 200 }, (_, n) => ({ userId: `${n}`, properties: { n: `${n}` } }));
      const expected = contexts.map((context) => flags.isEnabled('search', context));
      expect(new Set(expected).size).toBe(2);
      await until(() => unleash.getFeatureToggleDefinition('search')?.enabled);
      expect(contexts.map((context) => unleash.isEnabled('search', context))).toEqual(expected);
    }, 60_000);

    it('reports usage that every metrics endpoint shows', async () => {
      start(type, `node-${type}`);
      let evaluations = 0;
      const evaluate = () => {
        evaluations += 1;
        return unleash.isEnabled('checkout');
      };
      await until(evaluate);
      while (evaluations < 100) evaluate();
      await expectMetricsOf(`node-${type}`, server, { strategies: ['default', 'flexibleRollout'], evaluations });
    }, 60_000);

    it('is refused with an unknown token, and with its own once that is deleted', async () => {
      start(type, 'stranger', 'default:production.0123456789abcdef');
      await until(() => errors.some((message) => message.includes('responded 401')));
      unleash.destroy();

      start(type, 'guest');
      await until(() => unleash.isEnabled('checkout'));
      await server.flags().tokens.delete({ token: server.secrets.client });
      // Before each change, the server checks the tokens of its streams.
      await server.flags().createFlag({ project: 'default' }, { name: 'other' });
      await until(() => errors.some((message) => message.includes('responded 401')));
      // It keeps what it had.
      await server.flags().disable(PRODUCTION);
      await server.untilCurrent();
      expect(unleash.isEnabled('checkout')).toBe(true);
    }, 60_000);
  });
});
