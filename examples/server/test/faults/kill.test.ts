import { extent } from '../../../../test/extent.js';
import { adminClient } from '../admin-client.js';
import { databaseOfEachTest } from '../database-file.js';
import { type ServerProcess, startServer } from '../server-process.js';
import { LIFE, reportOnce } from './flag-life.js';
import { expectSoundFile, readStored } from './stored.js';

const ROUNDS = extent({ short: 2, full: 100 });
const WRITERS = 8;
/** A server is killed after a random number of changes, at most this one. */
const MOST_ANSWERS = 200;

const file = databaseOfEachTest();

describe('a server that is killed while it writes', () => {
  it('keeps every acknowledged change once and whole, counts every acknowledged report, and leaves a sound file', async () => {
    const acknowledged: string[] = [];
    const reports = { sent: 0, acknowledged: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' });
      acknowledged.push(...(await writeUntilKilled(server, { prefix: `round-${round}`, reports })));
      expectSoundFile(file.path);
    }
    const { events, counted } = await readStored(file.path);
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS);
    expect(acknowledged.filter((event) => events.get(event) !== 1)).toEqual([]);
    expect([...events].filter(([, count]) => count !== 1)).toEqual([]);
    expect(counted).toBeGreaterThanOrEqual(reports.acknowledged);
    expect(counted).toBeLessThanOrEqual(reports.sent);
  });
});

interface Round {
  readonly prefix: string;
  readonly reports: { sent: number; acknowledged: number };
}

/** Changes flags from several callers at once, kills the server among them, and returns the acknowledged events. */
async function writeUntilKilled(server: ServerProcess, { prefix, reports }: Round): Promise<string[]> {
  const client = adminClient(server.url, 'none');
  const last = 1 + Math.floor(Math.random() * MOST_ANSWERS);
  const acknowledged: string[] = [];
  const report = async (): Promise<boolean> => {
    reports.sent += 1;
    const isAnswered = await isDone(reportOnce(client));
    if (isAnswered) reports.acknowledged += 1;
    return isAnswered;
  };
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      for (const { event, request } of LIFE) {
        const flag = `${prefix}-${writer}-${count}`;
        if (!(await isDone(request(client, flag)))) return;
        acknowledged.push(`${flag} ${event}`);
        if (acknowledged.length === last) server.send('SIGKILL');
      }
      if (!(await report())) return;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  await server.exit;
  return acknowledged;
}

/** Returns whether a change succeeded. Fails if it was refused. */
async function isDone(answer: Promise<Response>): Promise<boolean> {
  const response = await answer.catch(() => undefined);
  if (response === undefined) return false;
  if (!response.ok) throw new Error(`A change was refused with ${response.status}: ${await response.text()}`);
  return true;
}
