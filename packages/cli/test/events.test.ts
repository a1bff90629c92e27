import { PassThrough, Writable } from 'node:stream';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { createOutput } from '../src/output.js';
import { flagsCommand, runningServer, temporaryFolder } from './command-line.js';

const path = temporaryFolder();
const server = runningServer();
const PROJECT = { project: 'default' };
const DESCRIPTION = 'first,\nsecond "quoted"';

/** A store with changes by two people, one of them a month ago. */
async function withEvents() {
  const store = path('flags.db');
  let time = Date.now() - 30 * 86_400_000;
  const flags = await openFlags({ storage: sqliteStorage(store), now: () => new Date(time), usage: { interval: 0 } });
  await flags.as('ada').createFlag(PROJECT, { name: 'checkout', description: DESCRIPTION });
  time = Date.now();
  await flags.as('=HYPERLINK("x")').createFlag(PROJECT, { name: 'banner' });
  await flags.close();
  return (...args: readonly string[]) => flagsCommand(['events', ...args], { env: { FLAGS_STORE: store } });
}

describe('events', () => {
  it('writes JSON Lines, newest first', async () => {
    const events = await withEvents();
    const { code, out, err } = await events();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const written = out.split('\n').flatMap((line): unknown => (line === '' ? [] : JSON.parse(line)));
    expect(written).toMatchObject([
      { type: 'feature-created', featureName: 'banner', createdBy: '=HYPERLINK("x")', project: 'default' },
      { type: 'feature-created', featureName: 'checkout', createdBy: 'ada', data: { description: DESCRIPTION } },
      { type: 'project-created', createdBy: 'system' },
    ]);
  });

  it('writes CSV by RFC 4180, in which no cell is a formula', async () => {
    const events = await withEvents();
    const { out } = await events('--format', 'csv');
    const [names, banner] = out.split('\r\n');
    expect(names).toBe(
      'id,type,createdAt,createdBy,createdByTokenId,createdByTokenType,project,featureName,environment,changeSet,reason,origin,data,preData',
    );
    expect(banner).toContain(`,"'=HYPERLINK(""x"")",,,default,banner,,`);
    expect(out).toContain(JSON.stringify(DESCRIPTION).replaceAll('"', '""'));
    expect(out.endsWith('\r\n')).toBe(true);
  });

  it.each([
    [['--since', '7d'], ['banner']],
    [['checkout'], ['checkout']],
    [['--actor', 'ada'], ['checkout']],
    [['--type', 'feature-archived'], []],
    [['--project', 'default', '--until', '7d', '--type', 'feature-created'], ['checkout']],
  ])('writes those of %j', async (args, names) => {
    const { out } = await (await withEvents())(...args);
    const lines = out.split('\n').filter((line) => line !== '');
    expect(lines.map((line): unknown => JSON.parse(line).featureName)).toEqual(names);
  });

  it.each([
    [['--json'], 64, '--format jsonl instead of --json'],
    [['--format', 'xml'], 64, 'Allowed choices are csv, jsonl'],
    [['--since', '1d', '--until', '2d'], 64, 'is after --until'],
    [['--type', 'other'], 64, 'type'],
  ])('refuses %j', async (args, code, message) => {
    const result = await (await withEvents())(...args);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });

  it('waits for a reader that is slow', async () => {
    let read = 0;
    async function* pieces() {
      for (; read < 1000; read++) yield 'x'.repeat(1024);
    }
    let proceed: (() => void) | undefined;
    const stdout = new Writable({
      highWaterMark: 4096,
      write(_chunk, _encoding, done) {
        proceed = done;
      },
    });
    const written = createOutput({ env: {}, stdin: new PassThrough(), stdout, stderr: stdout }, false).stream(pieces());
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeLessThan(10);
    stdout._write = (_chunk, _encoding, done) => done();
    proceed?.();
    await written;
    expect(read).toBe(1000);
  });

  it('reads from a server, which refuses the token of a client', async () => {
    const { url, flags, secret } = server();
    await flags.createFlag(PROJECT, { name: 'checkout' });
    const { secret: client } = await flags.tokens.create({ name: 'web', kind: 'client' });
    const of = (token: string) => flagsCommand(['events', 'checkout', '--store', url, '--token', token]);
    expect(JSON.parse((await of(secret)).out)).toMatchObject({ type: 'feature-created', featureName: 'checkout' });
    expect(await of(client)).toMatchObject({ code: 1, out: '' });
  });
});
