import { type Follower, followFlags } from '@flags/follower';
import { placeAt } from '../population.js';
import { answerQuestions, settingsOfProcess } from './child.js';
import { readMarker } from './marker.js';
import { Receivers } from './receivers.js';
import { type Served, serve } from './serve.js';

export interface FollowerSettings {
  readonly url: string;
  readonly token: string;
  /** Followers in this process. */
  readonly count: number;
  /** Whether the first one serves others. */
  readonly isServing?: boolean;
  /** Milliseconds. */
  readonly usageInterval: number;
  /** Each follower evaluates this many flags, … */
  readonly evaluations: number;
  /** … once in this many milliseconds, and looks at the marker. */
  readonly evaluationInterval: number;
}

const settings = settingsOfProcess<FollowerSettings>();
const { url, token, count, usageInterval, evaluations, evaluationInterval } = settings;
const receivers = new Receivers(count);
let errors = 0;
const followers = await Promise.all(Array.from({ length: count }, (_, at) => start(at)));
let served: Served | undefined;
if (settings.isServing && followers[0]) served = await serve(followers[0]);

async function start(at: number): Promise<Follower> {
  const follower = await followFlags({
    url,
    token,
    startTimeout: 120_000,
    usage: { interval: usageInterval, application: 'follower' },
    onError: () => {
      errors += 1;
    },
    onProblem: () => undefined,
  });
  const note = () => receivers.note(at, readMarker(follower));
  follower.onConfigurationChange(note);
  note();
  return follower;
}

let evaluated = 0;
const ticking = setInterval(() => {
  for (const [at, follower] of followers.entries()) {
    for (let call = 0; call < evaluations; call++) follower.isEnabled(placeAt(call).flag, { userId: `${call}` });
    evaluated += evaluations;
    receivers.note(at, readMarker(follower));
  }
}, evaluationInterval);

async function close(): Promise<void> {
  clearInterval(ticking);
  await served?.close();
  await Promise.all(followers.map((follower) => follower.close()));
}

answerQuestions(
  {
    url: () => served?.url,
    progress: () => receivers.progress(),
    take: () => receivers.take(),
    errors: () => errors,
    /** Ends the followers, which sends what they have counted. Returns the number of evaluations. */
    close: async () => {
      await close();
      return evaluated;
    },
    connected: () => followers.filter((follower) => follower.status().connected).length,
  },
  close,
);
