import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { EXIT } from '../src/output.js';
import { flagsCommand, temporaryFolder } from './command-line.js';

const path = temporaryFolder();

/** A document with a flag that is on in production, so that it needs a confirmation. */
function writtenDocument(): string {
  const file = path('flags.json');
  const production = { enabled: true, strategies: [{ name: 'default' }] };
  writeFileSync(file, JSON.stringify({ version: 1, flags: [{ name: 'checkout', environments: { production } }] }));
  return file;
}

/** The files beside the store and the document. */
const left = () => readdirSync(dirname(path('x'))).filter((name) => !name.startsWith('flags.json'));

describe('a store that does not exist', () => {
  it.each(['create', 'import', 'apply'])('is created by the first change of %s', async (command) => {
    const argument = command === 'create' ? 'checkout' : writtenDocument();
    const store = path('new.db');
    expect(await flagsCommand([command, argument, '--store', store, '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Changed. To undo it: '),
      err: `note: Created ${store}.\n`,
    });
    const flags = await openFlags({ storage: sqliteStorage(store) });
    expect(flags.projectOf({ flag: 'checkout' })).toBe('default');
    await flags.close();
    expect((await flagsCommand(['create', 'other', '--store', store])).err).toBe('');
  });

  it('is created in an empty file', async () => {
    const store = path('empty.db');
    writeFileSync(store, '');
    expect(await flagsCommand(['list', '--store', store])).toMatchObject({ code: 1 });
    expect(await flagsCommand(['create', 'checkout', '--store', store])).toMatchObject({ code: 0 });
    expect((await flagsCommand(['list', '--store', store])).out).toContain('checkout');
  });

  it('stays away if the command changes nothing', async () => {
    const store = path('new.db');
    const file = writtenDocument();
    const broken = path('flags.json.broken');
    writeFileSync(broken, '{');
    for (const [args, code, message] of [
      [['create', 'checkout', '--dry-run'], 0, ''],
      [['create', 'a name'], EXIT.usage, 'name'],
      [['create', 'checkout', '--environments', ''], EXIT.usage, '--environments'],
      [['import', file], EXIT.unconfirmed, 'This changes production now.'],
      [['apply', file, '--dry-run'], 0, ''],
      [['apply', broken], 1, 'not valid'],
      [['import', path('flags.json.none')], 1, 'There is no file'],
    ] as const) {
      const done = await flagsCommand([...args, '--store', store]);
      expect([args, done.code, done.err]).toEqual([args, code, expect.stringContaining(message)]);
      expect([args, left()]).toEqual([args, []]);
    }
  });

  it.each([['list'], ['show', 'a'], ['on', 'a'], ['history'], ['why', 'a'], ['export'], ['plan', 'FILE'], ['tokens']])(
    'is named by %s',
    async (...args) => {
      const store = path('none.db');
      const file = writtenDocument();
      const { code, err } = await flagsCommand([...args.map((one) => (one === 'FILE' ? file : one)), '--store', store]);
      expect([code, err]).toEqual([
        1,
        `There is no file ${store}. Name an existing store, or create it with its first flag: flags create NAME --store ${store}\n`,
      ]);
      expect(left()).toEqual([]);
    },
  );
});

describe('--driver-from', () => {
  const CORE = join(__dirname, '../../core');

  it('opens, migrates and copies a file with the driver of that folder', async () => {
    const store = path('flags.db');
    const driver = ['--driver-from', CORE];
    expect(await flagsCommand(['migrate', '--store', store, ...driver])).toMatchObject({ code: 0 });
    expect(await flagsCommand(['create', 'checkout', '--store', store, ...driver])).toMatchObject({ code: 0 });
    expect(await flagsCommand(['backup', path('copy.db'), '--store', store, ...driver])).toMatchObject({ code: 0 });
    expect((await flagsCommand(['list', '--store', path('copy.db'), ...driver])).out).toContain('checkout');
  });

  it('asks for the driver in a folder that has none, and opens nothing', async () => {
    const folder = path('folder');
    mkdirSync(folder);
    const store = path('flags.db');
    for (const args of [['create', 'checkout'], ['migrate'], ['serve', '--port', '0']]) {
      const done = await flagsCommand([...args, '--store', store, '--driver-from', folder]);
      expect(done).toMatchObject({
        code: 1,
        out: '',
        err: `--driver-from: ${folder} has no better-sqlite3. Install it there: npm install better-sqlite3@12\n`,
      });
      expect(existsSync(store)).toBe(false);
    }
  });
});
