import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.js';
import { type Gate, startGate } from './gate.js';

const BIN = '/usr/lib/postgresql/15/bin';
const PROGRAMS = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/sbin/pgbouncer', `${BIN}/postgres`];

/** Patroni's times in seconds; its defaults are 30, 10, 10 and 300. With 0, a standby takes over before the primary is restarted. */
export const TIMES = { ttl: 12, loop_wait: 2, retry_timeout: 4, primary_start_timeout: 0 } as const;

/** The programs that are missing. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((path) => !existsSync(path));
}

/** A PostgreSQL with the Patroni that runs it. */
export interface Member {
  readonly name: string;
  /** Between its Patroni and etcd. */
  readonly gate: Gate;
  /** The folder of its disk, a mount of its own. */
  readonly disk: string;
  readonly port: number;
  /** Ids of its processes. */
  processes(): { readonly patroni: number; readonly postgres: readonly number[] };
  /** Those of its processes that send changes to standbys. */
  walSenders(): readonly number[];
  startPatroni(): void;
}

export interface Cluster {
  readonly members: readonly Member[];
  /** The address of HAProxy, which leads to the primary. */
  readonly url: string;
  /** The address of PgBouncer in front of it, which pools transactions. */
  readonly pooledUrl: string;
  /** The primary that Patroni names. */
  primary(): Promise<Member>;
  switchOver(): Promise<void>;
  /** Resolves when all members run, and one is a synchronous standby if the cluster has one. */
  healthy(): Promise<void>;
  close(): Promise<void>;
}

/** Ends all processes and removes all files when the pipe of the starter ends, also when it is killed. */
const GUARD = `
  read -r _ <&3
  cd "$0" || exit
  for file in pids/*; do [ -e "$file" ] && kill -KILL $(cat "$file"); done
  for file in members/*/data/postmaster.pid; do
    [ -e "$file" ] || continue
    pid=$(head -n 1 "$file")
    pkill -KILL -P "$pid"; kill -KILL "$pid"
  done
  sleep 0.5
  for disk in members/* etcd; do umount -l "$disk"; done
  cd /; rm -rf "$0"`;

interface User {
  readonly uid: number;
  readonly gid: number;
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
}

