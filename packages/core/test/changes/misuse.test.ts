import { createFlags, type FlagsOptions, memoryStorage } from '../../src/index.js';
import { type SqliteStorageOptions, sqliteStorage } from '../../src/sqlite.js';
import { faultyStorage } from '../../src/testing.js';
import { refusalOf } from '../rules/refusal.js';

const storage = memoryStorage();

describe('a call that was forgotten or misspelt', () => {
  it.each<[string, unknown, string]>([
    ['no options', undefined, 'createFlags({ storage'],
    ['null', null, 'createFlags({ storage'],
    ['the storage itself', storage, 'createFlags({ storage })'],
    ['no storage', {}, 'storage is missing'],
    ['a path as the storage', { storage: './x.db' }, "sqliteStorage('./x.db')"],
    ['sqliteStorage uncalled', { storage: sqliteStorage }, 'sqliteStorage(…)'],
    ['memoryStorage uncalled', { storage: memoryStorage }, 'memoryStorage()'],
    ['an option with letters exchanged', { storage, enviroment: 'production' }, 'did you mean environment?'],
    ['an option in other case', { storage, appname: 'shop' }, 'did you mean appName?'],
    ['the storage misspelt', { storge: storage }, 'did you mean storage?'],
    ['an option that is like none', { storage, verbose: true }, 'the options are storage, '],
    ['an inherited name', { storage, constructor: 1 }, 'has no option constructor'],
  ])('is refused by createFlags at once, with what to write: %s', async (_case, options, words) => {
    const { code, message } = await refusalOf(createFlags(options as FlagsOptions));
    expect(code).toBe('invalid_input');
    expect(message).toContain(words);
  });

  it('still closes the storage that it was given', async () => {
    const given = faultyStorage(memoryStorage());
    await refusalOf(createFlags({ storage: given, polInterval: 0 } as never));
    expect(given.calls.map(({ method }) => method)).toEqual(['close']);
  });

  it.each<[unknown, string]>([
    [undefined, "sqliteStorage('./flags.db')"],
    [{ path: ':memory:', tableprefix: 'x_' }, 'did you mean tablePrefix?'],
    [{ file: './x.db' }, 'has no option file'],
  ])('is refused by sqliteStorage: %j', async (options, words) => {
    const { code, message } = await refusalOf(sqliteStorage(options as SqliteStorageOptions));
    expect([code, message]).toEqual(['invalid_input', expect.stringContaining(words)]);
  });
});
