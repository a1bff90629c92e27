import { type PostgresStorageOptions, postgresStorage } from '../../src/index.js';

// Refused before a connection is opened: there is no server at that address.
const connectionString = 'postgres://nobody@127.0.0.1:1/none';

describe('options of a PostgreSQL storage', () => {
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
  ])('are refused at once when they cannot be used: %j', async (options, words) => {
    const opening = postgresStorage(options as PostgresStorageOptions);
    await expect(opening).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(words) });
  });
});
