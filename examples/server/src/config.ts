import type { CorsOptions } from '@flags/express';

/** The configuration of the reference server, from environment variables. */
export interface ServerConfig {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  readonly auth: 'token' | 'none';
  /** The origins whose pages may use the frontend API and OFREP. Default: the server's own origin. */
  readonly cors?: CorsOptions;
  /** The origins whose pages may change flags. */
  readonly trustedOrigins: readonly string[];
  /** Without authentication: further hosts that requests may name. */
  readonly allowedHosts: readonly string[];
  /** The number of connections, those of streams included. Further ones are closed at once. */
  readonly maxConnections: number;
  /** A secret with which the metrics can be read. */
  readonly metricsToken?: string;
  /** Where the flags are: in a storage, or on another server. */
  readonly source: StorageConfig | UpstreamConfig;
}

/** A storage, with the administration of its flags. */
export interface StorageConfig {
  /** A file, `:memory:`, or the connection string of a PostgreSQL database. */
  readonly database: string;
  /** The environment of evaluations whose callers name none. */
  readonly environment: string;
  /** The secret of an admin token that must exist. */
  readonly adminToken?: string;
  readonly recentContexts?: number;
  readonly consumers?: ConsumersConfig;
}

/** Who gets the events. */
export interface ConsumersConfig {
  readonly webhook?: { readonly url: string; readonly secrets: readonly string[] };
  /** The address of an incoming webhook of Slack. */
  readonly slack?: string;
  /** Milliseconds without a sign of life, after which another node takes over. */
  readonly lease?: number;
}

/** Another server, whose flags this one evaluates and serves. */
export interface UpstreamConfig {
  readonly upstream: string;
  /** The secret of a client token of that server. */
  readonly token: string;
  /** The file with the last flags. */
  readonly cache: string;
}

/** A mistake in the configuration. The message is one line that says how to correct it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the configuration. Absent and empty variables have their defaults.
 *
 * @throws ConfigError naming the variable
 */
export function readConfig(environment: NodeJS.ProcessEnv): ServerConfig {
  return {
    port: readPort(environment.PORT || '4242'),
    host: environment.HOST || '127.0.0.1',
    auth: readAuth(environment.FLAGS_AUTH || 'token'),
    ...(environment.FLAGS_CORS && { cors: { origins: readOrigins(environment.FLAGS_CORS) } }),
    trustedOrigins: readList(environment.FLAGS_TRUSTED_ORIGINS).map(checkOrigin),
    allowedHosts: readList(environment.FLAGS_ALLOWED_HOSTS).map(checkHost),
    maxConnections: readMaxConnections(environment.FLAGS_MAX_CONNECTIONS || '2000'),
    ...(environment.FLAGS_METRICS_TOKEN && { metricsToken: readMetricsToken(environment.FLAGS_METRICS_TOKEN) }),
    source: environment.FLAGS_UPSTREAM ? readUpstream(environment) : readStorage(environment),
  };
}

function readStorage(environment: NodeJS.ProcessEnv): StorageConfig {
  const stray = ['FLAGS_UPSTREAM_TOKEN', 'FLAGS_CACHE'].find((name) => environment[name]);
  if (stray) throw new ConfigError(`${stray} needs FLAGS_UPSTREAM, the address of the server to follow.`);
  const adminToken = environment.FLAGS_ADMIN_TOKEN || undefined;
  return {
    database: environment.FLAGS_DB || './flags.db',
    environment: readEnvironment(environment.FLAGS_ENVIRONMENT || 'production'),
    ...(adminToken !== undefined && { adminToken }),
    ...(environment.FLAGS_RECENT_CONTEXTS && { recentContexts: readRecentContexts(environment.FLAGS_RECENT_CONTEXTS) }),
    ...readConsumers(environment),
  };
}

function readConsumers(environment: NodeJS.ProcessEnv): Pick<StorageConfig, 'consumers'> {
  const url = environment.FLAGS_WEBHOOK_URL;
  const secrets = readList(environment.FLAGS_WEBHOOK_SECRET);
  const slack = environment.FLAGS_SLACK_URL;
  if (url && secrets.length === 0) {
    throw new ConfigError(
      'FLAGS_WEBHOOK_URL needs FLAGS_WEBHOOK_SECRET, with which the receiver checks the signatures: 24 to 64 random bytes in base64.',
    );
  }
  if (!url && secrets.length > 0) throw new ConfigError('FLAGS_WEBHOOK_SECRET needs FLAGS_WEBHOOK_URL, the receiver.');
  if (!url && !slack) {
    if (!environment.FLAGS_CONSUMER_LEASE) return {};
    throw new ConfigError('FLAGS_CONSUMER_LEASE needs a consumer: FLAGS_WEBHOOK_URL or FLAGS_SLACK_URL.');
  }
  const lease = environment.FLAGS_CONSUMER_LEASE && { lease: readLease(environment.FLAGS_CONSUMER_LEASE) };
  return { consumers: { ...(url && { webhook: { url, secrets } }), ...(slack && { slack }), ...(lease || {}) } };
}

