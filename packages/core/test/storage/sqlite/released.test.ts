import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { foldEvents, hasHistory } from '../../../src/changesets/aggregates.js';
import { readCheckpoint } from '../../../src/changesets/unit-of-work.js';
import { flagDocuments } from '../../../src/flags/flag.js';
import { createFlags } from '../../../src/index.js';
import { projectDocuments } from '../../../src/projects/project.js';
import { segmentDocuments } from '../../../src/segments/segment.js';
import type { Aggregate } from '../../../src/storage/documents.js';
import type { FlagsStorage, ListedDocument } from '../../../src/storage/port.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { tokenDocuments } from '../../../src/tokens/token.js';
import { expectContentOf01 } from '../../fixtures/expect-content.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { ADMIN_SECRET, CHECKOUT } from './released/lived-in.js';
import { storedIn } from './released/stored.js';

describe('files of earlier versions', () => {
  const RELEASED = join(__dirname, 'released');
  const NAMES = readdirSync(RELEASED).flatMap((file) => (file.endsWith('.db.gz') ? [file.replace('.db.gz', '')] : []));
  const AGGREGATES = [flagDocuments, projectDocuments, tokenDocuments, segmentDocuments] as Aggregate<unknown, never>[];

  /** Flags of release 0.1 have neither labels nor an owner. */
  function upcast(listed: ListedDocument): ListedDocument {
    if (listed.key.kind !== 'flag') return listed;
    return { ...listed, content: { labels: [], owner: null, ...(listed.content as object) } };
  }

  async function expectReplayed(storage: FlagsStorage, { kind, evolve }: Aggregate<unknown, never>): Promise<void> {
    for (const { key, content } of await storage.list({ kind, part: 'body' })) {
      const { events } = await storage.events({ order: 'oldest-first', filter: { subject: key }, limit: 1000 });
      const state = hasHistory(key)
        ? foldEvents(kind, undefined, events)
        : events.reduce<unknown>((folded, event) => evolve(folded, event as never), undefined);
      expect(state).toEqual(content);
    }
  }

  function schemaVersion(path: string): number {
    return inFile(path, (database) =>
      Number(database.prepare("SELECT value FROM flags_meta WHERE name = 'schema_version'").pluck().get()),
    );
  }

  function schemaOf(path: string): unknown {
    return inFile(path, (database) =>
      database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all(),
    );
  }

  function inFile<T>(path: string, read: (database: Database.Database) => T): T {
    const database = new Database(path, { readonly: true });
    try {
      return read(database);
    } finally {
      database.close();
    }
  }

  let directory: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  afterEach(() => directory.remove());

  function unpack(name: string): string {
    const path = join(directory.path, `${name}.db`);
    writeFileSync(path, gunzipSync(readFileSync(join(RELEASED, `${name}.db.gz`))));
    return path;
  }

  it('exist for every earlier schema version', async () => {
    const path = join(directory.path, 'new.db');
    await (await sqliteStorage(path)).close();
    const earlier = Array.from({ length: Math.max(1, schemaVersion(path) - 1) }, (_, index) => index + 1);
    const kept = new Set(NAMES.map((name) => schemaVersion(unpack(name))));
    expect(earlier.filter((version) => !kept.has(version))).toEqual([]);
  });

  it.each(NAMES)('keep their content, in documents and in events: %s', async (name) => {
    const storage = await sqliteStorage(unpack(name));
    const released = JSON.parse(readFileSync(join(RELEASED, `${name}.json`), 'utf8'));
    const events = released.events.map((event: object) => ({ changeSet: null, reason: null, ...event }));
    expect(await storedIn(storage)).toEqual({ ...released, bodies: released.bodies.map(upcast), events });
    for (const aggregate of AGGREGATES) await expectReplayed(storage, aggregate);
    await storage.close();
  });

  it.each(NAMES)('have the same values after a change is undone: %s', async (name) => {
    const storage = await sqliteStorage(unpack(name));
    const flags = await createFlags({ storage, onProblem: () => undefined });
    // A flag need not store an empty list of dependencies.
    const values = async () =>
      (await storage.list({ kind: 'flag', part: 'body' })).map(({ content }) => ({
        dependencies: [],
        ...Object(content),
      }));
    const before = await values();
    const production = { ...CHECKOUT, environment: 'production' };
    const { id } = await flags.apply([
      { op: 'updateFlag', ref: CHECKOUT, input: { description: 'new', labels: ['a'] } },
      { op: 'configureEnvironment', ref: production, input: { enabled: false, strategies: [] } },
      { op: 'addDependency', ref: { ...CHECKOUT, flag: 'kept' }, input: { flag: 'constructor' } },
      { op: 'archiveFlag', ref: { ...CHECKOUT, flag: 'banner' } },
      { op: 'deleteFlag', ref: { flag: 'banner' } },
      { op: 'reviveFlag', ref: { flag: 'copy' } },
    ]);
    expect(await values()).not.toEqual(before);
    await flags.undoChangeSet({ changeSet: `${id}` });
    expect(await values()).toEqual(before);
    for (const aggregate of AGGREGATES) await expectReplayed(storage, aggregate);
    await flags.close();
  });

  it.each(NAMES)('are migrated to the current schema, equal to that of new files: %s', async (name) => {
    const [path, fresh] = [unpack(name), join(directory.path, 'new.db')];
    await (await sqliteStorage(path)).close();
    await (await sqliteStorage(fresh)).close();
    expect(schemaVersion(path)).toBe(schemaVersion(fresh));
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
  });

  it('keep flags with nested members of the names that flags get', async () => {
    const path = unpack('schema-1');
    const nested = { strategies: [{ parameters: { labels: '\u0000 \ud800 "labels":', owner: '' } }] };
    const present = { ...nested, labels: ['a'], owner: 'team' };
    const database = new Database(path);
    const insert = database.prepare(
      "INSERT INTO flags_documents (kind, id, revision, summary, body) VALUES ('flag', ?, 1, 'null', ?)",
    );
    insert.run('nested', JSON.stringify(nested));
    insert.run('present', JSON.stringify(present));
    database.close();
    await (await sqliteStorage(path)).close();
    const bodies = inFile(path, (file) =>
      file.prepare("SELECT body FROM flags_documents WHERE id IN ('nested', 'present') ORDER BY id").pluck().all(),
    );
    expect(bodies).toEqual([{ labels: [], owner: null, ...nested }, present].map((body) => JSON.stringify(body)));
  });

  it('have checkpoints of 0.2, which are converted', async () => {
    const path = unpack('schema-2');
    const database = new Database(path);
    const insert = database.prepare(
      "INSERT INTO flags_documents (kind, id, revision, summary, body) VALUES ('checkpoint', ?, 1, 'null', ?)",
    );
    for (const id of ['flag f200 200', 'flag f200 1200', 'segment 7 400']) insert.run(id, JSON.stringify({ id }));
    database.close();
    const storage = await sqliteStorage(path);
    const before = (revision: number) => readCheckpoint(storage, { kind: 'flag', id: 'f200' }, revision);
    expect(await before(1201)).toEqual({ state: { id: 'flag f200 1200', labels: [], owner: null }, revision: 1200 });
    expect(await before(1200)).toMatchObject({ state: { id: 'flag f200 200' }, revision: 200 });
    expect(await before(200)).toBeUndefined();
    expect(await readCheckpoint(storage, { kind: 'segment', id: '7' }, 500)).toEqual({
      state: { id: 'segment 7 400' },
      revision: 400,
    });
    await storage.close();
  });

  it.each(NAMES)('can be used like any other: %s', async (name) => {
    const path = unpack(name);
    const flags = await createFlags({ storage: sqliteStorage(path), onProblem: () => undefined });
    expect(await flags.verifyToken(ADMIN_SECRET)).toMatchObject({ name: 'the admin', kind: 'admin' });
    expect(await flags.verifyToken('*:*.a-deleted-secret')).toBeUndefined();
    expect(flags.isEnabled('checkout', { userId: '7' })).toBe(true);
    expect(flags.isEnabled('banner', { userId: '7' })).toBe(false);
    await flags.disable({ ...CHECKOUT, environment: 'production' });
    expect(flags.isEnabled('checkout', { userId: '7' })).toBe(false);
    // Created, archived and deleted before: its revision continues.
    expect(await flags.createFlag({ project: 'shop' }, { name: 'deleted' })).toMatchObject({ revision: 4 });
    await flags.close();

    const again = await createFlags({ storage: sqliteStorage(path), onProblem: () => undefined });
    const [newest] = (await again.listEvents({ limit: 1 })).items;
    expect(newest).toMatchObject({ type: 'flag-created', flag: 'deleted' });
    await again.close();
  });
});

describe('a SQLite file of release 0.1 that later rules would refuse', () => {
  it.each([{}, { stateLimit: 1_000_000 }])('is read, evaluated and changed, with %j', async (options) => {
    const directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    writeFileSync(path, gunzipSync(readFileSync(join(__dirname, '../../fixtures/release-0.1.db.gz'))));
    const flags = await createFlags({ ...options, storage: sqliteStorage(path), onProblem: () => undefined });
    if ('stateLimit' in options) await flags.archiveFlag({ project: 'default', flag: 'large' });
    else await expectContentOf01(flags);
    await flags.close();
    directory.remove();
  });
});
