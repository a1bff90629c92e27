import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median } from '../../median.js';
import { inTemporaryFolder } from '../../temporary-folder.js';
import type { Child } from '../child.js';
import { Fleet, latencies, Root, startConnections, startFollower } from '../fleet.js';
import type { RootSample } from '../root-process.js';
import { atMost, type Finding, figure, none, percentile, publish } from '../verdict.js';

const { values: given } = parseArgs({
  options: {
    followers: { type: 'string', default: '1000' },
    /** Of these, the number that are processes with `followFlags`; the others are connections. */
    processes: { type: 'string', default: '20' },
    flags: { type: 'string', default: '2000' },
    changes: { type: 'string', default: '30' },
    /** Seconds between two reports. */
    interval: { type: 'string', default: '60' },
    /** Followers in the middle of the tree. */
    middle: { type: 'string', default: '10' },
    /** Only `flat` or `tree`. */
    form: { type: 'string' },
  },
});

const followers = Number(given.followers);
const processes = Number(given.processes);
const flags = Number(given.flags);
const changes = Number(given.changes);
const usageInterval = Number(given.interval) * 1_000;
/** Flags that each follower reports per interval. */
const REPORTED = 200;
const CONNECTIONS_PER_PROCESS = 250;
const CHANGE_INTERVAL = 1_000;
const MEBIBYTE = 2 ** 20;

async function startFleet(urls: readonly string[], token: string): Promise<Fleet> {
  const urlOf = (at: number) => urls[at % urls.length] ?? '';
  const about = { token, count: 1, usageInterval, evaluations: REPORTED, evaluationInterval: usageInterval };
  const children: Child[] = [];
  for (let at = 0; at < processes; at++) children.push(await startFollower({ ...about, url: urlOf(at) }));
  for (
    let rest = followers - processes - urls.length * Number(urls.length > 1);
    rest > 0;
    rest -= CONNECTIONS_PER_PROCESS
  ) {
    const count = Math.min(rest, CONNECTIONS_PER_PROCESS);
    children.push(await startConnections({ urls, token, count, flags, usageInterval, rows: REPORTED }));
  }
  return new Fleet(children);
}

async function measure(root: Root, middle: readonly Child[], fleet: Fleet): Promise<readonly Finding[]> {
  const receivers = followers - middle.length;
  const started = await fleet.reached(0, 120_000);
  await root.sample();
  const fresh = { count: Math.min(changes, 10), interval: CHANGE_INTERVAL };
  const early = await latencies({ root, fleet }, { first: 1, ...fresh });
  const quiet = await root.sample();
  console.error('All have the state. Reporting …');
  const [last, times] = await reporting(root, fleet, fresh.count + 1);
  const busy = await root.sample();
  console.error('The root restarts …');
  const restart = await restarted(root, fleet, last + 1);
  // Every follower reports once more after the restart.
  await pause(Math.min(usageInterval, 10_000));
  await fleet.collect();
  const reported = await fleet.close();
  const own = await Promise.all(middle.map((child) => child.ask<number>('close')));
  await Promise.all(middle.map((child) => child.end()));
  const counted = Object.values(await root.countUsage()).reduce((sum, count) => sum + count, 0);
  const sum = reported + own.reduce((total, count) => total + count, 0);
  const direct = middle.length > 0 ? middle.length : followers;
  const expected = changes * receivers;
  return [
    figure('receivers that check what they get', `${receivers}`),
    figure('first state for the last of them, after all have started', `${started.toFixed(0)} ms`),
    atMost(`a change reaches the median of them, without reports`, median(early), 200),
    atMost('99 %, without reports', percentile(early, 0.99), 1_000),
    atMost(`a change reaches the median, all report ${REPORTED} flags each ${given.interval} s`, median(times), 200),
    atMost('99 %, with reports', percentile(times, 0.99), 1_000),
    figure('the slowest', `${Math.max(...times).toFixed(0)} ms`),
    {
      fact: 'changes that reached their receivers',
      figure: `${times.length}`,
      aim: `${expected}`,
      holds: times.length === expected,
    },
    figure('bytes of the root per follower of it and change', `${(quiet.sent / fresh.count / direct).toFixed(0)}`),
    figure('RSS of the root, with reports', `${(busy.resident / MEBIBYTE).toFixed(0)} MiB`),
    figure('longest turn of its loop, with reports (by the clock)', turnOf(busy)),
    ...restart,
    none('states that are older than the one before, or incomplete', fleet.violations),
    { fact: 'counts at the root', figure: `${counted}`, aim: `${sum}`, holds: counted === sum },
  ];
}

/** In processor time: the followers use the same processors, so the clock also counts the time that the root waited for one. */
function turnOf({ longestTurn, longestDelay }: RootSample): string {
  return `${longestTurn.toFixed(0)} (${longestDelay.toFixed(0)}) ms`;
}

/** Changes for at least one interval, in which all report. Returns the last change, and the times of all. */
async function reporting(root: Root, fleet: Fleet, first: number): Promise<readonly [number, readonly number[]]> {
  const interval = Math.max(CHANGE_INTERVAL, (usageInterval * 1.2) / changes);
  const times = await latencies({ root, fleet }, { first, count: changes, interval });
  return [first + changes - 1, times];
}

/** The root is killed and starts again, with a change that nobody has. */
async function restarted(root: Root, fleet: Fleet, change: number): Promise<readonly Finding[]> {
  await root.kill();
  const begun = performance.now();
  await root.restart();
  await root.change(change);
  const opened = performance.now() - begun;
  const reached = (await fleet.reached(change, 60_000)) + opened;
  const sample = await root.sample();
  return [
    figure('start of the root after SIGKILL, until its first change is stored', `${opened.toFixed(0)} ms`),
    atMost('all have its state again, after SIGKILL', reached, 15_000),
    {
      fact: 'longest turn of its loop meanwhile (by the clock)',
      figure: turnOf(sample),
      aim: '100 ms',
      holds: sample.longestTurn <= 100,
    },
    figure('RSS of the root after the reconnects', `${(sample.resident / MEBIBYTE).toFixed(0)} MiB`),
  ];
}

async function run(folder: string, form: 'flat' | 'tree'): Promise<readonly Finding[]> {
  const root = await Root.start(join(folder, `${form}.db`), flags);
  const token = await root.createToken();
  const middle: Child[] = [];
  try {
    const about = { url: root.url, token, count: 1, isServing: true, usageInterval };
    while (form === 'tree' && middle.length < Number(given.middle)) {
      middle.push(await startFollower({ ...about, evaluations: REPORTED, evaluationInterval: usageInterval }));
    }
    const served = await Promise.all(middle.map((child) => child.ask<string>('url')));
    const fleet = await startFleet(form === 'tree' ? served : [root.url], token);
    try {
      return await measure(root, middle, fleet);
    } finally {
      for (const child of fleet.children) await child.kill();
    }
  } finally {
    for (const child of middle) await child.kill();
    await root.end();
  }
}

await inTemporaryFolder(async (folder) => {
  const about = `One node on SQLite with a heap of 128 MB and ${flags} flags. ${processes} of the followers are processes with \`followFlags\`, the others connections that check every message. All share the machine with the root; their processes have the lowest priority.`;
  if (given.form !== 'tree') publish(`${followers} followers of one node`, [about], await run(folder, 'flat'));
  if (given.form !== 'flat') {
    const title = `${followers} followers in three levels: ${given.middle} follow the node, ${followers - Number(given.middle)} follow those`;
    publish(title, [], await run(folder, 'tree'));
  }
});
