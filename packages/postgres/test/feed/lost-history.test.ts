import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, type FlagsError, type FlagsEvent, type FlagsStorage, openFlags } from '@flags/core';
import { until } from '../../../../test/until.js';
import { createHostApp } from '../../../http/test/host-app.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase, ownServer } from '../own-database.js';
import { change } from '../samples.js';

const CHECKOUT = { project: 'default', flag: 'checkout', environment: 'production' };

/** What a failover without synchronous replication does to the nodes: the last commits are gone. */
describe('a database that has lost changes', () => {
  const database = ownDatabase();
  const opened: Flags[] = [];
  let errors: unknown[] = [];

  async function openNode(pollInterval = 0): Promise<Flags> {
    const storage = postgresStorage({ pool: database.pool(), listen: false });
    const node = await openFlags({ storage, pollInterval, onError: (error) => void errors.push(error) });
    opened.push(node);
    return node;
  }

  /** Remembers all rows, and the numbers that the server gives to events. */
  async function keep(): Promise<void> {
    await database.ask(`
      DROP TABLE IF EXISTS kept_documents, kept_events;
      CREATE TABLE kept_documents AS TABLE flags_documents;
      CREATE TABLE kept_events AS TABLE flags_events`);
  }

  /** Brings back what was kept, in one transaction. */
  async function lose(): Promise<void> {
    await database.ask(`
      BEGIN;
      DELETE FROM flags_documents; INSERT INTO flags_documents TABLE kept_documents;
      DELETE FROM flags_events; INSERT INTO flags_events TABLE kept_events;
      COMMIT`);
  }

  /** Gives the newest event the position of an event that was lost, as a server does that gives its numbers again. */
  async function moveNewest(position: string): Promise<void> {
    const [commitOrder, id] = position.split('-');
    await database.ask(
      'UPDATE flags_events SET commit_order = $1, id = $2 WHERE commit_order = (SELECT max(commit_order) FROM flags_events)',
      [commitOrder, id],
    );
  }

  beforeEach(async () => {
    errors = [];
    await database.ask('DROP TABLE IF EXISTS kept_documents, kept_events');
  });
  afterEach(async () => {
    for (const node of opened.splice(0)) await node.close();
    await database.ask('DELETE FROM flags_documents; DELETE FROM flags_events');
  });

  async function twoNodes(): Promise<readonly [Flags, Flags]> {
    const writer = await openNode();
    await writer.createFlag(CHECKOUT, { name: 'checkout' });
    await writer.addStrategy(CHECKOUT, { name: 'default' });
    const reader = await openNode();
    await keep();
    await writer.enable(CHECKOUT);
    return [writer, reader];
  }

  it('is read again by nodes that have seen the changes, and they say so', async () => {
    const nodes = await twoNodes();
    for (const node of nodes) await node.refresh();
    expect(nodes.map((node) => node.isEnabled('checkout'))).toEqual([true, true]);
    expect(nodes.map((node) => node.status().historyLostAt)).toEqual([undefined, undefined]);
    await lose();
    for (const node of nodes) expect((await node.refresh()).state).toBe('current');
    expect(nodes.map((node) => node.isEnabled('checkout'))).toEqual([false, false]);
    expect(nodes.map((node) => node.status().historyLostAt)).toEqual([expect.any(String), expect.any(String)]);
    expect(errors.map((error) => (error as FlagsError).code)).toEqual(['history_lost', 'history_lost']);
  });

  it('is read again by the node whose own change was lost before it met it in the feed', async () => {
    const [writer, reader] = await twoNodes();
    await lose();
    for (const node of [writer, reader]) await node.refresh();
    expect(writer.isEnabled('checkout')).toBe(false);
    expect(errors).toMatchObject([{ code: 'history_lost' }]);
  });

  it('is consumed from its newest event on, and the consumer says so', async () => {
    const node = await openNode(20);
    await node.createFlag(CHECKOUT, { name: 'checkout' });
    await node.addStrategy(CHECKOUT, { name: 'default' });
    const seen: string[] = [];
    const losses: unknown[] = [];
    const handler = (events: readonly FlagsEvent[]) => void seen.push(...events.map(({ type }) => type));
    const options = { from: 'beginning', onHistoryLost: (position: unknown) => void losses.push(position) } as const;
    await node.consume('audit', handler, options);
    await until(() => seen.includes('strategy-added'));
    await keep();
    const { position: newest } = await node.events.listNext();
    await node.enable(CHECKOUT);
    await until(() => seen.includes('environment-enabled'));
    await lose();
    await until(() => losses.length > 0);
    expect(losses).toEqual([newest]);
    await node.disable(CHECKOUT);
    await node.enable(CHECKOUT);
    await until(() => seen.at(-1) === 'environment-enabled' && seen.length > 4);
    expect(seen).toEqual([
      'project-created',
      'flag-created',
      'strategy-added',
      'environment-enabled',
      'environment-enabled',
    ]);
  });

  it('is not mistaken for the old one when it gives a position and a revision again', async () => {
    const [writer, reader] = await twoNodes();
    for (const node of [writer, reader]) await node.refresh();
    const { position } = await reader.events.listNext();
    await lose();
    const other = await openNode();
    await other.updateFlag(CHECKOUT, { description: 'another change of the same revision' });
    await moveNewest(position ?? '');
    for (const node of [writer, reader]) await node.refresh();
    for (const node of [writer, reader]) {
      expect(node.isEnabled('checkout')).toBe(false);
      expect(node.configuration().flags).toEqual(other.configuration().flags);
    }
    await writer.enable(CHECKOUT);
    await reader.refresh();
    expect(reader.configuration().flags).toMatchObject([
      { description: 'another change of the same revision', enabled: true },
    ]);
  });

  it('tells listeners what differs', async () => {
    const [writer] = await twoNodes();
    await writer.createFlag(CHECKOUT, { name: 'lost' });
    const changed: string[] = [];
    writer.onConfigurationChange(({ flags }) => void changed.push(...flags));
    await lose();
    await writer.refresh();
    expect(changed.toSorted()).toEqual(['checkout', 'lost']);
    await writer.createFlag(CHECKOUT, { name: 'lost' });
    expect(writer.configuration().flags.map(({ name }) => name)).toEqual(['checkout', 'lost']);
  });

  it('tells subscribers, which then get every later event once', async () => {
    const [writer] = await twoNodes();
    const reader = await openNode(20);
    const heard: string[] = [];
    const { position } = await reader.events.listNext();
    const after = position ?? '';
    const onHistoryLost = () => void heard.push('history lost');
    reader.subscribe(({ type }) => void heard.push(type), { after, onHistoryLost });
    await writer.updateFlag(CHECKOUT, { description: 'lost' });
    await until(() => heard.length === 1);
    await lose();
    await until(() => heard.length === 2);
    const { type } = (await writer.apply([{ op: 'enable', ref: CHECKOUT }])).events[0] ?? {};
    await until(() => heard.length === 3);
    expect(heard).toEqual(['flag-updated', 'history lost', type]);
    await expect(reader.events.listNext({ after })).rejects.toMatchObject({ code: 'history_lost' });
  });

  it('ends the streams of clients that have lost events, and lets them start again', async () => {
    const storage = await postgresStorage({ pool: database.pool(), listen: false });
    const { app, flags } = await createHostApp({ flags: { storage, pollInterval: 20, onError: () => undefined } });
    const server = createServer(app).listen(0);
    await once(server, 'listening');
    const url = `http://localhost:${(server.address() as AddressInfo).port}/api/admin/event-stream`;
    await keep();
    const stream = await fetch(url);
    await flags.createFlag(CHECKOUT, { name: 'checkout' });
    let text = '';
    for await (const chunk of stream.body ?? []) {
      const isFirst = !text.includes('id:');
      text += Buffer.from(chunk as Uint8Array).toString();
      if (isFirst && text.includes('id:')) await lose();
    }
    const id = /id:(\S+)/.exec(text)?.[1] ?? '';
    const again = await fetch(url, { headers: { 'last-event-id': id } });
    expect([again.status, await again.json()]).toMatchObject([410, { name: 'HistoryLostError' }]);
    server.close();
    server.closeAllConnections();
    await flags.close();
  });
});

