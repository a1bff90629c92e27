import type { MetricsStorage } from '@flags/core';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Client } from 'pg';
import { openedMetrics } from './opened-metrics.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
/** More than there are shards: some nodes write the same rows. */
const NODES = 20;
const REPORTS = 10;
const FLAGS = Array.from({ length: 200 }, (_, index) => `flag-${1000 + index}`);

describe('nodes that report the same flags at the same time', () => {
  let database: FreshDatabase;
  let nodes: readonly MetricsStorage[];

  beforeAll(async () => {
    database = await freshDatabase();
    const place = { url: database.url, schema: 'public' };
    nodes = await Promise.all(Array.from({ length: NODES }, () => openedMetrics(place)));
  });
  afterAll(() => database.drop());

  it('are all counted exactly, and never deadlock', async () => {
    await Promise.all(nodes.flatMap((node, index) => Array.from({ length: REPORTS }, () => report(node, index))));
    const [node] = nodes;
    const sum = NODES * REPORTS;
    expect(await node?.counts({ after: 0 })).toEqual(FLAGS.map((flag) => ({ flag, yes: sum, no: 2 * sum })));
    expect(await node?.usage()).toEqual(FLAGS.map((flag) => ({ application: 'shop', flag, count: 3 * sum })));
    const late = Math.ceil(NODES / 3) * REPORTS;
    const hours = await node?.timedUsage({ unit: 'hour', from: 0, flag: 'flag-1000' });
    expect(hours?.map(({ start, yes, no }) => [start, yes, no])).toEqual([
      [NOW - HOUR, late, 2 * late],
      [NOW, sum - late, 2 * (sum - late)],
    ]);
    expect((await node?.application('shop'))?.instances).toHaveLength(2);
    // A session adds to the statistics when it ends, at the latest.
    for (const open of nodes) await open.close();
    expect(await deadlocksIn(database.url)).toBe('0');
  });
});

/** Half of the nodes report the flags in reverse order. All nodes share two instances. Some report the hour before. */
function report(node: MetricsStorage, index: number) {
  const flags = index % 2 === 0 ? FLAGS : FLAGS.toReversed();
  return node.record([
    {
      application: 'shop',
      instance: { id: `shop-${index % 2}` },
      at: NOW,
      stop: index % 3 === 0 ? NOW - HOUR : NOW,
      counts: flags.map((flag) => ({ flag, yes: 1, no: 2 })),
    },
  ]);
}

async function deadlocksIn(url: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  await client.end();
  return rows[0]?.deadlocks;
}
