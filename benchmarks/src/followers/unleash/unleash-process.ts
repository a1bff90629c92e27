import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { freePort } from '../../free-port.js';
import { until } from '../until.js';
import type { Programs } from './releases.js';

/** A response of the admin API. */
export interface AdminResponse {
  readonly ok: boolean;
  readonly status: number;
  /** The parsed JSON, or the text. */
  readonly body: unknown;
}

/** A running Unleash server. */
export interface UnleashServer {
  /** Where its `/api/client` begins. */
  readonly url: string;
  /** Sends a request to the admin API: `ask('POST /api/admin/segments', { … })`. */
  ask(request: string, body?: unknown): Promise<AdminResponse>;
  /** @returns the secret */
  createToken(token: { readonly type: 'client' | 'frontend'; readonly environment: string }): Promise<string>;
  deleteToken(secret: string): Promise<void>;
  close(): Promise<void>;
}

const ADMIN_TOKEN = '*:*.benchmark-of-followers';
const PATIENCE = 90_000;

/** @param database the connection string of an empty database */
export async function startUnleash({ node, server }: Programs, database: string): Promise<UnleashServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(node, [server], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...databaseVariables(database), ...VARIABLES, HTTP_PORT: `${port}` },
  });
  let printed = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-10_000);
    });
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const isReady = async () => !isRunning() || (await isHealthy(url));
  if ((await until(isReady, PATIENCE)) === undefined || !isRunning()) {
    endWithUs();
    throw new Error(`Unleash did not start:\n${printed}`);
  }

  async function ask(request: string, body?: unknown): Promise<AdminResponse> {
    const [method = 'GET', path = ''] = request.split(' ');
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: ADMIN_TOKEN, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { ok: response.ok, status: response.status, body: parsed(await response.text()) };
    } catch (error) {
      throw new Error(`Unleash did not answer ${request}. It printed:\n${printed}`, { cause: error });
    }
  }

  return {
    url,
    ask,
    async createToken({ type, environment }) {
      const [name, about] = [`${type}-${randomUUID()}`, { type, environment, projects: ['default'] }];
      const answer = await ask('POST /api/admin/api-tokens', { ...about, tokenName: name });
      // The name of the member in older releases.
      const named = answer.ok ? answer : await ask('POST /api/admin/api-tokens', { ...about, username: name });
      const { body, status } = named;
      const { secret } = Object(body) as { readonly secret?: string };
      if (secret === undefined) throw new Error(`Unleash created no token: ${status} ${JSON.stringify(body)}`);
      return secret;
    },
    async deleteToken(secret) {
      const { ok, status } = await ask(`DELETE /api/admin/api-tokens/${encodeURIComponent(secret)}`);
      if (!ok) throw new Error(`Unleash deleted no token: ${status}`);
    },
    async close() {
      process.off('exit', endWithUs);
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const VARIABLES = {
  NODE_ENV: 'production',
  HTTP_HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
  CHECK_VERSION: 'false',
  SEND_TELEMETRY: 'false',
  INIT_ADMIN_API_TOKENS: ADMIN_TOKEN,
};

/** The socket is in the parameter `host`, which Unleash does not read from a connection string. */
function databaseVariables(database: string) {
  const { searchParams, pathname, port, username } = new URL(database);
  return {
    DATABASE_HOST: searchParams.get('host') ?? '',
    DATABASE_PORT: port,
    DATABASE_USERNAME: username,
    DATABASE_PASSWORD: 'none',
    DATABASE_NAME: pathname.slice(1),
    DATABASE_SSL: 'false',
  };
}

async function isHealthy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`).catch(() => undefined);
  await response?.text();
  return response?.ok ?? false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