describe('a database that waits for a synchronous standby', () => {
  const database = ownServer({ settings: { wal_level: 'replica', max_wal_senders: '2' } });
  let storage: FlagsStorage;

  beforeAll(async () => {
    const name = new URL(database.url()).pathname.slice(1);
    storage = await postgresStorage({
      connectionString: database.url(),
      listen: false,
      queryTimeout: 700,
      outcomeTimeout: 300,
    });
    await storage.commit(change('before'));
    await storage.close();
    await database.ask(`ALTER DATABASE ${name} SET statement_timeout = 100`);
    await waitFor('nobody');
    const times = { queryTimeout: 700, outcomeTimeout: 300 };
    storage = await postgresStorage({ connectionString: database.url(), listen: false, ...times });
  });
  afterAll(() => storage.close());

  /** Asks until the answer is as expected. A busy machine may need longer than the time-out of the database. */
  async function untilAnswered(
    statement: string,
    isExpected: (rows: Awaited<ReturnType<typeof database.ask>>) => boolean = () => true,
  ): Promise<void> {
    await until(() => database.ask(statement).then(isExpected, () => false));
  }

  async function waitFor(standbys: string): Promise<void> {
    await untilAnswered(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await untilAnswered('SELECT pg_reload_conf()');
    await untilAnswered('SHOW synchronous_standby_names', ([row]) => row?.synchronous_standby_names === standbys);
  }

  it('does not acknowledge a commit because a time-out of the role ends the wait', async () => {
    await expect(storage.commit(change('timed out'))).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('does not acknowledge a commit that a restart made visible, before the standby has it', async () => {
    const commit = expect(storage.commit(change('restarted'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await untilAnswered(waiting, (rows) => rows.length >= 2);
    await database.server().stop('immediate');
    await database.server().start();
    await commit;
    await untilAnswered("SELECT 1 FROM flags_documents WHERE id = 'restarted'", (rows) => rows.length === 1);
    await waitFor('');
    expect(await storage.commit(change('restarted', 1))).toEqual({ ok: true, revisions: [2] });
  });
});
