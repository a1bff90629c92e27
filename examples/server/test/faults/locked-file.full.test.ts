import Database from 'better-sqlite3';
import { type AdminClient, adminClient, expectDone } from '../admin-client.js';
import { databaseOfEachTest } from '../database-file.js';
import { endAll, startServer } from '../server-process.js';
import { reportOnce } from './flag-life.js';
import { readStored } from './stored.js';

const RACED = '/api/admin/projects/default/features/raced';

const file = databaseOfEachTest();

describe('two servers, and a program that locks their file', () => {
  it('answer changes with 503 and Retry-After in time, and continue to serve reads', async () => {
    const starting = [1, 2].map(() => startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' }));
    const clients = (await Promise.all(starting)).map(({ url }) => adminClient(url, 'none'));
    const any = (index: number) => clients[index % 2] as AdminClient;
    await expectDone(() => any(0).createFlag('raced'));
    const other = new Database(file.path);
    other.exec('BEGIN IMMEDIATE');
    const changes = [
      ...Array.from({ length: 60 }, (_, index) => any(index).put(RACED, { name: 'raced', description: 'late' })),
      ...Array.from({ length: 20 }, (_, index) => any(index).createFlag(`flag-${index}`)),
      ...Array.from({ length: 20 }, (_, index) => reportOnce(any(index))),
    ];
    for (const client of clients) {
      expect((await client.get(RACED)).status).toBe(200);
      expect((await client.get('/api/client/features')).status).toBe(200);
    }
    const answers = await Promise.all(changes);
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      answers.map(() => [503, '1']),
    );
    other.exec('ROLLBACK');
    other.close();
    for (const client of clients) await expectDone(() => client.put(RACED, { name: 'raced', description: 'later' }));
    await endAll();
    const { events, counted } = await readStored(file.path);
    expect([events.get('raced flag-updated'), events.get('flag-0 flag-created'), counted]).toEqual([1, undefined, 0]);
  });
});
