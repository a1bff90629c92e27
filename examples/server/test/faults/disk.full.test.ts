import { spawnSync } from 'node:child_process';
import { chmod, chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminClient, adminClient } from '../admin-client.js';
import { databaseOfEachTest } from '../database-file.js';
import { endAll, PROGRAM, runToEnd, type ServerProcess, startServer } from '../server-process.js';
import { reportOnce } from './flag-life.js';
import { readStored } from './stored.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

const file = databaseOfEachTest();

/** Creates flags, a few at a time, until a server answers all with 503. Returns the names of the created flags. */
async function createUntilFull(client: AdminClient): Promise<string[]> {
  const created: string[] = [];
  for (let round = 0; ; round += 1) {
    const names = Array.from({ length: 8 }, (_, index) => `flag-${round}-${index}`);
    const answers = await Promise.all(names.map((name) => client.createFlag(name)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    created.push(...names.filter((_, index) => statuses[index] === 201));
    if (statuses.every((status) => status === 503)) return created;
  }
}

/** A small change may still fit where a large one does not. */
async function untilRefused(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const answer = await ask();
    if (!answer.ok) return answer;
  }
}

async function expectServedAndRefused(server: ServerProcess, flag: string): Promise<void> {
  const client = adminClient(server.url, 'none');
  const refused = await untilRefused(() =>
    client.put(`/api/admin/projects/default/features/${flag}`, { name: flag, description: `${Math.random()}` }),
  );
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({ name: 'ServiceUnavailableError', code: 'storage_unavailable' });
  expect((await untilRefused(() => reportOnce(client))).status).toBe(503);
  expect((await client.get(`/api/admin/projects/default/features/${flag}`)).status).toBe(200);
  expect((await client.get('/api/client/features')).status).toBe(200);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
}

async function expectKept(created: readonly string[]): Promise<void> {
  const { events } = await readStored(file.path);
  expect(created.length).toBeGreaterThan(0);
  const flags = [...events.keys()].filter((name) => name.endsWith(' flag-created'));
  expect(flags.toSorted()).toEqual(created.map((name) => `${name} flag-created`).toSorted());
}

describe('a server whose files cannot grow', () => {
  it('refuses changes, serves the stored flags, and keeps every acknowledged change over a restart', async () => {
    const restraint = { fileBlocks: 1_200 };
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' }, restraint);
    const created = await createUntilFull(adminClient(server.url, 'none'));
    await expectServedAndRefused(server, created[0] ?? '');
    expect(server.log().find(({ res }) => res?.statusCode === 503)).toMatchObject({ err: { type: 'FlagsError' } });
    await server.end('SIGKILL');
    await expectKept(created);
    const again = adminClient((await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' })).url, 'none');
    expect((await again.createFlag('one-more')).status).toBe(201);
  });
});

describe('a server whose file is removed', () => {
  it('refuses changes that would be lost, reports that it is not healthy, and continues to evaluate', async () => {
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' });
    const client = adminClient(server.url, 'none');
    expect((await client.createFlag('checkout')).status).toBe(201);
    await rm(file.path);
    const refused = await client.createFlag('second');
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining('removed or replaced') }),
    ]);
    expect((await client.get('/api/client/features')).status).toBe(200);
    expect((await client.get('/api/admin/projects/default/features/checkout')).status).toBe(200);
    expect((await fetch(`${server.url}/health`)).status).toBe(503);
  });
});

const canMount = isRoot && mountsWork();

(canMount ? describe : describe.skip)('a server whose disk is full', () => {
  beforeEach(() => {
    expect(run('mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', file.directory)).toBe(0);
  });

  afterEach(async () => {
    await endAll();
    expect(run('umount', '-l', file.directory)).toBe(0);
  });

  it('refuses changes and serves the stored flags until there is room again', async () => {
    const filler = join(file.directory, 'filler');
    await writeFile(filler, Buffer.alloc(2 ** 20));
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' });
    const client = adminClient(server.url, 'none');
    const created = await createUntilFull(client);
    await expectServedAndRefused(server, created[0] ?? '');
    await rm(filler);
    expect((await client.createFlag('after')).status).toBe(201);
    expect((await reportOnce(client)).status).toBe(202);
    await server.end('SIGKILL');
    await expectKept([...created, 'after']);
  });

  it('does not start without any room, and says why', async () => {
    const blocks = Buffer.alloc(4096);
    let index = 0;
    const fill = () =>
      writeFile(join(file.directory, `filler-${index++}`), blocks).then(
        () => true,
        () => false,
      );
    while (await fill());
    const { code, printed } = await runToEnd({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' });
    expect(code).toBe(1);
    expect(printed).toMatch(/cannot be used \(.*(full|disk)/);
  });
});

(nobodyCanRun() ? describe : describe.skip)('a server that is not allowed to write', () => {
  const uid = isRoot ? { uid: NOBODY } : {};

  async function expectRefused(): Promise<void> {
    const { code, printed } = await runToEnd({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' }, uid);
    expect([code, printed]).toEqual([1, expect.stringMatching(/cannot be (used|opened|written to)/)]);
  }

  beforeEach(async () => {
    const server = await startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' });
    await adminClient(server.url, 'none').createFlag('checkout');
    await server.end('SIGTERM');
    if (isRoot) await Promise.all([file.directory, file.path].map((path) => chown(path, NOBODY, NOBODY)));
  });

  afterEach(() => chmod(file.directory, 0o755));

  it('does not start if it cannot write to its file, and leaves the file unchanged', async () => {
    await chmod(file.path, 0o444);
    await expectRefused();
    await expectKept(['checkout']);
  });

  it('does not start if it cannot write to its directory, and leaves the file unchanged', async () => {
    await chmod(file.directory, 0o555);
    await expectRefused();
    await chmod(file.directory, 0o755);
    await expectKept(['checkout']);
  });
});

function run(command: string, ...parameters: readonly string[]): number | null {
  return spawnSync(command, parameters).status;
}

/** Root may write everywhere, so the server runs as nobody: where that user may read it. */
function nobodyCanRun(): boolean {
  if (!isRoot) return true;
  return spawnSync(process.execPath, ['--check', PROGRAM], { uid: NOBODY }).status === 0;
}

/** In a container root may not be allowed to. */
function mountsWork(): boolean {
  return run('sh', '-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && umount "$d" && rmdir "$d"') === 0;
}
