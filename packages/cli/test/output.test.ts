import { extent } from '../../../test/extent.js';
import { flagsCommand, runningServer } from './command-line.js';

const server = runningServer();

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
  const { flags } = server();
  const ref = { project: 'default', flag: 'a', environment: 'production' };
  await flags.createFlag(ref, { name: 'a', description: HOSTILE, owner: HOSTILE, labels: [HOSTILE.slice(0, 50)] });
  await flags.addStrategy(ref, { name: HOSTILE, title: HOSTILE, parameters: { [HOSTILE]: HOSTILE } });
  await flags.as(HOSTILE).apply([{ op: 'enable', ref }], { reason: HOSTILE });
  await flags.createToken({ name: HOSTILE.slice(0, 60), kind: 'client' });
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

it('writes documents as they are into a pipe, and with escapes on a terminal; JSON always with escapes', async () => {
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

it('removes them on standard error too, from names in the command line and in questions', async () => {
  const { url, secret, flags } = server();
  const name = HOSTILE.slice(0, 60);
  await flags.createToken({ name, kind: 'client' });
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
  expect(await flagsCommand(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(await flagsCommand([])).toMatchObject({ code: 64, err: expect.stringMatching(/Usage: flags/) });
});
