import type { Flags } from '@flags/core';
import { type SqliteDatabase, sqliteStorage } from '@flags/core/sqlite';
import type { Express } from 'express';
import request, { type Test } from 'supertest';
import { createHostApp, FLAGS } from '../host-app.js';

const Database: new (file: string, options: object) => SqliteDatabase = require('better-sqlite3');

const REF = { project: 'default', flag: 'checkout', environment: 'production' };
const ROLLOUT = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', groupId: 'a', stickiness: 'default' },
} as const;

/** The only look-up: when the flag was last seen, which replies show and tags contain. */
const USAGE = /^\s*SELECT\b.*\bFROM flags_last_seen\b/s;

/*
 * A change answers with what its commit returned: no second operation, no further read of documents or events.
 */
describe('between the commit of a change and its reply', () => {
  let executed: string[];
  let database: SqliteDatabase;
  let flags: Flags;
  let app: Express;
  let secret: string;
  let strategy: string;

  beforeEach(async () => {
    executed = [];
    database = new Database(':memory:', { verbose: (sql: unknown) => executed.push(String(sql)) });
    const host = await createHostApp({
      router: { auth: 'token' },
      flags: { storage: sqliteStorage({ database }), pollInterval: 0, usage: { interval: 0 } },
    });
    flags = host.flags;
    app = host.app;
    secret = (await flags.tokens.create({ name: 'admin', kind: 'admin' })).secret;
    await flags.createFlag(REF, { name: 'checkout' });
    strategy = (await flags.addStrategy(REF, ROLLOUT)).id;
    // The first request also records the use of the token.
    await send(request(app).get(FLAGS)).expect(200);
  });

  afterEach(async () => {
    await flags.close();
    database.close();
  });

  const send = (call: Test) => call.set('authorization', secret);

  /** Returns the statements after the commit of a request, up to its reply. */
  async function statementsAfter(call: Test): Promise<readonly string[]> {
    executed.length = 0;
    const { status } = await send(call);
    expect(status).toBeLessThan(300);
    expect(executed.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
    return executed.slice(executed.indexOf('COMMIT') + 1);
  }

  it.each<[string, () => Test]>([
    ['createFlag', () => request(app).post(FLAGS).send({ name: 'cart' })],
    ['cloneFlag', () => request(app).post(`${FLAGS}/checkout/clone`).send({ name: 'cart' })],
    ['updateFlag', () => request(app).put(`${FLAGS}/checkout`).send({ name: 'checkout', stale: true })],
    [
      'patchFlag',
      () =>
        request(app)
          .patch(`${FLAGS}/checkout`)
          .send([patchOf('/stale', true)]),
    ],
    ['archiveFlag', () => request(app).delete(`${FLAGS}/checkout`)],
    [
      'setVariants',
      () =>
        request(app)
          .put(`${FLAGS}/checkout/variants`)
          .send([{ name: 'blue' }]),
    ],
    [
      'patchVariants',
      () =>
        request(app)
          .patch(`${FLAGS}/checkout/variants`)
          .send([patchOf('/-', { name: 'blue' })]),
    ],
    ['addStrategy', () => request(app).post(strategies()).send(ROLLOUT)],
    ['updateStrategy', () => request(app).put(`${strategies()}/${strategy}`).send({ name: 'default' })],
    [
      'patchStrategy',
      () =>
        request(app)
          .patch(`${strategies()}/${strategy}`)
          .send([patchOf('/parameters/rollout', '60')]),
    ],
    ['removeStrategy', () => request(app).delete(`${strategies()}/${strategy}`)],
    ['enable', () => request(app).post(`${FLAGS}/checkout/environments/production/on`)],
  ])('reads no document and no event for %s, and looks up usage once', async (_name, call) => {
    const statements = await statementsAfter(call());
    expect(statements.filter((sql) => !USAGE.test(sql))).toEqual([]);
    expect(statements).toHaveLength(1);
  });

  function strategies(): string {
    return `${FLAGS}/checkout/environments/production/strategies`;
  }

  function patchOf(path: string, value: unknown) {
    return { op: path === '/-' ? 'add' : 'replace', path, value };
  }

  it('brings the change into memory, where evaluation reads it', async () => {
    await send(request(app).post(`${FLAGS}/checkout/environments/production/on`)).expect(200);
    executed.length = 0;
    const known = flags.configuration({ environment: 'production' }).flags;
    expect(known).toMatchObject([{ name: 'checkout', enabled: true }]);
    expect(executed).toEqual([]);
  });
});
