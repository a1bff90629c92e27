import { postgresStorage } from '../../src/index.js';
import { databaseError, type Interference, interferedPool } from '../interfered-pool.js';
import { ownDatabase } from '../own-database.js';
import { change, flag } from '../samples.js';

const database = ownDatabase();

let interfere: Interference;
const pool = (rewrite?: (text: string) => string) =>
  interferedPool(database.pool(), (...heard) => interfere(...heard), rewrite);
const nothing: Interference = () => undefined;

beforeEach(() => {
  interfere = nothing;
});

/** After this statement, once. */
function once(text: string, interference: Interference): Interference {
  return (query, ...others) => {
    if (query.text !== text) return;
    interfere = nothing;
    interference(query, ...others);
  };
}

const ambiguous: Interference = () => {
  throw databaseError('40003', 'result is ambiguous');
};

describe('a commit of which the database says that it does not know whether it was carried out', () => {
  it('is looked for, and found', async () => {
    const storage = await postgresStorage({ pool: pool(), schema: 'found', feed: 'snapshot', listen: false });
    interfere = once('COMMIT', ambiguous);
    expect(await storage.commit(change('checkout'))).toEqual({ ok: true, revisions: [1] });
    await storage.close();
  });

  it('has an unknown outcome where there is no way to look for it', async () => {
    const other = pool((text) => text.replace('version()', "'CockroachDB'"));
    const storage = await postgresStorage({ pool: other, schema: 'unknown', listen: false });
    interfere = once('COMMIT', ambiguous);
    await expect(storage.commit(change('checkout'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect((await storage.get(flag('checkout')))?.revision).toBe(1);
    await storage.close();
  });
});

describe('a connection that is lost when all but the end of a commit was answered', () => {
  it.each(['snapshot', 'counter'] as const)('has changed nothing, and says so (%s)', async (feed) => {
    const storage = await postgresStorage({ pool: pool(), schema: `unsent_${feed}`, feed, listen: false });
    let sent = 0;
    interfere = (query, client) => {
      if (query.text === 'COMMIT') sent += 1;
      if (query.text.startsWith('BEGIN')) client.emit('error', new Error('Connection terminated unexpectedly'));
    };
    await expect(storage.commit(change('checkout'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(sent).toBe(0);
    interfere = nothing;
    expect(await storage.get(flag('checkout'))).toBeUndefined();
    expect(await storage.commit(change('checkout'))).toEqual({ ok: true, revisions: [1] });
    await storage.close();
  });
});
