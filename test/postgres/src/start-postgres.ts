import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Binaries, bundledBinaries } from './binaries.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import { programsWithinReach, type RunAs, runAs, serverDirectory } from './run-as.js';

export type StopMode = keyof typeof STOP_SIGNALS;

const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const;

/** A PostgreSQL of our own on a temporary directory, reached by a socket there: no port is taken. */
export interface PostgresServer {
  /** The major version. */
  readonly version: number;
  /** The connection string of one of its databases; the same after a restart. */
  url(database?: string): string;
  /**
   * Ends it and keeps its data: `fast` rolls back what is under way, `immediate` is a crash, to be recovered from. `killed`
   * is SIGKILL to the process that starts others: they end when they notice.
   */
  stop(mode: StopMode): Promise<void>;
  /** Starts it again on the same data; resolves when it takes connections. */
  start(): Promise<void>;
  /** Stops every one of its processes where it is, connections stay open, until `resume`. */
  suspend(): Promise<void>;
  resume(): void;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Those of the development dependencies when absent. */
  readonly binaries?: Binaries;
  /** Parameters of the server: `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Tests ask what is stored and who waits for whom, not what survives a power failure. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  wal_level: 'minimal',
  max_wal_senders: '0',
  listen_addresses: '',
};

/** Starts a PostgreSQL that ends with this process, however this process ends. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { binaries = bundledBinaries(), settings = {} } = options;
  const as = runAs();
  const directory = serverDirectory(as);
  const programs = programsWithinReach(binaries.directory, as, directory);
  await initialize(programs, { as, directory });
  const command = [join(programs, 'postgres'), ...argumentsFor(directory, settings)];
  const start = () => startServer({ command, directory, as });
  const server = await start();
  return controls({ server, start, directory, version: binaries.version });
}

interface Place {
  readonly directory: string;
  readonly as: RunAs;
}

/** The default collation is one that orders unlike code points, as databases of hosts do. */
async function initialize(programs: string, { directory, as }: Place): Promise<void> {
  const options = '--no-sync --auth=trust --username=postgres --encoding=UTF8 --no-locale';
  const collation = '--locale-provider=icu --icu-locale=en';
  await promisify(execFile)(
    join(programs, 'initdb'),
    [...options.split(' '), ...collation.split(' '), '--pgdata', join(directory, 'data')],
    { ...as, cwd: directory },
  );
}

function argumentsFor(directory: string, settings: PostgresOptions['settings']): string[] {
  const parameters = { ...SETTINGS, unix_socket_directories: directory, ...settings };
  const set = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', join(directory, 'data'), ...set];
}

async function startServer(place: Place & { command: string[] }): Promise<GuardedProcess> {
  const { command, directory, as } = place;
  const log = join(directory, 'log');
  const before = existsSync(log) ? readFileSync(log).length : 0;
  const server = startGuarded({ command, directory, log, as });
  while (!isReady(server, directory)) {
    if (!server.isRunning()) {
      const printed = readFileSync(log).subarray(before).toString();
      if (!LEFT_BEHIND.test(printed)) throw new Error(`PostgreSQL did not start:\n${printed}`);
      await pause(20);
      return startServer(place);
    }
    await pause(5);
  }
  return server;
}

/** What it says while processes of a server that was killed have not ended yet. */
const LEFT_BEHIND = /pre-existing shared memory block/;

/** The server writes down what it does: its process on the first line, how far it is on the eighth. */
function isReady({ pid }: GuardedProcess, directory: string): boolean {
  try {
    const lines = readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n');
    return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

interface Controlled {
  readonly server: GuardedProcess;
  readonly start: () => Promise<GuardedProcess>;
  readonly directory: string;
  readonly version: number;
}

function controls({ server: first, start, directory, version }: Controlled): PostgresServer {
  let server = first;
  let suspended: readonly number[] = [];
  const url = (database = 'postgres') =>
    `postgres://postgres@localhost:5432/${database}?host=${encodeURIComponent(directory)}`;
  const resume = () => {
    for (const pid of suspended) process.kill(pid, 'SIGCONT');
    suspended = [];
  };
  const stop = async (mode: StopMode) => {
    resume();
    server.signal(STOP_SIGNALS[mode]);
    await server.ended();
  };
  return {
    version,
    url,
    stop,
    resume,
    async start() {
      server = await start();
    },
    async suspend() {
      suspended = await suspendAll(server, url());
    },
    async close() {
      if (server.isRunning()) await stop('immediate');
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The one that starts others goes first, so that none is missed. */
async function suspendAll(server: GuardedProcess, url: string): Promise<number[]> {
  const client = new Client(url);
  await client.connect();
  server.signal('SIGSTOP');
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  await client.end();
  const others = rows.map(({ pid }) => pid);
  for (const pid of others) process.kill(pid, 'SIGSTOP');
  return [server.pid, ...others];
}