export async function startCluster({ isSynchronous }: { readonly isSynchronous: boolean }): Promise<Cluster> {
  const user = { uid: idOf('-u'), gid: idOf('-g') };
  const root = mkdtempSync('/tmp/flags-cluster-');
  const folder = (path: string): string => {
    const full = join(root, path);
    mkdirSync(full, { recursive: true, mode: 0o755 });
    chownSync(full, user.uid, user.gid);
    return full;
  };
  chownSync(root, user.uid, user.gid);
  for (const path of ['pids', 'members', 'logs']) folder(path);
  const guard = spawn('/bin/sh', ['-c', GUARD, root], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  guard.unref();
  const run = createRunner(root, user);

  const disk = (path: string, megabytes: number) => {
    const full = folder(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', full]);
    chownSync(full, user.uid, user.gid);
    return full;
  };
  const etcdPort = await freePort();
  const [client, peer] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${await freePort()}`];
  run(
    'etcd',
    ['/usr/bin/etcd', '--data-dir', join(disk('etcd', 300), 'data'), '--listen-client-urls', client]
      .concat(['--advertise-client-urls', client, '--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer])
      .concat(['--initial-cluster', `default=${peer}`, '--log-level', 'error']),
  );

  const members: (Member & { readonly rest: number })[] = [];
  for (const name of ['m0', 'm1', 'm2']) {
    const [port, rest] = [await freePort(), await freePort()];
    const path = disk(`members/${name}`, 500);
    const gate = await startGate(etcdPort);
    const settings = join(path, 'patroni.yml');
    writeFileSync(
      settings,
      JSON.stringify(patroniSettings({ name, port, rest, path, etcd: gate.port, isSynchronous })),
    );
    let patroni: ChildProcess;
    const startPatroni = () => {
      patroni = run(name, ['/usr/bin/patroni', settings]);
    };
    startPatroni();
    const processes = () => ({ patroni: patroni.pid ?? 0, postgres: postgresIn(path) });
    const walSenders = () => childrenOf(path, 'walsender');
    members.push({ name, gate, disk: path, port, rest, processes, walSenders, startPatroni });
  }

  const [haproxyPort, pooledPort] = [await freePort(), await freePort()];
  const haproxy = join(root, 'haproxy.cfg');
  const servers = members.map(({ name, port, rest }) => `  server ${name} 127.0.0.1:${port} check port ${rest}\n`);
  writeFileSync(haproxy, `${HAPROXY}  bind 127.0.0.1:${haproxyPort}\n${servers.join('')}`);
  run('haproxy', ['/usr/sbin/haproxy', '-db', '-f', haproxy]);
  const pgbouncer = join(root, 'pgbouncer.ini');
  writeFileSync(pgbouncer, pgbouncerSettings({ port: pooledPort, database: haproxyPort }));
  run('pgbouncer', ['/usr/sbin/pgbouncer', pgbouncer]);

  async function states(): Promise<readonly MemberState[]> {
    for (const { rest } of members) {
      try {
        const signal = AbortSignal.timeout(1_000);
        const found = (await (await fetch(`http://127.0.0.1:${rest}/cluster`, { signal })).json()) as Answer;
        if (found.members.length > 0) return found.members;
      } catch {
        // Another member answers.
      }
    }
    return [];
  }

  async function primary(): Promise<Member> {
    for (;;) {
      const leader = (await states()).find(({ role }) => role === 'leader');
      const member = members.find(({ name }) => name === leader?.name);
      if (member) return member;
      await pause(200);
    }
  }

  const cluster: Cluster = {
    members,
    url: `postgres://postgres@127.0.0.1:${haproxyPort}/postgres`,
    pooledUrl: `postgres://postgres@127.0.0.1:${pooledPort}/postgres`,
    primary,
    async switchOver() {
      const leader = (await primary()) as (typeof members)[number];
      const standby = (await states()).find(({ role }) => role === (isSynchronous ? 'sync_standby' : 'replica'));
      const body = JSON.stringify({ leader: leader.name, candidate: standby?.name });
      await fetch(`http://127.0.0.1:${leader.rest}/switchover`, { method: 'POST', body });
    },
    async healthy() {
      const deadline = performance.now() + 90_000;
      for (;;) {
        const found = await states();
        const running = found.filter(({ state }) => ['running', 'streaming'].includes(state));
        const hasLeader = found.some(({ role }) => role === 'leader');
        const hasStandby = !isSynchronous || found.some(({ role }) => role === 'sync_standby');
        if (running.length === members.length && hasLeader && hasStandby) return;
        if (performance.now() > deadline) throw new Error(`The cluster does not heal: ${JSON.stringify(found)}`);
        await pause(500);
      }
    },
    async close() {
      guard.ref();
      (guard.stdio[3] as { end?: (text: string) => void }).end?.('\n');
      await once(guard, 'exit');
      for (const { gate } of members) gate.close();
    },
  };
  try {
    await cluster.healthy();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

interface Answer {
  readonly members: readonly MemberState[];
}

interface MemberState {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** Starts programs as the user postgres, and notes their ids for the guard. */
function createRunner(root: string, user: User): (name: string, command: readonly string[]) => ChildProcess {
  return (name, [program = '', ...input]) => {
    const output = openSync(join(root, 'logs', name), 'a');
    const child = spawn(program, input, { ...user, cwd: root, stdio: ['ignore', output, output], detached: true });
    closeSync(output);
    child.unref();
    writeFileSync(join(root, 'pids', name), `${child.pid}`);
    return child;
  };
}

/** The id of the server of a member; undefined while it does not run. */
function serverOf(disk: string): string | undefined {
  const file = join(disk, 'data/postmaster.pid');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] : undefined;
}

/** The processes of a server whose titles contain a text. */
function childrenOf(disk: string, title: string): readonly number[] {
  const server = serverOf(disk);
  if (server === undefined) return [];
  try {
    return execFileSync('pgrep', ['-P', server, '-f', title], { encoding: 'utf8' }).trim().split('\n').map(Number);
  } catch {
    // There is none.
    return [];
  }
}

/** The server and its children; none while it does not run. */
function postgresIn(disk: string): readonly number[] {
  const server = serverOf(disk);
  return server === undefined ? [] : [Number(server), ...childrenOf(disk, '')];
}

interface PatroniOptions {
  readonly name: string;
  readonly port: number;
  readonly rest: number;
  readonly path: string;
  readonly etcd: number;
  readonly isSynchronous: boolean;
}

function patroniSettings({ name, port, rest, path, etcd, isSynchronous }: PatroniOptions): object {
  const listen = (on: number) => ({ listen: `127.0.0.1:${on}`, connect_address: `127.0.0.1:${on}` });
  const parameters = { max_wal_size: '64MB', min_wal_size: '32MB', wal_keep_size: '64MB', max_connections: 100 };
  return {
    scope: 'flags',
    name,
    restapi: listen(rest),
    etcd3: { hosts: [`127.0.0.1:${etcd}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ...TIMES,
        maximum_lag_on_failover: 104_857_600,
        synchronous_mode: isSynchronous,
        postgresql: { use_pg_rewind: true, parameters: { ...parameters, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      ...listen(port),
      data_dir: join(path, 'data'),
      bin_dir: BIN,
      pgpass: join(path, 'pgpass'),
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      authentication: {
        superuser: { username: 'postgres', password: 'postgres' },
        replication: { username: 'replicator', password: 'replicator' },
      },
      parameters: { unix_socket_directories: path },
    },
  };
}

const HAPROXY = `defaults
  mode tcp
  timeout connect 2s
  timeout client 1d
  timeout server 1d
  timeout check 1s
listen primary
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
`;

function pgbouncerSettings({ port, database }: { readonly port: number; readonly database: number }): string {
  return `[databases]
* = host=127.0.0.1 port=${database} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
server_login_retry = 1
query_wait_timeout = 10
ignore_startup_parameters = extra_float_digits
`;
}
