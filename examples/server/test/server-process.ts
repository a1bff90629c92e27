import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** The server as `tsc -b` compiles it. */
export const COMPILED = join(__dirname, '../dist/main.js');
/** The same in one file: loading hundreds of files takes half of the time of a start. */
export const PROGRAM = bundled(COMPILED);
/** As `npm start` has them: Node 22 warns about its SQLite. */
const OPTIONS = ['--disable-warning=ExperimentalWarning'];
const started = new Set<ChildProcess>();

/** The reference server as a separate process, as `npm start` runs it. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything it has printed so far. */
  printed(): string;
  /** The lines of its log. */
  log(): readonly LogLine[];
  /** Sends a signal and resolves to the exit code (null: ended by the signal) once it has ended. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  send(signal: NodeJS.Signals): void;
  /** Leaves standard output unread, so that the pipe fills, until `resumeReading`. */
  pauseReading(): void;
  resumeReading(): void;
  readonly exit: Promise<number | null>;
}

export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly url?: string;
  /** The number of missing lines before this one. */
  readonly dropped?: number;
  readonly req?: { readonly id: string; readonly method: string; readonly url: string };
  readonly res?: { readonly statusCode: number };
}

/** The restrictions of a server by the operating system. */
export interface Restraint {
  /** The maximum size of a file, in blocks of 512 bytes. */
  readonly fileBlocks?: number;
  /** The user that it runs as; only root may name another. */
  readonly uid?: number;
}

/** Starts a server on a free port and resolves when it listens; rejects with its output if it ends instead. */
export async function startServer(
  environment: Readonly<Record<string, string>>,
  restraint: Restraint = {},
  program = PROGRAM,
): Promise<ServerProcess> {
  const { child, printed, exit } = run(environment, restraint, program);
  const url = await Promise.race([listening(child, printed), exit.then((code) => refused(code, printed()))]);
  return {
    url,
    pid: child.pid ?? 0,
    printed,
    log: () => logLines(printed()),
    send: (signal) => void child.kill(signal),
    pauseReading: () => void child.stdout.pause(),
    resumeReading: () => void child.stdout.resume(),
    end(signal) {
      child.kill(signal);
      return exit;
    },
    exit,
  };
}

/** Runs a server that is expected to end by itself. */
export async function runToEnd(environment: Readonly<Record<string, string>>, restraint: Restraint = {}) {
  const { exit, printed } = run(environment, restraint);
  return { code: await exit, printed: printed() };
}

/** Ends the servers that a failed test has left running. */
export async function endAll(): Promise<void> {
  for (const child of started) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
}

/** Bundles the server beside the bundle of `npm start`, where it finds the drivers. Test files do so at the same time. */
function bundled(program: string): string {
  const folder = join(__dirname, '../bundle');
  const [file, own] = [join(folder, 'tested.cjs'), join(folder, `tested.${process.pid}.cjs`)];
  mkdirSync(folder, { recursive: true });
  buildSync({
    entryPoints: [program],
    outfile: own,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['better-sqlite3', 'pg', 'pg-native'],
    keepNames: true,
    logLevel: 'error',
  });
  renameSync(own, file);
  return file;
}

function run(environment: Readonly<Record<string, string>>, { fileBlocks, uid }: Restraint, program = PROGRAM) {
  const limit = fileBlocks === undefined ? '' : `ulimit -f ${fileBlocks}; `;
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, ...OPTIONS, program], {
    ...(uid !== undefined && { uid }),
    env: { PATH: process.env.PATH, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const exit = once(child, 'close').then(([code]) => {
    started.delete(child);
    return code as number | null;
  });
  return { child, printed: () => text, exit };
}

function listening(child: ChildProcess, printed: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.on('data', () => {
      const line = logLines(printed()).find(({ msg }) => msg === 'listening');
      if (line?.url !== undefined) resolve(line.url);
    });
  });
}

function logLines(printed: string): LogLine[] {
  const whole = printed.slice(0, printed.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}

function refused(code: number | null, printed: string): never {
  throw new Error(`The server ended with ${code}: ${printed}`);
}
