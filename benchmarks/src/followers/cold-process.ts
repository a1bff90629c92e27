import { copyFileSync } from 'node:fs';
import { type Follower, followFlags } from '@flags/follower';
import { placeAt } from '../population.js';
import { answerQuestions, settingsOfProcess } from './child.js';
import { readMarker } from './marker.js';

export interface ColdSettings {
  readonly url: string;
  readonly token: string;
  /** A cache file. */
  readonly cache: string;
}

/** A start while the root is away. */
export interface ColdStart {
  /** Milliseconds from the call of `followFlags` until an evaluation answered. */
  readonly time: number;
  readonly marker: number;
  /** Whether a flag of the population is known. */
  readonly isKnown: boolean;
}

const { url, token, cache } = settingsOfProcess<ColdSettings>();
const followers: Follower[] = [];

function follow(path: string): Promise<Follower> {
  const quiet = () => undefined;
  return followFlags({ url, token, cache: path, usage: { interval: 0 }, onError: quiet, onProblem: quiet });
}

async function start(path: string): Promise<ColdStart> {
  const begun = performance.now();
  const follower = await follow(path);
  const marker = readMarker(follower);
  const time = performance.now() - begun;
  followers.push(follower);
  return { time, marker, isKnown: follower.configuration().flags.some(({ name }) => name === placeAt(0).flag) };
}

answerQuestions(
  {
    /** Writes the cache file. The root is there. */
    prepare: async () => (await follow(cache)).close(),
    /** Starts this many followers, one after another, each with a file of its own. */
    start: async (count: number) => {
      const starts: ColdStart[] = [];
      for (let at = 0; at < count; at++) {
        copyFileSync(cache, `${cache}.${at}`);
        starts.push(await start(`${cache}.${at}`));
      }
      return starts;
    },
    /** Bytes. */
    resident: () => process.memoryUsage.rss(),
  },
  async () => {
    for (const follower of followers) await follower.close();
  },
);
