import type { CorsOptions } from '@flags/express';

/**
 * The environment variables that the reference server reads. Empty ones count as absent. The docstrings are the table
 * in docs/reference/options.md.
 */
export interface ServerVariables {
  /** The port. 0: any free port. Default: `4242`. */
  readonly PORT?: string;
  /** The address to listen on. `0.0.0.0`: reachable from other machines. Default: `127.0.0.1`. */
  readonly HOST?: string;
  /**
   * A SQLite file, which is created if it is missing, `postgres://user:password@host:5432/database`, or `:memory:`.
   * Default: `./flags.db`.
   */
  readonly FLAGS_DB?: string;
  /** `token`: callers need an admin token. `none`: everybody may do everything. Default: `token`. */
  readonly FLAGS_AUTH?: string;
  /**
   * The environment of evaluations whose token names none: `development` or `production`. The first lines name it.
   * Default: `production`.
   */
  readonly FLAGS_ENVIRONMENT?: string;
  /** Origins of pages that use browser SDKs, separated by commas, or `*`. Default: none. */
  readonly FLAGS_CORS?: string;
  /** Origins, separated by commas, whose pages may change flags. Default: none. */
  readonly FLAGS_TRUSTED_ORIGINS?: string;
  /** With `FLAGS_AUTH=none`: further hosts, separated by commas, that requests may name. Default: local hosts. */
  readonly FLAGS_ALLOWED_HOSTS?: string;
  /**
   * An admin token of your own, of at least 32 characters. The log warns if a token with this secret was deleted.
   * Default: created at the first start.
   */
  readonly FLAGS_ADMIN_TOKEN?: string;
  /** `recentContexts` of `openFlags`. Default: 0. */
  readonly FLAGS_RECENT_CONTEXTS?: string;
  /**
   * The receiver of a webhook for each event; the consumer `webhook`. Needs `FLAGS_WEBHOOK_SECRET`. Default: none.
   */
  readonly FLAGS_WEBHOOK_URL?: string;
  /**
   * 24 to 64 random bytes in base64, with or without `whsec_`; several, separated by commas, while it is rotated.
   * Default: none.
   */
  readonly FLAGS_WEBHOOK_SECRET?: string;
  /** An incoming webhook of Slack that gets a message for each change; the consumer `slack`. Default: none. */
  readonly FLAGS_SLACK_URL?: string;
  /** `lease` of both consumers, in milliseconds. Default: 30000. */
  readonly FLAGS_CONSUMER_LEASE?: string;
  /**
   * The address of a server to follow. `FLAGS_DB`, `FLAGS_ENVIRONMENT`, `FLAGS_ADMIN_TOKEN`, `FLAGS_RECENT_CONTEXTS`
   * and the variables of consumers beside it are refused. Default: none.
   */
  readonly FLAGS_UPSTREAM?: string;
  /** The secret of a client token of that server. Default: required to follow. */
  readonly FLAGS_UPSTREAM_TOKEN?: string;
  /** The file with the last flags of that server. Default: `./flags-cache.json`. */
  readonly FLAGS_CACHE?: string;
  /**
   * A secret of 32 to 255 characters with which `/metrics` can be read, without the storage and beside admin tokens.
   * Ignored with `FLAGS_AUTH=none`. Default: none.
   */
  readonly FLAGS_METRICS_TOKEN?: string;
  /** Connections, those of streams included. Further ones are closed at once, and the log warns. Default: 2000. */
  readonly FLAGS_MAX_CONNECTIONS?: string;
}

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
export function readConfig(environment: ServerVariables): ServerConfig {
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

function readStorage(environment: ServerVariables): StorageConfig {
  const stray = (['FLAGS_UPSTREAM_TOKEN', 'FLAGS_CACHE'] as const).find((name) => environment[name]);
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

function readConsumers(environment: ServerVariables): Pick<StorageConfig, 'consumers'> {
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
] as const satisfies readonly (keyof ServerVariables)[];

function readUpstream(environment: ServerVariables): UpstreamConfig {
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
