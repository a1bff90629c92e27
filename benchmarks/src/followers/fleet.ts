import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from './child.js';
import type { ConnectionSettings } from './connection-process.js';
import type { FollowerSettings } from './follower-process.js';
import type { Arrival, Progress, Seen } from './receivers.js';
import type { RootSample, RootSettings } from './root-process.js';
import { until } from './until.js';

const HEAP_OF_ROOT = '--max-old-space-size=128';

/** A root that can be killed and started again at the same address. */
export class Root {
  private constructor(
    private readonly settings: RootSettings,
    private child: Child,
    readonly url: string,
  ) {}

  static async start(file: string, flags: number): Promise<Root> {
    const settings = { file, flags, port: 0 };
    const child = await startRoot(settings);
    const url = await child.ask<string>('url');
    return new Root({ ...settings, port: Number(new URL(url).port) }, child, url);
  }

  kill(): Promise<void> {
    return this.child.kill();
  }

  async restart(): Promise<void> {
    this.child = await startRoot(this.settings);
  }

  end(): Promise<void> {
    return this.child.end();
  }

  createToken(): Promise<string> {
    return this.child.ask('createToken');
  }

  /** @returns when the change began, by the monotonic clock */
  change(change: number): Promise<number> {
    return this.child.ask('change', change);
  }

  /** Returns what the root has used since the previous sample. */
  sample(): Promise<RootSample> {
    return this.child.ask('sample');
  }

  countUsage(): Promise<Readonly<Record<string, number>>> {
    return this.child.ask('countUsage');
  }

  /** Returns when followers have asked for streams since the previous call, in milliseconds since 1970. */
  connections(): Promise<readonly number[]> {
    return this.child.ask('connections');
  }
}

function startRoot(settings: RootSettings): Promise<Child> {
  return startChild({ program: 'root-process.js', settings, execArgv: [HEAP_OF_ROOT, '--no-warnings'] });
}

export function startFollower(settings: FollowerSettings): Promise<Child> {
  return startChild({ program: 'follower-process.js', settings, execArgv: ['--no-warnings'], isRemote: true });
}

export function startConnections(settings: ConnectionSettings): Promise<Child> {
  return startChild({ program: 'connection-process.js', settings, isRemote: true });
}

/** Everything that receives changes. */
export class Fleet {
  readonly violations: string[] = [];

  constructor(readonly children: readonly Child[]) {}

  /** Resolves when all have this state. Returns the milliseconds, or infinity after the patience. */
  async reached(change: number, patience: number): Promise<number> {
    const time = await until(async () => {
      const progress = await Promise.all(this.children.map((child) => child.ask<Progress>('progress')));
      return progress.every(({ oldest }) => oldest >= change);
    }, patience);
    return time ?? Number.POSITIVE_INFINITY;
  }

  async connected(): Promise<number> {
    const counts = await Promise.all(this.children.map((child) => child.ask<number>('connected')));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Collects what receivers have seen since the last call. */
  async collect(): Promise<readonly Arrival[]> {
    const seen = await Promise.all(this.children.map((child) => child.ask<Seen>('take')));
    for (const { violations } of seen) this.violations.push(...violations);
    return seen.flatMap(({ arrivals }) => arrivals);
  }

  /** Ends all, and returns the number of their evaluations and acknowledged counts. */
  async close(): Promise<number> {
    const counts = await Promise.all(this.children.map((child) => child.ask<number>('close')));
    await Promise.all(this.children.map((child) => child.end()));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

/** Makes changes at the root, and returns the milliseconds until each reached each receiver, from the call of the change. */
export async function latencies(
  { root, fleet }: { readonly root: Root; readonly fleet: Fleet },
  { first, count, interval }: { readonly first: number; readonly count: number; readonly interval: number },
): Promise<readonly number[]> {
  const begun = new Map<number, number>();
  await fleet.collect();
  for (let change = first; change < first + count; change++) {
    begun.set(change, await root.change(change));
    await pause(interval);
  }
  await fleet.reached(first + count - 1, 60_000);
  return (await fleet.collect()).flatMap(([change, at]) => {
    const start = begun.get(change);
    return start === undefined ? [] : (at - start) / 1e6;
  });
}