function readLease(text: string): number {
  const milliseconds = Number(text);
  if (/^\d{4,8}$/.test(text) && milliseconds >= 1000 && milliseconds <= 86_400_000) return milliseconds;
  throw new ConfigError(
    `FLAGS_CONSUMER_LEASE must be milliseconds from 1000 to 86400000, such as 30000, not ${JSON.stringify(text)}.`,
  );
}

/** The variables of a storage, which a follower does not have. */
const OF_STORAGES = [
  'FLAGS_DB',
  'FLAGS_ENVIRONMENT',
  'FLAGS_ADMIN_TOKEN',
  'FLAGS_RECENT_CONTEXTS',
  'FLAGS_WEBHOOK_URL',
  'FLAGS_WEBHOOK_SECRET',
  'FLAGS_SLACK_URL',
  'FLAGS_CONSUMER_LEASE',
];

function readUpstream(environment: NodeJS.ProcessEnv): UpstreamConfig {
  const upstream = environment.FLAGS_UPSTREAM || '';
  const token = environment.FLAGS_UPSTREAM_TOKEN;
  const stray = OF_STORAGES.find((name) => environment[name]);
  if (stray) {
    throw new ConfigError(
      `${stray} cannot be set beside FLAGS_UPSTREAM: a follower has no storage, and its token determines the environment. Unset one of them.`,
    );
  }
  if (!token) throw new ConfigError(`FLAGS_UPSTREAM_TOKEN must be the secret of a client token of ${upstream}.`);
  return { upstream, token, cache: environment.FLAGS_CACHE || './flags-cache.json' };
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(`PORT must be a whole number from 0 (any free port) to 65535, not ${JSON.stringify(text)}.`);
}

function readRecentContexts(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count <= 1000) return count;
  throw new ConfigError(`FLAGS_RECENT_CONTEXTS must be a whole number from 0 to 1000, not ${JSON.stringify(text)}.`);
}

function readMaxConnections(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count > 0) return count;
  throw new ConfigError(`FLAGS_MAX_CONNECTIONS must be a whole number from 1 to 999999, not ${JSON.stringify(text)}.`);
}

/** The message does not repeat the secret. */
function readMetricsToken(text: string): string {
  if (/^[!-~]{32,255}$/.test(text)) return text;
  throw new ConfigError('FLAGS_METRICS_TOKEN must have 32 to 255 printable characters, and no spaces.');
}

function readOrigins(text: string): CorsOptions['origins'] {
  if (text.trim() === '*') return '*';
  const origins = text.split(',').map((origin) => origin.trim());
  for (const origin of origins) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    throw new ConfigError(
      `FLAGS_CORS must be "*" or origins with commas between them, such as https://shop.example.org (no path, no slash at the end), not ${JSON.stringify(origin)}.`,
    );
  }
  return origins;
}

function readAuth(text: string): 'token' | 'none' {
  if (text === 'token' || text === 'none') return text;
  throw new ConfigError(
    `FLAGS_AUTH must be "token" (callers need an admin token) or "none" (everyone may do everything), not ${JSON.stringify(text)}.`,
  );
}

/** The environments that an engine has by default. */
const ENVIRONMENTS = ['development', 'production'];

function readEnvironment(text: string): string {
  if (ENVIRONMENTS.includes(text)) return text;
  throw new ConfigError(`FLAGS_ENVIRONMENT must be "development" or "production", not ${JSON.stringify(text)}.`);
}

/** Separated by commas. */
function readList(text = ''): readonly string[] {
  return text.split(',').flatMap((item) => item.trim() || []);
}

function checkOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw new ConfigError(
    `FLAGS_TRUSTED_ORIGINS must be origins such as https://admin.example.org, separated by commas, not ${JSON.stringify(text)}.`,
  );
}

function checkHost(text: string): string {
  if (/^(?:\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?$/i.test(text)) return text;
  throw new ConfigError(
    `FLAGS_ALLOWED_HOSTS must be hosts such as flags.example.org, separated by commas, not ${JSON.stringify(text)}.`,
  );
}
