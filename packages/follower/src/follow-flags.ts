import { hostname } from 'node:os';
import { type ConfigurationChange, FlagsError, type FlagsSchema, type Impression, isFlagsError } from '@flags/core';
import {
  assertSchemaFits,
  createLifetime,
  createListeners,
  createPayloadReader,
  createPropertyLift,
  createSettings,
  ProblemReporter,
} from '@flags/core/integration/follower';
import { type EnvironmentCount, isObject, STRATEGIES } from '@flags/core/integration/shared';
import type { TypedEvaluation } from '@flags/core/types';
import { type CachedState, type CacheWriter, createCacheWriter, readCache } from './cache-file.js';
import { FollowedFlags, type Follower } from './follower.js';
import { Following } from './following.js';
import { createIdentity } from './identity.js';
import { type FollowerOptions, readOptions, type Settings } from './options.js';
import { FollowedState } from './state.js';
import { createTickets } from './tickets.js';
import { TIMES, type Times } from './times.js';
import { createTokenProbe, createTokenQuestion, createTokens } from './tokens.js';
import { createUpstream } from './upstream.js';
import { createUsageSender } from './usage-sender.js';

/** The result of `followFlags` with a schema: a {@link Follower} whose evaluation accepts declared names only. */
export interface TypedFollower<Schema extends FlagsSchema>
  extends Omit<Follower, keyof TypedEvaluation<Schema> | 'evaluator'>,
    TypedEvaluation<Schema> {
  /** Like {@link Follower.evaluator}, for declared names. */
  readonly evaluator: Omit<TypedEvaluation<Schema>, 'configuration'>;
}

/**
 * Follows the flags of another server, a router of ours, a follower or Unleash, and evaluates them in this process. Resolves
 * when there are flags: from the server, or from the cache file while the server is away. `close()` releases everything.
 *
 * @throws FlagsError `invalid_input` (invalid options, or a token for all environments), `unauthenticated` or `forbidden` (the
 * server refuses the token), `upstream_loop` (more than three followers follow one another), `upstream_unavailable` (no flags
 * within `startTimeout`)
 * @example
 * const flags = await followFlags({ url: 'https://flags.internal/flags', token: process.env.FLAGS_TOKEN });
 * flags.isEnabled('checkout', { userId: '7' });
 */
export function followFlags<Schema extends FlagsSchema>(
  options: FollowerOptions & { readonly schema: Schema },
): Promise<TypedFollower<Schema>>;
/** Follows flags whose evaluation accepts any name. */
export function followFlags(options: FollowerOptions): Promise<Follower>;
export async function followFlags(options: FollowerOptions): Promise<Follower> {
  return startFollower(options, { now: Date.now, times: TIMES });
}

/** What tests replace. */
export interface Conditions {
  readonly now: () => number;
  readonly times: Times;
}

export async function startFollower(given: FollowerOptions, conditions: Conditions): Promise<Follower> {
  const options = readOptions(given);
  const { schema, cache: path, url, token, maxBytes, onError, onProblem } = options;
  if (schema !== undefined) assertSchema(schema);
  const problems = new ProblemReporter(onProblem);
  const cached = path === undefined ? undefined : await readCache({ path, url, token }, { maxBytes, onError });
  const { follower, connection } = await createFollower({ options, conditions, problems, cached });
  try {
    await waitForFlags(connection, { ...options, times: conditions.times, hasCache: cached !== undefined });
    connection.reportFailures();
    return follower;
  } catch (error) {
    await follower.close();
    throw error;
  }
}

/** Checks the shape of the schema only: the server defines environments and flag types. */
function assertSchema(schema: FlagsSchema): void {
  const { flags, context } = Object(schema) as Partial<FlagsSchema>;
  assertSchemaFits({ flags: isObject(flags) ? {} : flags, context } as FlagsSchema, createSettings({}));
}

interface FollowerSource {
  readonly options: Settings;
  readonly conditions: Conditions;
  readonly problems: ProblemReporter;
  readonly cached: CachedState | undefined;
}

