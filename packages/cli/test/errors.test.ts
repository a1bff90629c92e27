import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { flagsCommand, runningServer, temporaryFolder } from './command-line.js';

const path = temporaryFolder();
const server = runningServer();

/** Errors are a few lines at most, and never a stack trace. */
async function errorOf(...args: string[]): Promise<string> {
  const { code, out, err } = await flagsCommand(args);
  expect(out).toBe('');
  expect(err).not.toMatch(/\n +at /);
  return `${code} ${err.trimEnd()}`;
}

/** An address where nothing listens any more. */
async function closedAddress(): Promise<string> {
  const closing = createServer();
  await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
  const { port } = closing.address() as AddressInfo;
  await new Promise((resolve) => closing.close(resolve));
  return `127.0.0.1:${port}`;
}

it('asks for the store', async () => {
  expect(await errorOf('list')).toMatch(/^64 Name the flags: --store FILE/);
  expect(await errorOf('migrate')).toMatch(/^64 Name the store/);
});

it('names a missing file, and how to create it', async () => {
  const store = path('none.db');
  expect(await errorOf('list', '--store', store)).toBe(
    `1 There is no file ${store}. Name an existing one, or create it: flags migrate --store ${store}`,
  );
  expect(await errorOf('backup', path('copy'), '--store', store)).toMatch(/^1 There is no file/);
});

it('names a file that is not a database', async () => {
  const store = path('text.db');
  writeFileSync(store, 'These are no flags, but a text that is long enough to be read. '.repeat(20));
  expect(await errorOf('list', '--store', store)).toMatch(/^1 .*text\.db cannot be opened: .*not a database/);
});

it('names a server that cannot be reached', async () => {
  const address = await closedAddress();
  expect(await errorOf('list', '--store', `http://${address}`)).toMatch(
    /^1 http:.* cannot be reached \(connect ECONNREFUSED .*\)\. Is the server running\?$/,
  );
});

it('names a database that is down, without its password', async () => {
  const error = await errorOf('list', '--store', `postgres://ada:hunter2@${await closedAddress()}/flags`);
  expect(error).toMatch(
    /^1 postgres:\/\/127\.0\.0\.1:\d+\/flags cannot be opened: .*ECONNREFUSED.* Is the database running\?$/,
  );
  expect(error).not.toContain('hunter2');
});

it('asks for a token', async () => {
  const { url } = server();
  expect(await errorOf('list', '--store', url)).toMatch(
    /^1 http:\S+ asks for a token\. Give an admin token: --token or FLAGS_TOKEN\.$/,
  );
  expect(await errorOf('on', 'a', '--store', url, '--token', 'wrong')).toMatch(/^1 http:\S+ refuses the token\./);
});

it('names an address that is not the API, and accepts that of the admin page', async () => {
  const { url, secret } = server();
  expect(await errorOf('list', '--store', `${url}/elsewhere`, '--token', secret)).toMatch(
    /^1 .*Is it the address of the flags API\?$/,
  );
  expect(await flagsCommand(['list', '--store', `${url}/ui/`, '--token', secret])).toMatchObject({ code: 0 });
  expect(await errorOf('list', '--store', 'http://[')).toMatch(/^64 http:\/\/\[ is not an address/);
});

it('refuses wrong command lines with 64', async () => {
  const store = path('flags.db');
  await flagsCommand(['migrate', '--store', store]);
  await flagsCommand(['create', 'a', '--store', store]);
  const onStore = (...args: string[]) => errorOf(...args, '--store', store);
  expect(await onStore('lst')).toMatch(/^64 error: unknown command 'lst'/);
  expect(await onStore('list', '--colour')).toMatch(/^64 error: unknown option/);
  expect(await onStore('show')).toMatch(/^64 error: missing required argument/);
  expect(await onStore('rollout', 'a', '101')).toBe('64 A rollout is 0 to 100, not 101.');
  expect(await onStore('rollout', 'a', 'half')).toBe('64 A rollout is 0 to 100, not half.');
  expect(await onStore('variants', 'a', 'red=30', 'blue=30')).toMatch(/^64 The weights are 60 % together/);
  expect(await onStore('variants', 'a', 'red=x')).toMatch(/^64 red=x: a weight is a percentage/);
  expect(await onStore('on', 'a', '--environment', 'prod')).toMatch(
    /^64 There is no environment prod; there are: development, production\./,
  );
  expect(await onStore('tokens', 'rotate', 'a', '--overlap', 'soon')).toMatch(/^64 --overlap is a time/);
  expect(await onStore('list', '--limit', 'all')).toMatch(/^64 --limit is a number of flags/);
  expect(await onStore('completion', 'powershell')).toMatch(/^64 There is no completion for powershell/);
  expect(await onStore('serve', '--port', '99999')).toMatch(/^64 --port is a number/);
  expect(await errorOf('serve', '--store', 'https://flags.example.org')).toMatch(/^64 serve needs a store/);
  expect(await errorOf('backup', 'x', '--store', 'https://flags.example.org')).toMatch(
    /^64 This command needs a store/,
  );
});

it('passes refusals of the engine on, with their details', async () => {
  const store = path('flags.db');
  await flagsCommand(['migrate', '--store', store]);
  expect(await errorOf('create', 'not a name', '--store', store)).toMatch(/^1 .*\n {2}\/changes\/0\/input\/name: /);
  await flagsCommand(['create', 'a', '--store', store]);
  expect(await errorOf('create', 'a', '--store', store)).toMatch(/^1 .*exists|taken/);
  expect(await errorOf('undo', 'nothing', '--store', store)).toMatch(/^1 /);
  expect(await errorOf('tokens', 'delete', 'nobody', '--yes', '--store', store)).toMatch(/^1 There is no token nobody/);
});

it('says which port is taken', async () => {
  const { url } = server();
  const { port } = new URL(url);
  expect(await errorOf('serve', '--port', port)).toBe(`1 Port ${port} is in use. Choose another one: --port 0`);
});
