import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { freshDatabase, type PostgresServer, startPostgres } from '@flags/test-postgres';
import { Client } from 'pg';

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query({ text: statement, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

describe('the PostgreSQL of the run', () => {
  it('creates databases that nobody else uses', async () => {
    const one = await freshDatabase();
    const other = await freshDatabase();
    await ask(one.url, 'CREATE TABLE flags (name text)');
    expect(await ask(other.url, "SELECT to_regclass('flags')")).toEqual([null]);
    await one.drop();
    await expect(ask(one.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
    await other.drop();
  });

  it('copies databases', async () => {
    const template = await freshDatabase();
    await ask(template.url, 'CREATE TABLE flags AS SELECT 7 AS number');
    const copy = await freshDatabase({ template: template.url });
    expect(await ask(copy.url, 'SELECT number FROM flags')).toEqual([7]);
    await Promise.all([template.drop(), copy.drop()]);
  });

  it('sorts text unlike code points by default', async () => {
    const { url, drop } = await freshDatabase();
    const sorted = (collation: string) =>
      ask(url, `SELECT name FROM (VALUES ('B'), ('a')) AS names (name) ORDER BY name ${collation}`);
    expect(await sorted('')).toEqual(['a', 'B']);
    expect(await sorted('COLLATE "C"')).toEqual(['B', 'a']);
    await drop();
  });
});

describe('a PostgreSQL of its own', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: '7' } });
  });
  afterAll(() => server.close());

  it('has the given settings', async () => {
    expect(await ask(server.url(), 'SHOW max_connections')).toEqual(['7']);
  });

  it.each(['fast', 'immediate', 'killed'] as const)(
    'keeps its data and its address when it is ended (%s)',
    async (mode) => {
      await ask(server.url(), `CREATE TABLE ${mode} AS SELECT 7 AS number`);
      await server.stop(mode);
      await expect(ask(server.url(), 'SELECT 1')).rejects.toThrow(/ECONNREFUSED|ENOENT/);
      await server.start();
      expect(await ask(server.url(), `SELECT number FROM ${mode}`)).toEqual([7]);
    },
  );

  it('answers nobody while it is suspended, and everybody afterwards', async () => {
    const client = new Client(server.url());
    await client.connect();
    await server.suspend();
    const answers = { early: 0 };
    const answered = Promise.all([client.query('SELECT 1'), ask(server.url(), 'SELECT 1')]).then(() => answers.early++);
    await pause(50);
    expect(answers.early).toBe(0);
    server.resume();
    await answered;
    await client.end();
  });
});

describe('a PostgreSQL whose starter is killed', () => {
  it('ends and leaves nothing behind', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', STARTER], {
      cwd: __dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { pid, directory } = await announcementOf(child);
    child.kill('SIGKILL');
    while (isAlive(pid) || existsSync(directory)) await pause(20);
  });
});

const STARTER = `
  import { startPostgres } from '@flags/test-postgres';
  import { readFileSync } from 'node:fs';
  const server = await startPostgres();
  const directory = new URL(server.url()).searchParams.get('host');
  const pid = Number(readFileSync(directory + '/data/postmaster.pid', 'utf8').split('\\n')[0]);
  console.log(JSON.stringify({ pid, directory }));
  setInterval(() => undefined, 1000);`;

async function announcementOf(child: ChildProcess): Promise<{ pid: number; directory: string }> {
  const [line] = await once(child.stdout ?? child, 'data');
  return JSON.parse(String(line));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