/** Puts the parts together. */
async function createFollower({ options, conditions, problems, cached }: FollowerSource) {
  const { url, token, schema, strategies, usage: own, onError } = options;
  const impressions = createListeners<Impression>(onError);
  const changes = createListeners<ConfigurationChange>(onError);
  const counts = createListeners<readonly EnvironmentCount[]>(onError);
  const upstream = createUpstream({ ...options, ...own });
  const ask = createTokenQuestion(upstream);
  const identity = createIdentity({ token, strategies, ask, scope: cached?.scope });
  const onProblem: Settings['onProblem'] = (problem) => problems.report(problem);
  let cache: CacheWriter | undefined;

  const state = new FollowedState({
    strategies,
    hostname: hostname(),
    now: conditions.now,
    environment: () => identity.settings.environment,
    onProblem,
    onImpression: impressions.notify,
    onChange(change) {
      cache?.touch();
      changes.notify(change);
    },
  });
  // Restores the flags of the cache file before the writer starts, so that it does not write them again.
  if (cached) await state.replace(cached.document);
  const connection = new Following({
    ...options,
    ...conditions,
    upstream,
    state,
    introduce: identity.find,
    onProblem,
    onOutcome(error) {
      if (error === undefined) cache?.touchTime();
      else if (connection.refusal) tokens.endAll();
    },
  });
  const source = () => {
    const { checkedAt } = connection.status();
    if (checkedAt !== undefined) return { name: 'upstream', checkedAt } as const;
    return cached && ({ name: 'cache', checkedAt: cached.checkedAt } as const);
  };
  const tokens = createTokens({
    ...options,
    ...conditions,
    ask,
    probe: createTokenProbe(upstream),
    hasStream: () => connection.hasStream,
    scope: () => identity.scope,
    known: cached?.tokens ?? [],
    onChange: () => cache?.touch(),
  });
  const usage = createUsageSender({
    ...own,
    ...conditions,
    upstream,
    environment: () => identity.settings.environment,
    flag: (name) => state.variantsOf(name),
    drain() {
      const drained = state.counters.drain();
      counts.notify(drained.map((count) => ({ ...count, environment: state.environment })));
      return drained;
    },
    strategies: [...STRATEGIES.keys(), ...strategies.map(({ name }) => name)],
    onError,
  });
  if (options.cache !== undefined) {
    const content = () => {
      const { scope } = identity;
      const checkedAt = source()?.checkedAt;
      const configuration = state.configurationOf(state.environment);
      if (scope === undefined || checkedAt === undefined || configuration === undefined) return undefined;
      return { scope, checkedAt, configuration, tokens: tokens.known() };
    };
    const { now, times } = conditions;
    cache = createCacheWriter({ path: options.cache, url, token, content, now, interval: times.cacheWrite, onError });
  }

  const lifetime = createLifetime();
  // Closing waits for callers whose tokens are being checked.
  lifetime.closing.addEventListener('abort', tokens.close, { once: true });
  const follower = new FollowedFlags(
    {
      state,
      get settings() {
        return identity.settings;
      },
      payloads: createPayloadReader(schema),
      problems,
      impressions,
      changes,
      counts,
      lift: schema && createPropertyLift(schema),
    },
    {
      lifetime,
      connection,
      tokens,
      tickets: createTickets({ token, tokens, scope: () => identity.scope, now: conditions.now }),
      usage,
      upstream: url,
      settings: () => identity.settings,
      source,
      async release() {
        await connection.stop();
        await usage.close();
        await cache?.close();
      },
    },
  );
  return { follower, connection };
}

interface StartOptions extends Pick<Settings, 'url' | 'startTimeout'> {
  readonly times: Times;
  readonly hasCache: boolean;
}

/** Connects. Resolves when there are flags, or after the start timeout if the follower can start without them. */
function waitForFlags(connection: Following, { url, startTimeout, times, hasCache }: StartOptions): Promise<void> {
  const patience = hasCache ? Math.min(times.cachedStart, startTimeout) : startTimeout;
  return new Promise((resolve, reject) => {
    const finish = (answer: () => void) => {
      clearTimeout(timer);
      remove();
      answer();
    };
    const remove = connection.onOutcome((error) => {
      if (error === undefined) finish(resolve);
      else if (isFinal(error)) finish(() => reject(error));
      else if (hasCache) finish(resolve);
    });
    // Keeps the process alive while it waits.
    const timer = setTimeout(() => {
      const message = `${url} has sent no flags within ${startTimeout} ms, and there is no cache file to start from.`;
      const cause = connection.status().error;
      const error = new FlagsError('upstream_unavailable', message, undefined, { cause });
      finish(hasCache || startTimeout === 0 ? resolve : () => reject(error));
    }, patience);
    connection.start();
  });
}

/** Whether trying again cannot help. */
function isFinal(error: unknown): boolean {
  return isFlagsError(error) && ['invalid_input', 'unauthenticated', 'forbidden', 'upstream_loop'].includes(error.code);
}
