import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cluster, type Member, TIMES } from './cluster.js';

/** What happens to the primary. Resolves to a function that mends it. */
export type Fault = (cluster: Cluster) => Promise<() => void>;

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}

function allOf(member: Member): readonly number[] {
  const { patroni, postgres } = member.processes();
  return [patroni, ...postgres];
}

/** Milliseconds for which changes do not reach the standbys. */
const LAG = 1_500;

/** For clusters without synchronous replication: the standbys lack the last changes. */
export const LOSSES: Readonly<Record<string, Fault>> = {
  'machine killed, standbys behind': async (cluster) => {
    const member = await cluster.primary();
    signal(member.walSenders(), 'SIGSTOP');
    await pause(LAG);
    signal(allOf(member), 'SIGKILL');
    return member.startPatroni;
  },
};

export const FAULTS: Readonly<Record<string, Fault>> = {
  'PostgreSQL killed': async (cluster) => {
    signal((await cluster.primary()).processes().postgres, 'SIGKILL');
    return () => undefined;
  },
  'machine killed': async (cluster) => {
    const member = await cluster.primary();
    signal(allOf(member), 'SIGKILL');
    return member.startPatroni;
  },
  'machine suspended': async (cluster) => {
    const pids = allOf(await cluster.primary());
    signal(pids, 'SIGSTOP');
    return () => signal(pids, 'SIGCONT');
  },
  'cut off from etcd': async (cluster) => {
    const { gate } = await cluster.primary();
    gate.shut();
    // The primary continues until its lease ends.
    await pause((TIMES.ttl + TIMES.loop_wait) * 1_000);
    return gate.open;
  },
  'switched over by hand': async (cluster) => {
    await cluster.switchOver();
    return () => undefined;
  },
  'disk full': async (cluster) => {
    const file = join((await cluster.primary()).disk, 'filler');
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=64k'], { stdio: 'ignore' });
    } catch {
      // The disk is full.
    }
    return () => rmSync(file, { force: true });
  },
};
