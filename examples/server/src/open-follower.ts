import { isFlagsError } from '@flags/core';
import { type Follower, followFlags } from '@flags/follower';
import { ConfigError, type UpstreamConfig } from './config.js';

/**
 * Follows the flags of another server. Starts from the cache file while that server is away.
 *
 * @param onError receives errors of the connection, once per series
 * @throws ConfigError when the server refuses the token, or cannot be reached and there is no cache file
 */
export async function openFollower(
  { upstream, token, cache }: UpstreamConfig,
  onError: (error: unknown) => void,
): Promise<Follower> {
  try {
    return await followFlags({ url: upstream, token, cache, onError, usage: { application: 'flags-follower' } });
  } catch (cause) {
    if (!isFlagsError(cause)) throw cause;
    throw new ConfigError(`FLAGS_UPSTREAM: ${cause.message} ${ADVICE[cause.code] ?? ''}`.trim(), { cause });
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: 'It is in FLAGS_UPSTREAM_TOKEN.',
  forbidden: 'It is in FLAGS_UPSTREAM_TOKEN.',
  upstream_unavailable: 'Name the address where its /api/client begins, and start that server first.',
};
