import { setTimeout } from 'node:timers/promises';
import { until } from '../../../test/until.js';
import { type EventClient, listen as listenToStream } from '../../http/test/client/event-client.js';
import { type Follower, followFlags } from '../src/index.js';
import { createOn, endAll, type Listening, type Root, serve, startRoot } from './servers.js';

/** A root, and what is started beside it. */
interface Scene {
  readonly root: Root;
  /** Starts a follower with a server. */
  readonly follow: (url: string, token: string) => Promise<Listening & { readonly follower: Follower }>;
  readonly newToken: (name: string) => Promise<string>;
}

/** Nothing is shortened here: with the times of `followFlags`, and a root of its own. */
async function within(scenario: (scene: Scene) => Promise<void>): Promise<void> {
  const root = await startRoot();
  const followers: Follower[] = [];
  try {
    await createOn(root.flags, 'checkout');
    await scenario({
      root,
      async follow(url, token) {
        const follower = await followFlags({ url, token, onError: () => undefined });
        followers.push(follower);
        return { follower, ...(await serve(follower)) };
      },
      newToken: async (name) =>
        (await root.flags.tokens.create({ name, kind: 'client', environment: 'production' })).secret,
    });
  } finally {
    for (const follower of followers.reverse()) await follower.close();
    await root.end();
  }
}

async function isAdmitted({ url }: Listening, secret: string): Promise<boolean> {
  const response = await fetch(`${url}/api/client/features`, { headers: { authorization: secret } });
  await response.arrayBuffer();
  return response.ok;
}

/** Uses a token, with a stream that stays open. */
async function use(server: Listening, secret: string): Promise<EventClient> {
  expect(await isAdmitted(server, secret)).toBe(true);
  const stream = await listenToStream(`${server.url}/api/client/streaming`, { authorization: secret });
  expect(stream.status).toBe(200);
  return stream;
}

/** Resolves to the seconds until a token is refused and its stream has ended. */
async function secondsUntilRefused(server: Listening, secret: string, stream: EventClient): Promise<number> {
  const start = performance.now();
  const refused = async () => {
    while (await isAdmitted(server, secret)) await setTimeout(100);
  };
  await Promise.all([refused(), until(stream.hasEnded)]);
  return (performance.now() - start) / 1000;
}

const SCENARIOS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'a token that is deleted at the root is refused within 20 s, and within 25 s at the second level': async ({
    root,
    follow,
    newToken,
  }) => {
    const first = await follow(root.url, root.token);
    const second = await follow(first.url, await newToken('second level'));
    // The checks of followers are at any moment of their interval.
    const refuse = async (caller: string) => {
      await setTimeout(Math.random() * 15_000);
      const secret = await newToken(caller);
      const streams = [await use(first, secret), await use(second, secret)] as const;
      await root.flags.tokens.delete({ token: secret });
      const seconds = await Promise.all([
        secondsUntilRefused(first, secret, streams[0]),
        secondsUntilRefused(second, secret, streams[1]),
      ]);
      expect(seconds[0]).toBeLessThan(20);
      expect(seconds[1]).toBeLessThan(25);
    };
    await Promise.all(['one', 'two', 'three'].map(refuse));
  },

  'a token that was deleted while the follower was cut off is refused within 20 s after the next connection': async ({
    root,
    follow,
    newToken,
  }) => {
    const reached = await serve(root.flags);
    const server = await follow(reached.url, root.token);
    const secret = await newToken('caller');
    const stream = await use(server, secret);
    await reached.stop();
    await until(() => !server.follower.status().connected);
    await root.flags.tokens.delete({ token: secret });
    // Longer than the time of a check, which fails.
    await setTimeout(20_000);
    expect(await isAdmitted(server, secret)).toBe(true);
    expect(stream.hasEnded()).toBe(false);

    await serve(root.flags, reached.port);
    await until(() => server.follower.status().connected);
    expect(await secondsUntilRefused(server, secret, stream)).toBeLessThan(20);
  },

  "a follower whose own token is deleted serves nobody after 20 s, and the follower's streams end": async ({
    root,
    follow,
    newToken,
  }) => {
    const token = await newToken('own');
    const server = await follow(root.url, token);
    const secret = await newToken('caller');
    const stream = await use(server, secret);
    await root.flags.tokens.delete({ token });
    expect(await secondsUntilRefused(server, secret, stream)).toBeLessThan(20);
    expect(server.follower.isEnabled('checkout')).toBe(true);
  },
};

// They wait in real time, so they run at the same time.
const outcomes = new Map<string, Promise<void>>();
beforeAll(() => {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const outcome = within(scenario);
    // Each test awaits its own.
    outcome.catch(() => undefined);
    outcomes.set(name, outcome);
  }
});
afterAll(async () => {
  await Promise.allSettled(outcomes.values());
  await endAll();
});

it.each(Object.keys(SCENARIOS))('%s', (name) => outcomes.get(name));
