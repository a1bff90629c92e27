import { createFlags } from '@flags/core';
import { metricsConformance, storageConformance } from '@flags/core/testing';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { postgresStorage } from '../../src/index.js';
import { type LimitedServer, limitedServer } from '../limited-server.js';
import { metricsOf, refuseFlag } from '../metrics/opened-metrics.js';
import { ownDatabase } from '../own-database.js';
import { change } from '../samples.js';

const database = ownDatabase();
let server: LimitedServer;
let schemas = 0;

beforeAll(() => {
  server = limitedServer(database.pool());
});

/** Nothing is said of the feed: the storage finds out what the database can do. */
function open(schema: string) {
  return postgresStorage({ pool: server.pool, schema, outcomeTimeout: 300 });
}

function conforms(): void {
  storageConformance('postgresStorage on a database without transaction ids that has commits fail', async () => {
    schemas += 1;
    const again = () => open(`rule_${schemas}`);
    return { storage: await again(), again };
  });

  metricsConformance('the metrics on a database without advisory locks', async () => {
    schemas += 1;
    const schema = `metrics_${schemas}`;
    return {
      metrics: await metricsOf(open(schema)),
      again: () => metricsOf(open(schema)),
      refuse: (flag) => refuseFlag({ url: database.url(), schema }, flag),
    };
  });

  it('has had transactions fail at their end, and none of that was seen', () => {
    expect(server.lost()).toBeGreaterThan(20);
  });
}

extent({ short: () => undefined, full: conforms })();

describe('a database without transaction ids and notifications', () => {
  it('has its tables made once by ten nodes that start at once', async () => {
    const storages = await Promise.all(Array.from({ length: 10 }, () => open('together')));
    const results = await Promise.all(storages.map((storage) => storage.commit(change('checkout'))));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('is followed by polling', async () => {
    const nodes = await Promise.all(
      ['one', 'other'].map(() =>
        createFlags({ storage: open('followed'), pollInterval: 10, usageInterval: 0, onError: () => undefined }),
      ),
    );
    const [writer, reader] = nodes;
    await writer?.createFlag({ project: 'default' }, { name: 'checkout' });
    await writer?.addStrategy({ project: 'default', flag: 'checkout', environment: 'production' }, { name: 'default' });
    await writer?.enable({ project: 'default', flag: 'checkout', environment: 'production' });
    await until(() => reader?.isEnabled('checkout'));
    expect(reader?.status()).toMatchObject({ state: 'current' });
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('keeps its order when it is opened on PostgreSQL, and refuses one that it cannot keep', async () => {
    const limited = await open('moved');
    await limited.commit(change('first'));
    await limited.close();
    const moved = await postgresStorage({ pool: database.pool(), schema: 'moved', listen: false });
    await moved.commit(change('second'));
    await moved.close();
    const ordered = await postgresStorage({ pool: database.pool(), schema: 'ordered', listen: false });
    await ordered.close();
    await expect(open('ordered')).rejects.toMatchObject({ code: 'storage_unsupported' });
  });
});
