import { execSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extent, isFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { adminClient } from '../admin-client.js';
import { endAll, type ServerProcess, startServer } from '../server-process.js';
import { connectIdle, type IdleClients } from './idle-clients.js';

const WANTED = extent({ short: 200, full: 10_000 });
const HEARTBEATS = extent({ short: 0, full: 2 });
const KIBIBYTE = 1024;
/** Descriptors that are needed for other things. */
const RESERVE = 200;
/** The maximum memory of one idle stream, and the variation of the server's memory without any. */
const PER_STREAM = 64 * KIBIBYTE;
const NOISE = 32 * KIBIBYTE * KIBIBYTE;

afterEach(endAll);

/** As many as the limit of open files permits, here and in the server. */
function possible(): number {
  const limit = Number(execSync('ulimit -n', { shell: '/bin/sh', encoding: 'utf8' }));
  const count = Number.isNaN(limit) ? WANTED : Math.min(WANTED, limit - RESERVE);
  if (count < WANTED) console.warn(`Only ${count} of ${WANTED} streams: the limit of open files is ${limit}.`);
  return count;
}

/** Resident bytes; 0 if the system does not report them. */
function memoryOf({ pid }: ServerProcess): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 0) * KIBIBYTE;
}

describe('idle connections to the event stream', () => {
  it(`take a bounded amount of memory each, receive every change, delay nobody, and leave nothing: ${WANTED}`, async () => {
    const count = possible();
    const server = await startServer({ FLAGS_DB: ':memory:', FLAGS_AUTH: 'none', FLAGS_MAX_CONNECTIONS: '20000' });
    const admin = adminClient(server.url, '');
    await admin.createFlag('before');
    const empty = memoryOf(server);
    const peaks: number[] = [];
    for (let round = 0; round < 3; round++) {
      const clients = await connectIdle(server.url, count);
      await until(() => clients.withMessages(1) === count);
      await expectToHear(clients, { count, change: () => admin.createFlag(`change-${round}`) });
      peaks.push(memoryOf(server));
      expect((await fetch(`${server.url}/health`)).status).toBe(200);
      await clients.leave();
    }
    const [first = 0] = peaks;
    const kib = (bytes: number) => Math.round(bytes / KIBIBYTE);
    if (isFull) {
      console.info(
        `${count} streams: ${kib((first - empty) / count)} KiB each; peaks ${peaks.map(kib).join(', ')} KiB.`,
      );
    }
    await checkMemory(async () => {
      expect(first - empty).toBeLessThan(count * PER_STREAM + NOISE);
      // The server keeps nothing of closed connections, but a busy process collects garbage late.
      await until(() => memoryOf(server) - first < (count * PER_STREAM) / 4 + NOISE);
    });
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

/** A few streams cost less than the usual variation of a process. */
const checkMemory = extent({ short: async () => undefined, full: (check: () => Promise<void>) => check() });

async function expectToHear(
  clients: IdleClients,
  { count, change }: { readonly count: number; readonly change: () => Promise<unknown> },
): Promise<void> {
  await until(() => clients.withHeartbeats(HEARTBEATS) === count);
  await change();
  await until(() => clients.withMessages(2) === count);
  expect(clients.open()).toBe(count);
}
