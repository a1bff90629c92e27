import { randomUUID } from 'node:crypto';
import type { UsageStorage } from '@flags/core';
import type { Database } from '../../src/database.js';
import { tableNames } from '../../src/tables.js';
import { usageDeletion } from '../../src/usage/deletion.js';
import { ownDatabase } from '../own-database.js';
import { openedUsage } from './opened-usage.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const FLAGS = Array.from({ length: 100 }, (_, index) => ({ flag: `flag-${1000 + index}`, yes: 1, no: 0 }));

const database = ownDatabase();
let usage: UsageStorage;

beforeAll(async () => {
  usage = await openedUsage({ url: database.url(), schema: 'public' });
});
afterAll(() => usage.close());

it('beyond a bound, the oldest rows of public reporters go first, then those of the largest application', async () => {
  const record = (application: string, age: number, isPublic: boolean) => {
    const stop = NOW - age * HOUR;
    const report = { application, instance: { id: '1' }, stop, counts: FLAGS };
    return usage.record({ id: randomUUID(), at: stop, reporter: { token: application, isPublic }, reports: [report] });
  };
  for (const age of [4, 3, 2, 1, 0]) await record('shop', age, false);
  for (const age of [5, 0]) await record('page', age, true);
  await record('small', 6, false);

  const query = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await database.ask(text, [...values])) as Row[];
  const statements = { query, write: ({ text }: { text: string }) => query(text) } as unknown as Database;
  const lock = { shared: '', exclusive: <T>(work: (one: Database) => Promise<T>) => work(statements) };
  const names = tableNames({ schema: 'public', tablePrefix: 'flags_' });
  const { prune } = usageDeletion({ database: statements, names, lock }, [{ condition: 'resolution = 2', bound: 350 }]);
  expect(await prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 450 });
  const rows = await usage.sum({ resolution: 'hour', by: ['application', 'start'] });
  expect(rows.map(({ application, start, yes }) => [application, (NOW - start) / HOUR, yes])).toEqual([
    ['shop', 2, 50],
    ['shop', 1, 100],
    ['shop', 0, 100],
    ['small', 6, 100],
  ]);
  expect(await prune({ now: NOW })).toEqual({ names: 0, reports: 0, usage: 0 });
});
