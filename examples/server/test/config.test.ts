import { ConfigError, readConfig } from '../src/config.js';

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(readConfig({})).toEqual({
      port: 4242,
      host: '127.0.0.1',
      auth: 'token',
      trustedOrigins: [],
      allowedHosts: [],
      maxConnections: 2000,
      source: { database: './flags.db', environment: 'production' },
    });
  });

  it('is read from the environment', () => {
    const environment = {
      PORT: '0',
      HOST: '0.0.0.0',
      FLAGS_DB: ':memory:',
      FLAGS_AUTH: 'none',
      FLAGS_ENVIRONMENT: 'development',
      FLAGS_ADMIN_TOKEN: 'secret',
      FLAGS_TRUSTED_ORIGINS: 'https://a.example.org, http://localhost:5173,',
      FLAGS_ALLOWED_HOSTS: 'flags.example.org,flags.example.org:8080',
      FLAGS_RECENT_CONTEXTS: '200',
      FLAGS_MAX_CONNECTIONS: '500',
      FLAGS_METRICS_TOKEN: 'metrics-secret-of-at-least-32-characters',
    };
    expect(readConfig(environment)).toEqual({
      port: 0,
      host: '0.0.0.0',
      auth: 'none',
      trustedOrigins: ['https://a.example.org', 'http://localhost:5173'],
      allowedHosts: ['flags.example.org', 'flags.example.org:8080'],
      maxConnections: 500,
      metricsToken: 'metrics-secret-of-at-least-32-characters',
      source: {
        database: ':memory:',
        environment: 'development',
        adminToken: 'secret',
        recentContexts: 200,
      },
    });
  });

  it('has a server to follow in the place of a database', () => {
    const environment = { FLAGS_UPSTREAM: 'http://localhost:4242', FLAGS_UPSTREAM_TOKEN: 'secret' };
    const { source } = readConfig(environment);
    expect(source).toEqual({ upstream: 'http://localhost:4242', token: 'secret', cache: './flags-cache.json' });
    expect(readConfig({ ...environment, FLAGS_CACHE: '/var/flags.json' }).source).toMatchObject({
      cache: '/var/flags.json',
    });
  });

  it.each(['FLAGS_DB', 'FLAGS_ENVIRONMENT', 'FLAGS_ADMIN_TOKEN', 'FLAGS_RECENT_CONTEXTS'])(
    'refuses %s beside a server to follow',
    (name) => {
      const environment = { FLAGS_UPSTREAM: 'http://localhost:4242', FLAGS_UPSTREAM_TOKEN: 'secret', [name]: 'x' };
      expect(() => readConfig(environment)).toThrow(new RegExp(`^${name} cannot be set beside FLAGS_UPSTREAM: `));
    },
  );

  it('refuses half of what following needs', () => {
    expect(() => readConfig({ FLAGS_UPSTREAM: 'http://localhost:4242' })).toThrow(/^FLAGS_UPSTREAM_TOKEN must be /);
    expect(() => readConfig({ FLAGS_UPSTREAM_TOKEN: 'secret' })).toThrow(/^FLAGS_UPSTREAM_TOKEN needs FLAGS_UPSTREAM/);
    expect(() => readConfig({ FLAGS_CACHE: 'flags.json' })).toThrow(/^FLAGS_CACHE needs FLAGS_UPSTREAM/);
  });

  it('has receivers of events', () => {
    const webhook = { FLAGS_WEBHOOK_URL: 'https://example.org/hooks', FLAGS_WEBHOOK_SECRET: 'whsec_a, whsec_b' };
    const slack = { FLAGS_SLACK_URL: 'https://slack.example.org', FLAGS_CONSUMER_LEASE: '5000' };
    expect(readConfig({ ...webhook, ...slack }).source).toMatchObject({
      consumers: {
        webhook: { url: 'https://example.org/hooks', secrets: ['whsec_a', 'whsec_b'] },
        slack: 'https://slack.example.org',
        lease: 5000,
      },
    });
  });

  it.each([
    [{ FLAGS_WEBHOOK_URL: 'https://example.org' }, /^FLAGS_WEBHOOK_URL needs FLAGS_WEBHOOK_SECRET, /],
    [{ FLAGS_WEBHOOK_SECRET: 'whsec_a' }, /^FLAGS_WEBHOOK_SECRET needs FLAGS_WEBHOOK_URL, /],
    [{ FLAGS_CONSUMER_LEASE: '5000' }, /^FLAGS_CONSUMER_LEASE needs a consumer: /],
    [{ FLAGS_SLACK_URL: 'https://a.example', FLAGS_CONSUMER_LEASE: '999' }, /^FLAGS_CONSUMER_LEASE must be milli/],
  ])('refuses %j', (environment, message) => {
    expect(() => readConfig(environment)).toThrow(message);
  });

  it('treats an empty variable like an absent one', () => {
    const empty = { PORT: '', HOST: '', FLAGS_DB: '', FLAGS_AUTH: '', FLAGS_ADMIN_TOKEN: '' };
    expect(readConfig(empty)).toEqual(readConfig({}));
  });

  it.each(['0', '-1', '1e3', 'many'])('refuses %j connections by name', (FLAGS_MAX_CONNECTIONS) => {
    expect(() => readConfig({ FLAGS_MAX_CONNECTIONS })).toThrow(
      /^FLAGS_MAX_CONNECTIONS must be a whole number from 1 /,
    );
  });

  it.each(['short', 'm'.repeat(256), `two words ${'m'.repeat(32)}`])(
    'refuses the token for metrics %j by name, and does not repeat it',
    (FLAGS_METRICS_TOKEN) => {
      expect(() => readConfig({ FLAGS_METRICS_TOKEN })).toThrow(
        /^FLAGS_METRICS_TOKEN must have 32 to 255 printable characters, and no spaces\.$/,
      );
    },
  );

  it.each(['all', '-1', '1001', '1e2'])('refuses %j recent contexts by name', (FLAGS_RECENT_CONTEXTS) => {
    expect(() => readConfig({ FLAGS_RECENT_CONTEXTS })).toThrow(
      /^FLAGS_RECENT_CONTEXTS must be a whole number from 0 /,
    );
  });

  it.each(['http', '-1', '65536', '4242.5', '0x10', ' 80', '1e3'])('refuses the port %j by name', (PORT) => {
    expect(() => readConfig({ PORT })).toThrow(ConfigError);
    expect(() => readConfig({ PORT })).toThrow(/^PORT must be a whole number from 0 .* to 65535, not /);
  });

  it('reads the origins of pages from FLAGS_CORS', () => {
    expect(readConfig({ FLAGS_CORS: '*' }).cors).toEqual({ origins: '*' });
    expect(readConfig({ FLAGS_CORS: 'https://shop.example.org, http://localhost:3000' }).cors).toEqual({
      origins: ['https://shop.example.org', 'http://localhost:3000'],
    });
    expect(readConfig({ FLAGS_CORS: '' })).not.toHaveProperty('cors');
  });

  it.each(['shop', 'https://shop.example.org/', 'https://a.org,,https://b.org', '*,https://a.org', 'https://a.org/x'])(
    'refuses the origins %j by name',
    (FLAGS_CORS) => {
      expect(() => readConfig({ FLAGS_CORS })).toThrow(ConfigError);
      expect(() => readConfig({ FLAGS_CORS })).toThrow(/^FLAGS_CORS must be "\*" or origins /);
    },
  );

  it.each(['basic', 'NONE', 'true'])('refuses the authentication %j by name', (FLAGS_AUTH) => {
    expect(() => readConfig({ FLAGS_AUTH })).toThrow(/^FLAGS_AUTH must be "token" .* or "none" /);
  });

  it.each(['a.example.org', 'https://a.example.org/', '*'])(
    'refuses the origin %j by name',
    (FLAGS_TRUSTED_ORIGINS) => {
      expect(() => readConfig({ FLAGS_TRUSTED_ORIGINS })).toThrow(/^FLAGS_TRUSTED_ORIGINS must be origins such as /);
    },
  );

  it.each(['https://a.example.org', 'a b', '*'])('refuses the host %j by name', (FLAGS_ALLOWED_HOSTS) => {
    expect(() => readConfig({ FLAGS_ALLOWED_HOSTS })).toThrow(/^FLAGS_ALLOWED_HOSTS must be hosts such as /);
  });
});
