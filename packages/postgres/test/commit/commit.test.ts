import type { FlagsStorage } from '@flags/core';
import { Pool } from 'pg';
import { until } from '../../../../test/until.js';
import { postgresStorage } from '../../src/index.js';
import { type Interference, interferedPool } from '../interfered-pool.js';
import { ownDatabase } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';

describe('commits', () => {
  const database = ownDatabase();

  const HOSTILE = `'; DROP TABLE flags_documents; -- \\'; \\\\ $1 $$ %s E'\\x00 {}" ; COMMIT; \u0000 ${'\\'}`;

  describe.each(['on', 'off'])('with standard_conforming_strings %s', (setting) => {
    let pool: Pool;
    let storage: FlagsStorage;

    beforeAll(async () => {
      pool = new Pool({ connectionString: database.url(), options: `-c standard_conforming_strings=${setting}` });
      pool.on('error', () => undefined);
      storage = await postgresStorage({ pool, schema: `strings_${setting}`, listen: false });
    });
    afterAll(async () => {
      await storage.close();
      await pool.end();
    });

    it('keep quotes, backslashes and text that looks like a statement, in every string of a commit', async () => {
      const key = { kind: HOSTILE, id: HOSTILE };
      const event = {
        type: HOSTILE,
        at: HOSTILE,
        actor: HOSTILE,
        changeSet: HOSTILE,
        subject: key,
        project: HOSTILE,
        environment: HOSTILE,
        data: { [HOSTILE]: HOSTILE },
        before: HOSTILE,
      };
      const body = { text: HOSTILE };
      const writes = [{ key, expected: 0, parent: HOSTILE, body, summary: HOSTILE }];
      const vacant = [{ kind: HOSTILE, parent: `${HOSTILE}'` }];
      expect(await storage.commit({ writes, vacant, events: [event] })).toEqual({ ok: true, revisions: [1] });
      expect(await storage.get(key)).toEqual({ key, parent: HOSTILE, revision: 1, body });
      expect(await storage.list({ kind: HOSTILE, parent: HOSTILE, part: 'summary' })).toMatchObject([
        { content: HOSTILE },
      ]);
      const { events } = await storage.events({ order: 'newest-first', limit: 1 });
      expect(events).toEqual([expect.objectContaining(event)]);
      expect(await storage.commit({ writes, checks: [], events: [] })).toEqual({ ok: false, conflict: key });
    });
  });

  describe('a feed without its offset', () => {
    it('refuses changes, because they would have no events', async () => {
      const storage = await postgresStorage({ connectionString: database.url(), schema: 'lost', listen: false });
      await storage.commit(change('before'));
      await database.ask("DELETE FROM lost.flags_meta WHERE name = 'feed_offset'");
      await expect(storage.commit(change('after'))).rejects.toMatchObject({ code: 'storage_unsupported' });
      expect(await storage.get(flag('after'))).toBeUndefined();
      await database.ask("INSERT INTO lost.flags_meta (name, value) VALUES ('feed_offset', 1)");
      await storage.commit(change('after'));
      expect(await subjectsAfter(storage)).toEqual(['before', 'after']);
      await storage.close();
    });
  });

  it('order a change after the commits that checked its document while it waited', async () => {
    const storage = await postgresStorage({ connectionString: database.url(), schema: 'waiting', listen: false });
    await storage.commit(change('source'));
    const other = await database.pool().connect();
    await other.query('BEGIN');
    await other.query("SELECT FROM waiting.flags_documents WHERE id = 'source' FOR SHARE");
    const changing = storage.commit(change('source', 1));
    const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await database.ask(waits)).length === 1);
    const checks = [{ key: flag('source'), expected: 1 }];
    expect(await storage.commit({ ...change('copy'), checks })).toEqual({ ok: true, revisions: [1] });
    await other.query('COMMIT');
    other.release();
    expect(await changing).toEqual({ ok: true, revisions: [2] });
    expect(await subjectsAfter(storage)).toEqual(['source', 'copy', 'source']);
    await storage.close();
  });
});

describe('a commit whose connection is lost before its COMMIT is sent', () => {
  const database = ownDatabase();

  it('fails with storage_unavailable, and nothing has changed', async () => {
    let interfere: Interference = () => undefined;
    const pool = interferedPool(database.pool(), (...answered) => interfere(...answered));
    const storage = await postgresStorage({ pool, schema: 'unsent', listen: false });
    let sent = 0;
    interfere = (query, client) => {
      if (query.text === 'COMMIT') sent += 1;
      if (query.text.startsWith('BEGIN')) client.emit('error', new Error('Connection terminated unexpectedly'));
    };
    await expect(storage.commit(change('checkout'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(sent).toBe(0);
    interfere = () => undefined;
    expect(await storage.get(flag('checkout'))).toBeUndefined();
    expect(await storage.commit(change('checkout'))).toEqual({ ok: true, revisions: [1] });
    await storage.close();
  });
});
