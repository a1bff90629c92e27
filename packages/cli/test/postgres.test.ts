import { ownDatabase } from '../../postgres/test/own-database.js';
import { flagsCommand } from './command-line.js';

const { url } = ownDatabase();

it('works on a PostgreSQL database, and creates its tables with the first change, or when asked', async () => {
  const flags = (...args: string[]) => flagsCommand(args, { env: { FLAGS_STORE: url() } });
  expect(await flags('list')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/do not exist.* or create it with its first flag: flags create NAME/),
  });
  expect(await flags('create', 'other', '--dry-run')).toMatchObject({ code: 0 });
  expect((await flags('migrate', '--dry-run')).out).toMatch(/^Would create postgres:/);
  expect(await flags('create', 'other')).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^note: Created postgres:/),
  });
  expect((await flags('migrate')).out).toMatch(/is up to date: 1 project\.$/m);
  expect(await flags('create', 'checkout')).toMatchObject({ code: 0, err: '' });
  expect(await flags('rollout', 'checkout', '25', '--yes')).toMatchObject({ code: 0 });
  expect((await flags('list')).out).toMatch(/^checkout +default +release +off +25 %/m);
  expect(await flags('backup', 'copy')).toMatchObject({ code: 64, err: expect.stringContaining('pg_dump') });
});
