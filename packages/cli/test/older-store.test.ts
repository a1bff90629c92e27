import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { flagsCommand, temporaryFolder } from './command-line.js';

const RELEASE_0_1 = join(__dirname, '../../core/test/fixtures/release-0.1.db.gz');

const pathOf = temporaryFolder();

describe('a file that release 0.1 has written', () => {
  const digest = () =>
    createHash('sha256')
      .update(readFileSync(pathOf('flags.db')))
      .digest('hex');

  beforeEach(() => {
    writeFileSync(pathOf('flags.db'), gunzipSync(readFileSync(RELEASE_0_1)));
    writeFileSync(pathOf('flags.yaml'), 'version: 1\n');
  });

  it.each([
    [['list']],
    [['show', 'checkout']],
    [['why', 'checkout']],
    [['history']],
    [['export']],
    [['types']],
    [['tokens']],
    [['plan', 'flags.yaml']],
    [['on', 'checkout', '--yes']],
  ])('stays as it is after %j', async (args) => {
    const before = digest();
    const paths = args.map((one) => (one.includes('.') ? pathOf(one) : one));
    const { code, err } = await flagsCommand([...paths, '--store', pathOf('flags.db')]);
    expect(code).toBe(1);
    expect(err).toMatch(/have schema version 1, .* Nothing has changed\. .*: flags migrate\.$/m);
    expect(digest()).toBe(before);
  });

  it('is copied as it is before flags migrate', async () => {
    const before = digest();
    const store = ['--store', pathOf('flags.db')];
    expect(await flagsCommand(['backup', pathOf('copy.db'), ...store])).toMatchObject({ code: 0 });
    expect(digest()).toBe(before);
    const copy = ['--store', pathOf('copy.db')];
    expect(await flagsCommand(['list', ...copy])).toMatchObject({ err: expect.stringContaining('schema version 1') });
    expect(await flagsCommand(['migrate', ...copy])).toMatchObject({ code: 0 });
  });

  it('is read after flags migrate', async () => {
    const store = ['--store', pathOf('flags.db')];
    expect(await flagsCommand(['migrate', ...store])).toMatchObject({ code: 0 });
    expect(await flagsCommand(['list', ...store])).toMatchObject({ code: 0 });
  });
});

it('does not change a file that is not a store of flags', async () => {
  writeFileSync(pathOf('other.db'), '');
  const { code, err } = await flagsCommand(['list', '--store', pathOf('other.db')]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('do not exist') });
  expect(readFileSync(pathOf('other.db'))).toHaveLength(0);
});
