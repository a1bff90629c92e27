import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { exchange, type SentRequest } from '../http/exchange.js';
import type { Contender } from './contender.js';

/** The memory of a process, in bytes. */
export interface Memory {
  readonly resident: number;
  /** The JavaScript heap after a collection of all garbage. */
  readonly live: number;
}

/** A contender that answers. */
export interface RunningServer {
  readonly origin: string;
  /** Milliseconds from its start to its first good answer. */
  readonly startup: number;
  /** Microseconds of processor time that its process has used, without that of a database beside it; NaN but on Linux. */
  processorTime(): Promise<number>;
  /** Bytes of its process, without those of a database beside it. */
  residentMemory(): Promise<number>;
  /** Collects all garbage after it has read the resident memory. */
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const PROBE = new URL('memory-probe.js', import.meta.url).href;
const PATIENCE = 120_000;
const GRACE = 5_000;
const MICROSECONDS_PER_TICK = 10_000;

/** Starts it and asks, again and again, until it answers this request with 200. */
export async function startProgram(contender: Contender, first: SentRequest): Promise<RunningServer> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, ['--expose-gc', '--import', PROBE, contender.program], {
    env: { ...process.env, NODE_ENV: 'production', ...contender.environment(port) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const end = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    child.kill('SIGTERM');
    const impatience = setTimeout(kill, GRACE);
    await end;
    clearTimeout(impatience);
    process.off('exit', kill);
  };
  while (!(await answers(origin, first))) {
    if (child.exitCode === null && performance.now() - started < PATIENCE) await pause(5);
    else throw new Error(`${contender.name} does not answer.`);
  }
  const startup = performance.now() - started;
  const pid = child.pid ?? Number.NaN;
  const ask = async (figure: 'resident' | 'live') => {
    const told = once(child, 'message');
    child.send(figure);
    const [answer] = await told;
    return answer as number;
  };
  const residentMemory = () => ask('resident');
  const memory = async () => ({ resident: await ask('resident'), live: await ask('live') });
  return { origin, startup, processorTime: () => processorTime(pid), residentMemory, memory, stop };
}

async function answers(origin: string, request: SentRequest): Promise<boolean> {
  try {
    return (await exchange(origin, request)).status === 200;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return address.port;
}

async function processorTime(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // What comes before is the name of the program, which may hold anything.
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(line) ?? [];
  return (Number(user) + Number(system)) * MICROSECONDS_PER_TICK;
}
