import { postgresStorage } from '../../src/index.js';
import { type Interference, interferedPool } from '../interfered-pool.js';
import { ownDatabase } from '../own-database.js';
import { change, flag } from '../samples.js';

const database = ownDatabase();

describe('a commit whose connection is lost before its COMMIT is sent', () => {
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
