import { type Follower, followFlags } from '@flags/follower';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { until } from '../until.js';
import type { Specification, SpecifiedCase } from './specification.js';
import { ENVIRONMENT } from './specified-flags.js';

const HOUR = 3_600_000;

/** The answers to the questions of the client specification. */
export interface Comparison {
  readonly cases: number;
  /** Cases that `unleash-client` and the follower answer as the specification expects. */
  readonly expected: { readonly client: number; readonly follower: number };
  /** Cases with different answers. */
  readonly differences: readonly object[];
}

/** Asks `unleash-client` on Unleash, and a follower of Unleash. */
export async function compareAnswers(
  url: string,
  token: string,
  specifications: readonly Specification[],
): Promise<Comparison> {
  const client = await startClient(url, token);
  const follower = await followFlags({ url, token, usage: { interval: 0 }, onProblem: () => undefined });
  try {
    return compare(client, follower, specifications);
  } finally {
    client.destroy();
    await follower.close();
  }
}

/** Starts the SDK of Unleash. It reads the flags once, and sends its counts only when `flushMetrics` is called. */
export async function startClient(url: string, token: string): Promise<Unleash> {
  const client = new Unleash({
    url: `${url}/api/`,
    appName: 'sdk',
    environment: ENVIRONMENT,
    customHeaders: { Authorization: token },
    refreshInterval: HOUR,
    metricsInterval: HOUR,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(),
  });
  let failure: unknown;
  client.on('error', (error) => {
    failure = error;
  });
  client.on('warn', () => undefined);
  if ((await until(() => client.isSynchronized(), 10_000)) === undefined) {
    throw new Error('unleash-client has read no flags.', { cause: failure });
  }
  return client;
}

function compare(client: Unleash, follower: Follower, specifications: readonly Specification[]): Comparison {
  const answers = specifications.flatMap(({ name, cases }) =>
    cases.map((given) => ({
      file: name,
      flag: given.flag,
      context: given.context,
      expected: normal(given.expected),
      client: normal(askClient(client, given)),
      follower: normal(askFollower(follower, given)),
    })),
  );
  return {
    cases: answers.length,
    expected: {
      client: answers.filter((answer) => answer.client === answer.expected).length,
      follower: answers.filter((answer) => answer.follower === answer.expected).length,
    },
    differences: answers.filter((answer) => answer.client !== answer.follower),
  };
}

function askClient(client: Unleash, { kind, flag, context }: SpecifiedCase): unknown {
  if (kind === 'switch') return client.isEnabled(flag, context, false);
  const { name, enabled, payload, feature_enabled } = client.getVariant(flag, context);
  return { name, enabled, payload, feature_enabled };
}

function askFollower(follower: Follower, { kind, flag, context }: SpecifiedCase): unknown {
  if (kind === 'switch') return follower.isEnabled(flag, context);
  const { name, enabled, payload, flagEnabled } = follower.getVariant(flag, context);
  return { name, enabled, payload, feature_enabled: flagEnabled };
}

/** JSON with members in one order. */
function normal(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return JSON.stringify(answer);
  const { name, enabled, payload, feature_enabled } = answer as Readonly<Record<string, unknown>>;
  return JSON.stringify({ name, enabled, feature_enabled, payload: payload && Object.entries(payload).sort() });
}
