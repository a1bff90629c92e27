import { randomUUID } from 'node:crypto';
import type { UsageStorage } from '@flags/core';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Client } from 'pg';
import { openedUsage } from './opened-usage.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const NODES = 20;
const REPORTS = 10;
const FLAGS = Array.from({ length: 200 }, (_, index) => `flag-${1000 + index}`);

describe('nodes that report the same flags at the same time', () => {
  let database: FreshDatabase;
  let nodes: readonly UsageStorage[];

  beforeAll(async () => {
    database = await freshDatabase();
    const place = { url: database.url, schema: 'public' };
    nodes = await Promise.all(Array.from({ length: NODES }, () => openedUsage(place)));
  });
  afterAll(() => database.drop());

  it('are all counted exactly, and never deadlock', async () => {
    await Promise.all(nodes.flatMap((node, index) => Array.from({ length: REPORTS }, () => report(node, index))));
    const [node] = nodes;
    const sum = NODES * REPORTS;
    const pairs = await node?.sum({ resolution: 'ever', by: ['application', 'flag'] });
    expect(pairs).toEqual(FLAGS.map((flag) => ({ application: 'shop', flag, yes: sum, no: 2 * sum })));
    const late = Math.ceil(NODES / 3) * REPORTS;
    for (const resolution of ['minute', 'hour'] as const) {
      const counts = await node?.sum({ resolution, by: ['flag', 'start'], flag: 'flag-1000' });
      expect(counts?.map(({ start, yes, no }) => [start, yes, no])).toEqual([
        [NOW - HOUR, late, 2 * late],
        [NOW, sum - late, 2 * (sum - late)],
      ]);
    }
    const [shop] = (await node?.applications({ instances: true })) ?? [];
    expect(shop?.instances).toHaveLength(2);
    // A session adds to the statistics when it ends, at the latest.
    for (const open of nodes) await open.close();
    expect(await deadlocksIn(database.url)).toBe('0');
  });
});

/** Half of the nodes report the flags in reverse order. All nodes share two instances. Some report the hour before. */
function report(node: UsageStorage, index: number) {
  const flags = index % 2 === 0 ? FLAGS : FLAGS.toReversed();
  const report = {
    application: 'shop',
    instance: { id: `shop-${index % 2}` },
    stop: index % 3 === 0 ? NOW - HOUR : NOW,
    counts: flags.map((flag) => ({ flag, yes: 1, no: 2 })),
  };
  return node.record({ id: randomUUID(), at: NOW, reports: [report] });
}

async function deadlocksIn(url: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  await client.end();
  return rows[0]?.deadlocks;
}
