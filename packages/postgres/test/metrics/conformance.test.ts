import { metricsConformance } from '@flags/core/testing';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { onEveryVersion } from '../server/on-every-version.js';
import { openedMetrics, refuseFlag } from './opened-metrics.js';

onEveryVersion((name, server) => {
  let database: FreshDatabase;
  let count = 0;

  beforeAll(async () => {
    database = await freshDatabase({ server: server() });
  });
  afterAll(() => database.drop());

  metricsConformance(`the metrics on ${name}`, async () => {
    const place = { url: database.url, schema: `case_${count++}` };
    return {
      metrics: await openedMetrics(place),
      again: () => openedMetrics(place),
      refuse: (flag) => refuseFlag(place, flag),
    };
  });
});
