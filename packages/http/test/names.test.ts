import { join } from 'node:path';
import { type Flags, isFlagsError, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import Database from 'better-sqlite3';
import type { Express } from 'express';
import request from 'supertest';
import { temporaryDirectory } from '../../core/test/storage/temporary-directory.js';
import { createHostApp } from './host-app.js';

const DEFAULT = { project: 'default' };
const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
const ADMIN = '/api/admin';
const NOW = new Date().toISOString();
const REGISTRATION = { strategies: [], started: NOW, interval: 10_000 };
const BUCKET = { start: NOW, stop: NOW, toggles: {} };

describe('a name that stands in paths', () => {
  let flags: Flags;
  let app: Express;

  afterEach(() => flags.close());

  async function start(): Promise<void> {
    ({ app, flags } = await createHostApp());
    await flags.createFlag(DEFAULT, { name: 'checkout' });
  }

  const post = (path: string, body: object) => request(app).post(path).send(body);
  const importing = (definitions: object) => post(`${ADMIN}/import`, { definitions: { version: 1, ...definitions } });

  /** Every way to give a name over HTTP. */
  const WAYS: readonly (readonly [string, (name: string) => request.Test])[] = [
    ['a flag', (name) => post(`${ADMIN}/projects/default/features`, { name })],
    ['a clone', (name) => post(`${ADMIN}/projects/default/features/checkout/clone`, { name })],
    ['a project', (id) => post(`${ADMIN}/projects`, { id, name: 'New' })],
    ['a tag', (value) => post(`${ADMIN}/features/checkout/tags`, { type: 'simple', value })],
    [
      'one of several tags',
      (value) =>
        request(app)
          .put(`${ADMIN}/features/checkout/tags`)
          .send({ addedTags: [{ value }], removedTags: [] }),
    ],
    [
      'a label of a new flag',
      (label) =>
        post(`${ADMIN}/projects/default/features`, {
          name: `new-${encodeURIComponent(label)}`.replaceAll('%', ''),
          labels: [label],
        }),
    ],
    [
      'a label',
      (label) =>
        request(app)
          .put(`${ADMIN}/projects/default/features/checkout`)
          .send({ name: 'checkout', labels: [label] }),
    ],
    [
      'a label in a patch',
      (label) =>
        request(app)
          .patch(`${ADMIN}/projects/default/features/checkout`)
          .send([{ op: 'add', path: '/labels/0', value: label }]),
    ],
    [
      'a label in a set',
      (label) =>
        post(`${ADMIN}/changes`, { changes: [{ op: 'updateFlag', ref: CHECKOUT, input: { labels: [label] } }] }),
    ],
    ['an imported flag', (name) => importing({ flags: [{ name, project: 'default' }] })],
    ['an imported label', (label) => importing({ flags: [{ name: 'new', project: 'default', labels: [label] }] })],
    ['an imported project', (id) => importing({ projects: [{ id, name: 'New' }] })],
    ['an application', (appName) => post('/api/client/register', { ...REGISTRATION, appName })],
    ['an application that reports', (appName) => post('/api/client/metrics', { appName, bucket: BUCKET })],
    ['a page', (appName) => post('/api/frontend/client/register', { ...REGISTRATION, appName })],
    ['an application of a proxy', (appName) => post('/api/client/metrics/bulk', { applications: [{ appName }] })],
  ];

  it.each(WAYS)('is neither . nor ..: %s', async (_what, give) => {
    await start();
    const before = [await flags.definitions.export(), (await flags.applications.list()).items];
    for (const name of ['.', '..']) {
      const { body } = await give(name).expect(400);
      expect(JSON.stringify(body)).toMatch(/not \. or \.\.|not be \. or \.\./);
    }
    expect([await flags.definitions.export(), (await flags.applications.list()).items]).toEqual(before);
    for (const name of ['...', '.a', 'a..', '%2e', '-']) {
      const { status } = await give(name);
      if (name !== '%2e') expect([name, status < 300]).toEqual([name, true]);
    }
  });

  it.each(['.', '..'])('is not %s for a consumer either', async (name) => {
    await start();
    await expect(flags.consume(name, () => undefined)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('is not *, which means all, for a project and for an environment', async () => {
    await start();
    for (const [what, give] of WAYS.filter(([one]) => one.endsWith('project'))) {
      const { body } = await give('*').expect(400);
      expect([what, body.message]).toEqual([what, expect.stringContaining('*')]);
    }
    await expect(openFlags({ storage: memoryStorage(), environments: [{ name: '*' }] })).rejects.toMatchObject({
      message: expect.stringMatching(/environments\/0\/name .*not \. or \.\. or \*/),
    });
  });
});

describe('a stored name that is refused now', () => {
  const directory = temporaryDirectory();
  const file = join(directory.path, 'flags.db');
  let flags: Flags;
  let app: Express;

  /** A store with these names, written past the rules. */
  beforeAll(async () => {
    const earlier = await openFlags({ storage: sqliteStorage(file), usage: { interval: 0 } });
    await earlier.createProject({ id: 'STAR', name: 'All' });
    await earlier.createFlag({ project: 'STAR' }, { name: 'starred' });
    await earlier.createFlag(DEFAULT, { name: 'checkout', labels: ['DOT', 'x'] });
    await earlier.registerApplication({ application: 'DOT', strategies: [] });
    await earlier.registerApplication({ application: 'web', strategies: [] });
    await earlier.close();
    const database = new Database(file);
    const replaced = (column: string) => `replace(replace(${column}, '"STAR"', '"*"'), '"DOT"', '"."')`;
    database.exec(`
      UPDATE flags_documents SET body = ${replaced('body')}, summary = ${replaced('summary')};
      UPDATE flags_documents SET id = '*' WHERE id = 'STAR';
      UPDATE flags_documents SET parent = '*' WHERE parent = 'STAR';
      UPDATE flags_events SET data = ${replaced('data')}, before = ${replaced('before')};
      UPDATE flags_events SET subject_id = '*' WHERE subject_id = 'STAR';
      UPDATE flags_events SET project = '*' WHERE project = 'STAR';
      UPDATE flags_applications SET name = '.' WHERE name = 'DOT';
      UPDATE flags_instances SET application = '.' WHERE application = 'DOT';
    `);
    database.close();
    flags = await openFlags({ storage: sqliteStorage(file), usage: { interval: 0 } });
    ({ app } = await createHostApp({ engine: flags }));
  });

  afterAll(async () => {
    await flags?.close();
    directory.remove();
  });

  const labels = async () => (await flags.getFlag(CHECKOUT)).labels;

  it('stays, and does not hinder changes of its neighbours', async () => {
    expect(await labels()).toEqual(['.', 'x']);
    const path = `${ADMIN}/projects/default/features/checkout`;
    await request(app)
      .patch(path)
      .send([{ op: 'add', path: '/labels/-', value: 'y' }])
      .expect(200);
    await request(app)
      .put(path)
      .send({ name: 'checkout', labels: ['.', 'x', 'z'] })
      .expect(200);
    await request(app)
      .put(path)
      .send({ name: 'checkout', labels: ['.', '..'] })
      .expect(400);
    await request(app).post(`${ADMIN}/features/checkout/tags`).send({ value: 'w' }).expect(201);
    expect(await labels()).toEqual(['.', 'x', 'z', 'w']);
    const { body } = await request(app).post(`${path}/clone`).send({ name: 'copy' }).expect(201);
    expect(body.labels).toEqual(['.', 'x', 'z', 'w']);
    await flags.updateProject({ project: '*' }, { description: 'Stored' });
  });

  it('is imported again into its own store, but not into another', async () => {
    const definitions = await flags.definitions.export();
    expect(await flags.definitions.import(definitions)).toMatchObject({ changeSet: null });
    const other = await openFlags({ storage: memoryStorage() });
    const refusal = await other.definitions.import(definitions).catch((error: unknown) => error);
    expect(isFlagsError(refusal) && refusal.details.map(({ path }) => path)).toEqual([
      '/projects/0/id',
      '/flags/0/labels/0',
      '/flags/1/labels/0',
    ]);
    await other.close();
  });

  it('comes back with an undo', async () => {
    const { id } = await flags.apply([{ op: 'updateFlag', ref: CHECKOUT, input: { labels: [] } }]);
    await flags.history.undo({ changeSet: id ?? '' });
    expect(await labels()).toContain('.');
  });

  it('can be removed', async () => {
    const tags = { addedTags: [], removedTags: [{ type: 'simple', value: '.' }] };
    await request(app).put(`${ADMIN}/features/checkout/tags`).send(tags).expect(200);
    expect(await labels()).toEqual(['x', 'z', 'w']);
    const names = async () => (await flags.applications.list()).items.map(({ name }) => name);
    expect(await names()).toEqual(['.', 'web']);
    await request(app).delete(`${ADMIN}/metrics/applications?appName=.`).expect(200);
    expect(await names()).toEqual(['web']);
    await request(app).delete(`${ADMIN}/projects/*/features/starred`).expect(202);
    await request(app).delete(`${ADMIN}/projects/*`).expect(200);
    expect((await flags.listProjects()).items.map(({ id }) => id)).toEqual(['default']);
  });
});
