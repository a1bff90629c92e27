import { extent } from '../../../../test/extent.js';
import { type AdminClient, adminClient, expectDone, refusal } from '../admin-client.js';
import { databaseOfEachTest } from '../database-file.js';
import { endAll, startServer } from '../server-process.js';
import { LIFE, reportOnce } from './flag-life.js';
import { readStored } from './stored.js';

/** The number of flags that each writer takes through their life cycle, with its other requests at each step. */
const LIVES = extent({ short: 2, full: 100 });
const WRITERS = extent({ short: 4, full: 8 });
const RACED = '/api/admin/projects/default/features/raced';

const file = databaseOfEachTest();

async function startServers(count: number): Promise<readonly AdminClient[]> {
  const starting = Array.from({ length: count }, () => startServer({ FLAGS_DB: file.path, FLAGS_AUTH: 'none' }));
  return (await Promise.all(starting)).map(({ url }) => adminClient(url, 'none'));
}

/** The results of a load. */
interface Tally {
  readonly acknowledged: string[];
  reports: number;
  won: number;
  lost: number;
}

describe.each(extent({ short: [2], full: [2, 4] }))('%d servers on one file', (count) => {
  it('lose no change of a mixed load, and give the same answers afterwards', async () => {
    const clients = await startServers(count);
    await expectDone(() => any(clients).createFlag('raced'));
    await expectDone(() => any(clients).put(RACED, { name: 'raced', description: '0' }));
    const tally: Tally = { acknowledged: [], reports: 0, won: 0, lost: 0 };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => load(clients, writer, tally)));

    const { description } = (await (await any(clients).get(RACED)).json()) as { description: string };
    expect(tally.lost).toBeGreaterThan(0);
    expect(description).toBe(String(tally.won));
    await expectAlike(clients, '/api/client/features');
    await expectAlike(clients, '/api/frontend?userId=7');
    await endAll();
    const { events, counted } = await readStored(file.path);
    expect(tally.acknowledged).toHaveLength(WRITERS * LIVES * LIFE.length);
    expect(tally.acknowledged.filter((event) => events.get(event) !== 1)).toEqual([]);
    expect(events.get('default member-added')).toBe(WRITERS * LIVES);
    expect(events.get('default member-removed')).toBe(WRITERS * LIVES);
    expect(events.get('raced flag-updated')).toBe(tally.won + 1);
    expect(counted).toBe(tally.reports);
  });
});

/** One writer of a mixed load: every request goes to any of the servers. */
async function load(clients: readonly AdminClient[], writer: number, tally: Tally): Promise<void> {
  for (let life = 0; life < LIVES; life += 1) {
    const flag = `flag-${writer}-${life}`;
    for (const { event, request } of LIFE) {
      await expectDone(() => request(any(clients), flag));
      tally.acknowledged.push(`${flag} ${event}`);
      await expectDone(() => any(clients).get('/api/admin/projects/default'));
      await race(any(clients), tally);
    }
    await expectDone(() => reportOnce(any(clients)));
    tally.reports += 1;
    const member = `/api/admin/projects/default/users/${1 + writer * LIVES + life}/roles/5`;
    await expectDone(() => any(clients).post(member));
    await expectDone(() => any(clients).remove(member));
  }
}

/** Increments the number in the description of a flag, unless another writer has done so since it was read. */
async function race(client: AdminClient, tally: Tally): Promise<void> {
  const read = await client.get(RACED);
  const { description } = (await read.json()) as { description: string };
  const etag = read.headers.get('etag') ?? '';
  const answer = await client.put(
    RACED,
    { name: 'raced', description: String(Number(description) + 1) },
    { 'if-match': etag },
  );
  if (answer.ok) tally.won += 1;
  else if (answer.status === 412) tally.lost += 1;
  else throw await refusal(answer);
}

/** Asks all servers until they answer with the same bytes: each finds the changes of the others by itself. */
async function expectAlike(clients: readonly AdminClient[], path: string): Promise<void> {
  for (;;) {
    const texts = await Promise.all(clients.map(async (client) => (await client.get(path)).text()));
    if (new Set(texts).size === 1) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function any(clients: readonly AdminClient[]): AdminClient {
  return clients[Math.floor(Math.random() * clients.length)] as AdminClient;
}
