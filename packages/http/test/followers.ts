import { isDeepStrictEqual } from 'node:util';
import type { Flags } from '@flags/core';
import { extent } from '../../../test/extent.js';
import { until } from '../../../test/until.js';
import type { Follower } from '../../follower/src/index.js';
import { follow, type Listening, serve } from '../../follower/test/servers.js';

/** What SDKs talk to: the server of an engine, a follower of it, or a follower of that one. */
export const PLACES = ['the root', 'a follower', 'a follower of a follower'] as const;
export type Place = (typeof PLACES)[number];

/** The short form omits the follower between the root and the last one. */
export const PLACES_IN_LENGTH = extent<readonly Place[]>({
  short: ['the root', 'a follower of a follower'],
  full: PLACES,
});

/** The followers between an engine and the SDKs of a test. */
export interface Followers {
  /** Where SDKs are served; the address of the root without followers. */
  readonly url: string;
  /** Resolves as soon as SDKs are served what the root serves. */
  readonly untilCurrent: () => Promise<void>;
  /** Runs while the server for SDKs is down, which then starts again at the same address. */
  readonly during: (work: () => Promise<void>) => Promise<void>;
  /** Closes the followers, which send all of their counts. */
  readonly close: () => Promise<void>;
  /** Closes the followers and their servers. */
  readonly stop: () => Promise<void>;
}

interface Root {
  readonly url: string;
  readonly flags: Flags;
  /** The time of followers. Default: that of the process. */
  readonly now?: () => number;
  /** Milliseconds after which followers send counts. Default: 50; 0: when they are closed. */
  readonly interval?: number;
}

/** Starts followers of an engine, each with a server, up to the given place. */
export async function startFollowers(root: Root, place: Place): Promise<Followers> {
  const { now = Date.now, interval = 50 } = root;
  const { secret } = await root.flags.tokens.create({ name: 'followers', kind: 'client', environment: 'production' });
  const followers: Follower[] = [];
  const servers: Listening[] = [];
  const url = () => servers.at(-1)?.url ?? root.url;
  while (servers.length < PLACES.indexOf(place)) {
    const follower = await follow({ url: url(), token: secret }, { usage: { interval } }, { now });
    followers.push(follower);
    servers.push(await serve(follower));
  }
  const documentAt = async (address: string): Promise<unknown> => {
    const response = await fetch(`${address}/api/client/features`, { headers: { authorization: secret } });
    return response.json();
  };
  // From the last to the first: each sends its counts to the one before.
  const close = async () => {
    for (const follower of followers.toReversed()) await follower.close();
  };
  return {
    url: url(),
    untilCurrent: () => until(async () => isDeepStrictEqual(await documentAt(url()), await documentAt(root.url))),
    async during(work) {
      const server = servers.pop();
      await server?.stop();
      await work();
      const last = followers.at(-1);
      if (last && server) servers.push(await serve(last, server.port));
    },
    close,
    async stop() {
      await close();
      for (const server of servers.splice(0)) await server.stop();
    },
  };
}
