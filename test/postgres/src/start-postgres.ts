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

/** A PostgreSQL in a temporary directory, on a socket there instead of a port. */
export interface PostgresServer {
  /** The major version. */
  readonly version: number;
  /** The connection string of one of its databases. It stays the same after a restart. */
  url(database?: string): string;
  /**
   * Ends the server and keeps its data. `fast` rolls running transactions back, `immediate` is a crash. `killed` sends SIGKILL
   * to the main process; the others end when they notice.
   */
  stop(mode: StopMode): Promise<void>;
  /** Starts it again on the same data. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Suspends all its processes until `resume`. Connections stay open. */
  suspend(): Promise<void>;
  resume(): void;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Default: the programs of the development dependencies. */
  readonly binaries?: Binaries;
  /** Server parameters: `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Fast instead of safe: tests do not simulate power failures. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  wal_level: 'minimal',
  max_wal_senders: '0',
  listen_addresses: '',
};

/** Starts a PostgreSQL that ends with this process, also after SIGKILL. */
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

/** The default collation differs from code-point order, as in most databases of hosts. */
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

/** The log message while processes of a killed server are still running. */
const LEFT_BEHIND = /pre-existing shared memory block/;

/** `postmaster.pid` has the process id on line 1 and the status on line 8. */
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

/** Suspends the main process first, so that it starts no others meanwhile. */
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
