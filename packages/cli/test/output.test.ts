import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Flags, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { extent } from '../../../test/extent.js';
import { EXIT } from '../src/output.js';
import { flagsCommand, runningServer, temporaryFolder } from './command-line.js';
import { replay, transcriptsIn, withoutGenerated } from './transcripts.js';

describe('output', () => {
  const server = runningServer();
  const path = temporaryFolder();

  function onServer(args: readonly string[], columns?: number) {
    const { url, secret } = server();
    return flagsCommand([...args, '--store', url, '--token', secret], columns === undefined ? {} : { columns });
  }

  const LONG_NAME = `a-${'long-'.repeat(19)}`;
  const FLAGS = extent({ short: 2_500, full: 10_000 });
  const CHANGES = 500;

  async function createMany(): Promise<void> {
    const { flags } = server();
    const names = Array.from({ length: FLAGS }, (_, index) => (index === 0 ? LONG_NAME : `flag-${index}`));
    const ref = { project: 'default' };
    for (let start = 0; start < FLAGS; start += CHANGES) {
      const part = names.slice(start, start + CHANGES);
      await flags.apply(part.map((name) => ({ op: 'createFlag', ref, input: { name } }) as const));
    }
  }

  it('lists thousands of flags: a page on a terminal that fits its width, all of them in a pipe', async () => {
    await createMany();
    const shown = await onServer(['list'], 80);
    const lines = shown.out.trimEnd().split('\n');
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)).toBe(`100 of ${FLAGS} flags. Narrow them: flags list TEXT, or --limit.`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
    expect(Math.max(...lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, '').length))).toBeLessThanOrEqual(80);
    expect(shown.out).toMatch(/a-long-.*…/);

    const piped = await onServer(['list']);
    expect(piped.out.trimEnd().split('\n')).toHaveLength(FLAGS + 1);
    expect(piped.out).toContain(LONG_NAME);
    const asJson = await onServer(['list', '--json']);
    expect(asJson.err).toBe('');
    expect(JSON.parse(asJson.out)).toHaveLength(FLAGS);
    expect((await onServer(['list', '--limit', '2000'], 80)).out.split('\n')).toHaveLength(2_003);
    expect((await onServer(['show', 'flag-2498x'])).err).toContain('Did you mean flag-2498');
  });

  it('cuts nothing on a terminal whose width is unknown', async () => {
    const { flags, url, secret } = server();
    await flags.createFlag({ project: 'default' }, { name: LONG_NAME, description: 'x'.repeat(200) });
    // Some terminals say 0.
    for (const columns of [undefined, 0]) {
      const { out } = await flagsCommand(['list', '--store', url, '--token', secret], { columns, isTerminal: true });
      expect(out).toContain(LONG_NAME);
    }
  });

  it('shows the commands of every day without a command, and all of them with --help', async () => {
    const everyday = ['list', 'show', 'create', 'on', 'off', 'rollout', 'history', 'why'];
    const namesIn = (help: string) => [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    for (const args of [[], ['--json'], ['--store', path('none.db')]]) {
      const { code, out, err } = await flagsCommand(args);
      expect([code, out, namesIn(err)]).toEqual([EXIT.usage, '', everyday]);
      expect(err).toContain('flags --help');
      expect(err).not.toContain('--dry-run');
    }
    const all = namesIn((await flagsCommand(['--help'])).out);
    expect(all).toEqual(expect.arrayContaining([...everyday, 'import', 'tokens', 'completion']));
    expect((await flagsCommand(['list', '--help'])).out).toContain('--unused');
  });

  it('uses colors on terminals only, and never with NO_COLOR', async () => {
    const { url, secret } = server();
    const args = ['tokens', '--store', url, '--token', secret];
    const color = '\u001b[';
    expect((await flagsCommand(args, { columns: 80 })).out).toContain(color);
    expect((await flagsCommand(args, { columns: 80, env: { NO_COLOR: '1' } })).out).not.toContain(color);
    expect((await flagsCommand(args)).out).not.toContain(color);
  });

  it('removes control characters of stored texts', async () => {
    const { flags } = server();
    await flags.createFlag(
      { project: 'default' },
      { name: 'a', description: 'red \u001b]0;title\u0007 \u001b[2J text', owner: 'x\ny' },
    );
    for (const args of [['show', 'a'], ['list'], ['history', 'a']]) {
      const { out } = await onServer(args);
      expect(out).not.toMatch(/(?!\n)\p{Cc}/u);
    }
    expect((await onServer(['list'])).out).toContain('x y');
  });

  const TURNED = '\u202egnp.\u2066';
  const HOSTILE = `red\u001b[31m \u001b]0;title\u0007\u009b2J${TURNED}\u200b\u2028\u{e0041} end`;
  const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
  const OWN_COLORS = /\u001b\[(1|2|22|31|32|39)m/g;

  it('removes control and format characters of stored texts everywhere, and keeps its own colors', async () => {
    const flags: Flags<string> = server().flags;
    const ref = { project: 'default', flag: 'a', environment: 'production' };
    await flags.createFlag(ref, { name: 'a', description: HOSTILE, owner: HOSTILE, labels: [HOSTILE.slice(0, 50)] });
    await flags.addStrategy(ref, { name: HOSTILE, title: HOSTILE, parameters: { [HOSTILE]: HOSTILE } });
    await flags.as(HOSTILE).apply([{ op: 'enable', ref }], { reason: HOSTILE });
    await flags.tokens.create({ name: HOSTILE.slice(0, 60), kind: 'client' });
    for (const columns of [undefined, 200]) {
      for (const args of [['show', 'a'], ['list'], ['history', 'a'], ['tokens'], ['why', 'a'], ['off', 'a', '--yes']]) {
        const { code, out, err } = await onServer(args, columns);
        expect([args, code, err]).toEqual([args, 0, '']);
        expect([args, UNPRINTABLE.exec(out.replaceAll(OWN_COLORS, ''))]).toEqual([args, null]);
        if (args[0] === 'show' || args[0] === 'history') expect(out).toContain('red[31m');
      }
      await flags.enable(ref);
    }
    const colored = (await onServer(['show', 'a'], 200)).out;
    expect(colored).toContain('\u001b[1ma\u001b[22m');
    expect(colored).not.toContain('\u001b[31m');
  });

  it('writes one line for each line, and no control characters, where values of `why` contain them', async () => {
    const { flags } = server();
    const ref = { project: 'default', flag: 'a', environment: 'production' };
    const forged = `x\na is on in production${HOSTILE}`;
    await flags.createFlag(ref, { name: 'a', description: forged });
    const { id } = await flags.segments.create({ name: HOSTILE.slice(0, 60), constraints: [] });
    await flags.addStrategy(ref, {
      name: 'default',
      title: forged,
      segments: [id],
      constraints: [{ contextName: forged, operator: 'NOT_IN', values: [forged] }],
    });
    await flags.enable(ref);
    for (const args of [
      ['why', 'a', '--user', forged, '--context', `${forged}=${forged}`],
      ['show', 'a'],
      ['history'],
    ]) {
      const { code, out, err } = await onServer(args, 200);
      expect([args, code, err]).toEqual([args, 0, '']);
      expect([args, UNPRINTABLE.exec(out.replaceAll(OWN_COLORS, ''))]).toEqual([args, null]);
      expect(out).not.toMatch(/^a is on in production\S/m);
    }
  });

  it('writes problems of evaluations of a store as notes, without control characters', async () => {
    const store = path('flags.db');
    const flags = await openFlags<string>({ storage: sqliteStorage(store), onProblem: () => undefined });
    const ref = { project: 'default', flag: 'a', environment: 'production' };
    await flags.createFlag(ref, { name: 'a' });
    await flags.addStrategy(ref, { name: HOSTILE });
    await flags.enable(ref);
    await flags.close();
    const { code, err } = await flagsCommand(['why', 'a', '--store', store]);
    expect(code).toBe(0);
    expect(err).toMatch(/^note: a has an unknown strategy, which never holds: red\[31m .* end\.\n$/);
    expect(err).not.toMatch(UNPRINTABLE);
  });

  it('writes documents unchanged into a pipe, and with escapes on a terminal; JSON always with escapes', async () => {
    const { flags } = server();
    await flags.createFlag({ project: 'default' }, { name: 'a', description: HOSTILE });
    const asJson = await onServer(['show', 'a', '--json']);
    expect(asJson.out).not.toMatch(UNPRINTABLE);
    expect(JSON.parse(asJson.out).description).toBe(HOSTILE);
    for (const format of ['yaml', 'json']) {
      const piped = await onServer(['export', '--format', format]);
      expect(piped.out).toContain(TURNED);
      expect((await onServer(['export', '--format', format], 80)).out).not.toMatch(UNPRINTABLE);
    }
  });

  it('removes control characters on standard error too, from arguments and in questions', async () => {
    const { url, secret, flags } = server();
    const name = HOSTILE.slice(0, 60);
    await flags.tokens.create({ name, kind: 'client' });
    const attempts = [['show', name], [name], ['list', `--${name}`], ['tokens', 'delete', name]];
    for (const args of attempts) {
      const { code, err } = await onServer(args);
      expect(code).not.toBe(0);
      expect([args, UNPRINTABLE.exec(err)]).toEqual([args, null]);
      expect(err).toContain('red[31m');
    }
    const question = ['tokens', 'delete', name, '--store', url, '--token', secret];
    const asked = await flagsCommand(question, { keys: 'n\n', question: 'Programs that use it' });
    expect(asked.err).not.toContain('\u202e');
    expect(asked.err).not.toContain('\u001b]0;');
  });

  it('filters lists', async () => {
    const { flags } = server();
    await flags.createFlag({ project: 'default' }, { name: 'a', labels: ['shop'], owner: 'ada', type: 'experiment' });
    await flags.createFlag({ project: 'default' }, { name: 'b' });
    for (const filter of [
      ['--label', 'shop'],
      ['--owner', 'ada'],
      ['--type', 'experiment'],
      ['shop'],
      ['--limit', '1'],
    ]) {
      expect(JSON.parse((await onServer(['list', '--json', ...filter])).out)).toMatchObject([{ name: 'a' }]);
    }
    expect((await onServer(['list', '--stale'])).out).toBe('No flag matches.\n');
    await flags.archiveFlag({ project: 'default', flag: 'b' });
    expect((await onServer(['list', '--archived'])).out).toMatch(/^b /m);
    expect((await onServer(['show', 'b'])).out).toContain('archived');
  });

  it.each(['bash', 'zsh', 'fish'])('prints a completion script for %s', async (shell) => {
    const { code, out } = await flagsCommand(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['rollout', 'tokens', 'environment', 'rotate']) expect(out).toContain(word);
  });

  it('prints help and version, and explains every exit code', async () => {
    const { code, out } = await flagsCommand(['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/Exit codes: 0 .*1 .*2 .*3 .*64 /);
    expect(await flagsCommand(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await flagsCommand([])).toMatchObject({ code: 64, err: expect.stringMatching(/Usage: flags/) });
  });
});

describe('completion', () => {
  const pathOf = temporaryFolder();

  async function scriptFor(shell: string): Promise<string> {
    const path = pathOf(shell);
    writeFileSync(path, (await flagsCommand(['completion', shell])).out);
    return path;
  }

  /** The options that make a shell read a script without running it. */
  const CHECKS = { bash: '-n', zsh: '-n', fish: '--no-execute' };
  const INSTALLED = Object.entries(CHECKS).filter(([shell]) => spawnSync(shell, ['--version']).status === 0);

  it.each(INSTALLED)('is a script that %s accepts', async (shell, option) => {
    const { status, stderr } = spawnSync(shell, [option, await scriptFor(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    [
      ['flags', 'roll'],
      ['rollout', 'rollouts'],
    ],
    [['flags', 'tokens', 'r'], ['rotate']],
    [['flags', 'requests', 'w'], ['withdraw']],
    [
      ['flags', 'list', '--st'],
      ['--stale', '--store'],
    ],
  ])('completes %j in bash', async (words, expected) => {
    const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flags; echo "\${COMPREPLY[@]}"`;
    const args = ['-c', program, 'bash', await scriptFor('bash'), ...words];
    const { stdout, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
    expect({ stderr, words: stdout.trim().split(' ') }).toEqual({ stderr: '', words: expected });
  });

  it('offers values after an option with a value in fish, and files only where files are arguments', async () => {
    const { out } = await flagsCommand(['completion', 'fish']);
    expect(out).toMatch(/^complete -c flags -f -n __fish_use_subcommand -a import -d '/m);
    expect(out).toMatch(/^complete -c flags -l store -r$/m);
    expect(out).toMatch(/^complete -c flags -l json$/m);
  });

  it('completes at once when zsh loads the script as a function', async () => {
    const { out } = await flagsCommand(['completion', 'zsh']);
    expect(out).toMatch(/^#compdef flags\n/);
    expect(out).toMatch(/\nif \[ "\$funcstack\[1\]" = _flags \]; then _flags "\$@"; fi\n$/);
  });
});

describe('errors', () => {
  const path = temporaryFolder();
  const server = runningServer();

  /** Errors are a few lines at most, and never a stack trace. */
  async function errorOf(...args: string[]): Promise<string> {
    const { code, out, err } = await flagsCommand(args);
    expect(out).toBe('');
    expect(err).not.toMatch(/\n +at /);
    return `${code} ${err.trimEnd()}`;
  }

  /** An address where no server listens any more. */
  async function closedAddress(): Promise<string> {
    const closing = createServer();
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const { port } = closing.address() as AddressInfo;
    await new Promise((resolve) => closing.close(resolve));
    return `127.0.0.1:${port}`;
  }

  it('ask for the store', async () => {
    expect(await errorOf('list')).toMatch(/^64 Name a store or a server: --store FILE/);
    expect(await errorOf('migrate')).toMatch(/^64 Name the store/);
  });

  it('name a missing file, also for a backup', async () => {
    const store = path('none.db');
    expect(await errorOf('list', '--store', store)).toMatch(/^1 There is no file .*flags create NAME --store/);
    expect(await errorOf('backup', path('copy'), '--store', store)).toMatch(/^1 There is no file/);
  });

  it('name a file that is not a database', async () => {
    const store = path('text.db');
    writeFileSync(store, 'These are no flags, but a text that is long enough to be read. '.repeat(20));
    expect(await errorOf('list', '--store', store)).toMatch(/^1 .*text\.db cannot be opened: .*not a database/);
  });

  it('name a server that cannot be reached', async () => {
    const address = await closedAddress();
    expect(await errorOf('list', '--store', `http://${address}`)).toMatch(
      /^1 http:.* cannot be reached \(connect ECONNREFUSED .*\)\. Is the server running\?$/,
    );
  });

  it('do not come from a connection that the server had closed: a read is sent again, once', async () => {
    const seen: string[] = [];
    let closed = 1;
    const other = createServer((request, response) => {
      seen.push(`${request.method}`);
      if (seen.length <= closed) request.socket.destroy();
      else response.setHeader('content-type', 'application/json').end('{"tokens":[]}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const store = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await flagsCommand(['tokens', '--store', store])).toMatchObject({ code: 0, err: '' });
    expect(seen.splice(0)).toEqual(['GET', 'GET']);
    closed = 2;
    expect(await errorOf('tokens', '--store', store)).toMatch(/^1 .*cannot be reached/);
    expect(seen.splice(0)).toEqual(['GET', 'GET']);
    expect(await errorOf('tokens', 'create', 'web', '--store', store)).toMatch(/^1 .*cannot be reached/);
    expect(seen).toEqual(['POST']);
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
  });

  it('name a database that is down, without its password', async () => {
    const error = await errorOf('list', '--store', `postgres://ada:hunter2@${await closedAddress()}/flags`);
    expect(error).toMatch(
      /^1 postgres:\/\/127\.0\.0\.1:\d+\/flags cannot be opened: .*ECONNREFUSED.* Is the database running\?$/,
    );
    expect(error).not.toContain('hunter2');
  });

  it('ask for a token', async () => {
    const { url } = server();
    expect(await errorOf('list', '--store', url)).toMatch(
      /^1 http:\S+ requires a token\. Give an admin token: --token or FLAGS_TOKEN\.$/,
    );
    expect(await errorOf('on', 'a', '--store', url, '--token', 'wrong')).toMatch(/^1 http:\S+ refuses the token\./);
  });

  it('name an address that is not the API, and accept that of the admin page', async () => {
    const { url, secret } = server();
    expect(await errorOf('list', '--store', `${url}/elsewhere`, '--token', secret)).toMatch(
      /^1 .*Is it the address of the flags API\?$/,
    );
    expect(await flagsCommand(['list', '--store', `${url}/ui/`, '--token', secret])).toMatchObject({ code: 0 });
    expect(await errorOf('list', '--store', 'http://[')).toMatch(/^64 http:\/\/\[ is not an address/);
  });

  it('exit with 64 for wrong command lines', async () => {
    const store = path('flags.db');
    await flagsCommand(['migrate', '--store', store]);
    await flagsCommand(['create', 'a', '--store', store]);
    const onStore = (...args: string[]) => errorOf(...args, '--store', store);
    expect(await onStore('lst')).toMatch(/^64 error: unknown command 'lst'/);
    expect(await onStore('list', '--colour')).toMatch(/^64 error: unknown option/);
    expect(await onStore('show')).toMatch(/^64 error: missing required argument/);
    expect(await onStore('rollout', 'a', '101')).toBe('64 A percentage is a whole number from 0 to 100, not 101.');
    expect(await onStore('rollout', 'a', 'half')).toBe('64 A percentage is a whole number from 0 to 100, not half.');
    expect(await onStore('rollout', 'a', '0.5')).toBe('64 A percentage is a whole number from 0 to 100, not 0.5.');
    expect(await onStore('variants', 'a', 'red=30', 'blue=30')).toMatch(/^64 The weights are 60 % together/);
    expect(await onStore('variants', 'a', 'red=x')).toMatch(/^64 red=x: a weight is a percentage/);
    expect(await onStore('on', 'a', '--environment', 'prod')).toMatch(
      /^64 There is no environment prod; there are: development, production\./,
    );
    const types = 'release, experiment, operational, kill-switch, permission.';
    expect(await onStore('create', 'b', '--type', 'relase')).toBe(
      `64 The input is not valid: type must be one of ${types}`,
    );
    expect(await onStore('list', '--type', 'relase')).toBe(`64 There is no type relase; there are: ${types}`);
    expect(await onStore('list', '--environments', '')).toMatch(/^64 --environments has no names/);
    expect(await onStore('list', '--environments', 'a b')).toMatch(/^64 --environments: .*name must be 1–100 of/);
    expect(await onStore('on', 'a', '--review-in', 'produciton')).toBe(
      '64 --review-in: there is no environment produciton; there are: development, production.',
    );
    expect(await onStore('serve', '--review-in', 'produciton')).toMatch(/^64 --review-in: /);
    expect(await onStore('variants', 'a', 'red', 'red')).toBe('64 The variant red is named twice.');
    await flagsCommand(['rollout', 'a', '5', '--store', store, '--yes']);
    expect(await onStore('rollout', 'a', '5', '--strategy', 'none')).toMatch(/^64 .*Its ids: flags show a$/);
    expect(await onStore('tokens', 'create', 'x', '--kind', 'amdin')).toMatch(
      /^64 error: option '--kind <kind>' .*frontend/,
    );
    expect(await onStore('tokens', 'create', 'x', '--expires-at', 'soon')).toMatch(/^64 .*must be an ISO 8601 date/);
    expect(await onStore('tokens', 'create', 'x', '--environment', 'prod')).toMatch(
      /^64 There is no environment prod;/,
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

  it('include the details of refusals of the engine', async () => {
    const store = path('flags.db');
    await flagsCommand(['migrate', '--store', store]);
    expect(await errorOf('create', 'not a name', '--store', store)).toMatch(
      /^64 The input is not valid: name must be 1–100 of .* or \.\.$/,
    );
    await flagsCommand(['create', 'a', '--store', store]);
    expect(await errorOf('create', 'a', '--store', store)).toBe('1 The flag name a is taken; choose another.');
    expect(await errorOf('undo', 'nothing', '--store', store)).toBe(
      '1 There is no change set nothing; list the history for existing ids.',
    );
    const nowhere = join(path('none'), 'flags.db');
    const advice = `cannot be opened: create the directory ${path('none')} first.`;
    expect(await errorOf('migrate', '--store', nowhere)).toBe(`1 ${nowhere} ${advice}`);
    expect(await errorOf('backup', nowhere, '--store', store)).toMatch(
      /^1 \S+ cannot be created: create the directory/,
    );
    expect(await errorOf('tokens', 'delete', 'nobody', '--yes', '--store', store)).toMatch(
      /^1 There is no token nobody/,
    );
  });

  it('refuse a store for the demo', async () => {
    expect(await errorOf('serve', '--demo', '--store', path('flags.db'))).toMatch(/^64 .*leave out --store/);
  });

  it('name the port that is in use', async () => {
    const { url } = server();
    const { port } = new URL(url);
    expect(await errorOf('serve', '--port', port)).toBe(`1 Port ${port} is in use. Choose another one: --port 0`);
  });
});

describe('the documents', () => {
  const GUIDE = readFileSync(join(__dirname, '../../../docs/command-line.md'), 'utf8');
  const path = temporaryFolder();

  it('show the transcripts that the commands print', async () => {
    const transcripts = transcriptsIn(GUIDE);
    expect(transcripts.length).toBeGreaterThan(1);
    const shown = transcripts.join('\n');
    const given = await replay(shown, { store: path('flags.db') });
    expect(withoutGenerated(given)).toBe(withoutGenerated(shown));
  });
});
