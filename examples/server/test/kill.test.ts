import { join } from 'node:path';
import Database from 'better-sqlite3';
import { adminClient } from './admin-client.js';
import { endAll, type ServerProcess, startServer, temporaryDirectory } from './server-process.js';

const TOKEN = 'a-secret-for-this-test';
const ROUNDS = 3;
const WRITERS = 8;
const ACKNOWLEDGED_PER_ROUND = 100;

afterEach(endAll);

describe('a server that is killed while it writes', () => {
  it('has every acknowledged change and its event when it starts again, in a sound file', async () => {
    const directory = await temporaryDirectory();
    const file = join(directory.path, 'flags.db');
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      acknowledged.push(...(await writeUntilKilled(await start(file), `round-${round}`)));
      expect(integrityOf(file)).toBe('ok');
    }
    const server = await start(file);
    const client = adminClient(server.url, TOKEN);
    const names = new Set(await client.flagNames());
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    const told = new Set(await client.namesOfCreationEvents());
    expect(acknowledged.filter((name) => !told.has(name))).toEqual([]);
    await directory.remove();
  }, 120_000);
});

function start(file: string): Promise<ServerProcess> {
  return startServer({ FLAGS_DB: file, FLAGS_ADMIN_TOKEN: TOKEN });
}

/** Creates flags from several callers at once, kills the server among them, and tells which were answered with 201. */
async function writeUntilKilled(server: ServerProcess, prefix: string): Promise<string[]> {
  const client = adminClient(server.url, TOKEN);
  const acknowledged: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const name = `${prefix}-${writer}-${count}`;
      const response = await client.createFlag(name).catch(() => undefined);
      if (response === undefined) return;
      if (response.status === 201) acknowledged.push(name);
      if (acknowledged.length === ACKNOWLEDGED_PER_ROUND) server.send('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  await server.exit;
  expect(acknowledged.length).toBeGreaterThanOrEqual(ACKNOWLEDGED_PER_ROUND);
  return acknowledged;
}

function integrityOf(file: string): unknown {
  const database = new Database(file);
  try {
    return database.pragma('integrity_check', { simple: true });
  } finally {
    database.close();
  }
}
