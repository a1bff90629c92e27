import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '../../failover/random.js';
import { inTemporaryFolder } from '../../temporary-folder.js';
import { type Child, startChild } from '../child.js';
import type { ColdStart } from '../cold-process.js';
import { Fleet, Root, startFollower } from '../fleet.js';
import { atMost, type Finding, figure, none, publish } from '../verdict.js';

const { values: given } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    processes: { type: 'string', default: '20' },
    followers: { type: 'string', default: '200' },
    flags: { type: 'string', default: '500' },
    /** The number of long outages, and their seconds. */
    outages: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    /** Followers that start while the root is away. */
    cold: { type: 'string', default: '100' },
  },
});

const [kills, processes, followers] = [Number(given.kills), Number(given.processes), Number(given.followers)];
const random = createRandom(Number(given.seed));
/** The longest time between a start of the root and its kill, in milliseconds. */
const LONGEST_LIFE = 2_000;
/** The longest time between a kill and the next start, in milliseconds. */
const LONGEST_ABSENCE = 500;
/** All are awaited after this number of kills. */
const KILLS_IN_A_ROW = 5;
const PATIENCE = 60_000;
const LONGEST_BACKOFF = 10_000;
/**
 * The longest pause between two changes, in milliseconds. Each change costs every follower work, and all of them share the
 * processors of this machine: at twenty changes a second, they would need more than two.
 */
const LONGEST_PAUSE = 400;

/** Makes changes without end. One whose outcome is unknown is made again. */
class Changes {
  acknowledged = 0;
  private isStopped = false;
  private readonly running: Promise<void>;

  constructor(private readonly root: Root) {
    this.running = this.run();
  }

  async stop(): Promise<number> {
    this.isStopped = true;
    await this.running;
    return this.acknowledged;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      const next = this.acknowledged + 1;
      try {
        await this.root.change(next);
        this.acknowledged = next;
      } catch {
        // The root is away.
      }
      await pause(random() * LONGEST_PAUSE);
    }
  }
}

/** Kills the root at random moments while followers evaluate. */
async function killOften(root: Root, fleet: Fleet): Promise<readonly Finding[]> {
  const changes = new Changes(root);
  const slowest: number[] = [];
  const invented: number[] = [];
  const collect = async () => {
    const arrivals = await fleet.collect();
    // The one after the last acknowledged one may be on its way.
    invented.push(...arrivals.flatMap(([change]) => (change > changes.acknowledged + 1 ? [change] : [])));
  };
  for (let kill = 1; kill <= kills; kill++) {
    await pause(random() * LONGEST_LIFE);
    await root.kill();
    await pause(random() * LONGEST_ABSENCE);
    await root.restart();
    if (kill % KILLS_IN_A_ROW === 0) slowest.push(await fleet.reached(changes.acknowledged, PATIENCE));
    await collect();
    if (kill % KILLS_IN_A_ROW === 0) console.error(`${kill} kills, ${changes.acknowledged} changes`);
  }
  const last = await changes.stop();
  const reached = await fleet.reached(last, PATIENCE);
  await collect();
  return [
    figure('times that the root was killed', `${kills}`),
    figure('acknowledged changes meanwhile', `${last}`),
    none('states seen that the root had not acknowledged', invented),
    none('evaluations that saw an older state than the one before, or no state', fleet.violations),
    atMost('all have the last change, after the last kill', reached, PATIENCE),
    atMost('the slowest after five kills', Math.max(0, ...slowest), PATIENCE),
  ];
}

/** Long outages: reconnects are spread. */
async function stayAway(root: Root, fleet: Fleet, first: number): Promise<readonly Finding[]> {
  const shares: number[] = [];
  const totals: number[] = [];
  for (let outage = 0; outage < Number(given.outages); outage++) {
    await root.kill();
    await pause(Number(given.seconds) * 1_000);
    await root.restart();
    await root.change(first + outage);
    await fleet.reached(first + outage, PATIENCE);
    // No follower waits any longer.
    await pause(LONGEST_BACKOFF / 10);
    const times = (await root.connections()).toSorted((one, other) => one - other);
    const most = Math.max(0, ...times.map((begun) => times.filter((at) => at >= begun && at < begun + 1_000).length));
    shares.push(most / followers);
    totals.push(times.length);
  }
  await fleet.collect();
  const highest = Math.max(0, ...shares);
  return [
    {
      fact: `reconnects in one second after an outage of ${given.seconds} s, at most`,
      figure: `${(100 * highest).toFixed(0)} %`,
      aim: '50 %',
      holds: highest <= 0.5,
    },
    figure('reconnects after each outage', totals.join(', ')),
  ];
}

/** Starts followers while the root is away. */
async function startCold(root: Root, folder: string, token: string, change: number): Promise<readonly Finding[]> {
  const settings = { url: root.url, token, cache: join(folder, 'cache.json') };
  const child = await startChild({ program: 'cold-process.js', settings, execArgv: ['--no-warnings'] });
  try {
    await child.ask('prepare');
    await root.kill();
    const starts = await child.ask<readonly ColdStart[]>('start', Number(given.cold));
    const wrong = starts.filter(({ marker, isKnown }) => marker !== change || !isKnown);
    return [
      atMost(
        `${starts.length} followers start while the root is away: the slowest`,
        Math.max(...starts.map(({ time }) => time)),
        1_000,
      ),
      none('of these, with another state than the last one', wrong),
    ];
  } finally {
    await child.kill();
  }
}

async function run(folder: string): Promise<readonly Finding[]> {
  const root = await Root.start(join(folder, 'flags.db'), Number(given.flags));
  const children: Child[] = [];
  try {
    const token = await root.createToken();
    const about = { url: root.url, token, count: followers / processes, usageInterval: 2_000 };
    for (let at = 0; at < processes; at++) {
      children.push(await startFollower({ ...about, evaluations: 20, evaluationInterval: 200 }));
    }
    const fleet = new Fleet(children);
    await fleet.reached(0, PATIENCE);
    const killed = await killOften(root, fleet);
    const change = 1_000_000;
    const away = await stayAway(root, fleet, change);
    const evaluated = await fleet.close();
    const counted = (await root.countUsage()).follower ?? 0;
    const counts = {
      fact: 'counts at the root, over all hours',
      figure: `${counted}`,
      aim: `${evaluated}`,
      holds: counted === evaluated,
    };
    await root.change(change * 2);
    return [...killed, ...away, counts, ...(await startCold(root, folder, token, change * 2))];
  } finally {
    for (const child of children) await child.kill();
    await root.kill();
  }
}

await inTemporaryFolder(async (folder) => {
  const about = `${followers} followers in ${processes} processes of one node with ${given.flags} flags, seed ${given.seed}. All evaluate 20 flags and look at their state five times a second, and report every two seconds.`;
  publish(`Outages`, [about], await run(folder));
});
