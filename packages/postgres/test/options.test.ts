import { Pool } from 'pg';
import { createBatchLoader } from '../src/batches.js';
import { type PostgresStorageOptions, postgresStorage } from '../src/index.js';

describe('postgresStorage, before it connects,', () => {
  type Options = Parameters<typeof postgresStorage>[0];

  /** A connection to it would fail with `storage_unavailable`. */
  const NOWHERE = 'postgres://nobody@127.0.0.1:1/nothing';

  /** Passes a check, and is SQL when it is used. */
  function changingText(first: string) {
    const texts = [first, 'x (y); DROP TABLE users; --'];
    return { toString: () => texts.shift() ?? '' };
  }

  it.each([
    ['an empty connection string', ''],
    ['a pool that is not a pool', { pool: {} }],
    ['a tablePrefix with a quote', { connectionString: NOWHERE, tablePrefix: 'flags"' }],
    ['a tablePrefix with a line break', { connectionString: NOWHERE, tablePrefix: 'flags_\n' }],
    ['an empty tablePrefix', { connectionString: NOWHERE, tablePrefix: '' }],
    ['a tablePrefix of 31 characters', { connectionString: NOWHERE, tablePrefix: 'f'.repeat(31) }],
    ['a tablePrefix in an array', { connectionString: NOWHERE, tablePrefix: ['flags_'] }],
    ['a tablePrefix that changes', { connectionString: NOWHERE, tablePrefix: changingText('flags_') }],
    ['an empty schema', { connectionString: NOWHERE, schema: '' }],
    ['a schema with a zero byte', { connectionString: NOWHERE, schema: 'a\0b' }],
    ['a schema in an array', { connectionString: NOWHERE, schema: ['public'] }],
    ['a schema that changes', { connectionString: NOWHERE, schema: changingText('public') }],
    ["a schema of PostgreSQL's own", { connectionString: NOWHERE, schema: 'pg_catalog' }],
  ])('refuses %s', async (_, options) => {
    await expect(postgresStorage(options as Options)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('refuses a tablePrefix in an array, with a pool of the host', async () => {
    const pool = new Pool({ connectionString: NOWHERE });
    const options = { pool, tablePrefix: ['flags_'] } as unknown as Options;
    await expect(postgresStorage(options)).rejects.toThrow(/^tablePrefix must begin with a letter or _/);
    expect(pool.totalCount).toBe(0);
    await pool.end();
  });
});

describe('options of a PostgreSQL storage', () => {
  // Refused before a connection is opened: there is no server at that address.
  const connectionString = 'postgres://nobody@127.0.0.1:1/none';

  it.each<[unknown, string]>([
    [undefined, 'needs a connection string'],
    [{ connectionString, querytimeout: 1 }, 'did you mean queryTimeout?'],
    [{ conectionString: connectionString }, 'did you mean connectionString?'],
    [{ connectionString, ssl: true }, 'has no option ssl; the options are'],
    [{ connectionString, feed: 'counter' }, 'has no option feed; the options are'],
    [{}, 'connectionString must be'],
    [5, 'needs a connection string'],
    ['./flags.db', 'connectionString must be'],
    [{ connectionString: 'flags' }, 'connectionString must be'],
  ])('are refused at once when they are invalid: %j', async (options, words) => {
    const opening = postgresStorage(options as PostgresStorageOptions);
    await expect(opening).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(words) });
  });
});

describe('the batch loader', () => {
  it("loads while a host's tests use fake timers", async () => {
    jest.useFakeTimers();
    const double = createBatchLoader(async (keys: readonly number[]) => (key) => 2 * key + keys.length);
    expect(await Promise.all([double(1), double(2)])).toEqual([4, 6]);
    jest.useRealTimers();
  });
});
