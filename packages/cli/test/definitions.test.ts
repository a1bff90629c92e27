import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type DefinedFlag, type Definitions, LIMITS, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import Database from 'better-sqlite3';
import { parse } from 'yaml';
import { inFull } from '../../../test/extent.js';
import { planInParts } from '../src/definition-parts.js';
import { flagsCommand, type Result, type RunningServer, runningServer, temporaryFolder } from './command-line.js';

describe('definitions', () => {
  const path = temporaryFolder();
  const server = runningServer();

  type Command = (...args: string[]) => Promise<Result>;

  async function onFile(): Promise<Command> {
    const store = path('flags.db');
    await flagsCommand(['migrate', '--store', store]);
    return (...args) => flagsCommand([...args, '--store', store]);
  }

  async function onServer({ url, secret }: RunningServer = server()): Promise<Command> {
    return (...args) => flagsCommand([...args, '--store', url, '--token', secret]);
  }

  function written(name: string, content: string): string {
    writeFileSync(path(name), content);
    return path(name);
  }

  const YAML = `version: 1
segments:
  - name: beta
    constraints:
      - { contextName: userId, operator: IN, values: ['7'] }
flags:
  - name: checkout
    description: The new checkout
    variants: [{ name: red, payload: { type: json, value: '{"color":"#f00","sizes":[1,2]}' } }, { name: blue }]
    environments:
      production:
        enabled: true
        strategies: [{ name: default, segments: [beta] }]
`;

  describe.each([
    ['a SQLite file', () => onFile(), it],
    ['a running server', () => onServer(), inFull],
  ] as const)('flags as code on %s', (_name, open, also) => {
    it('are planned, applied once, and exported unchanged', async () => {
      const flags = await open();
      const file = written('flags.yaml', YAML);
      const plan = await flags('plan', file);
      expect(plan).toMatchObject({ code: 2, err: '' });
      expect(plan.out).toBe(
        [
          'segment beta',
          '  created',
          '  name beta',
          '  userId is one of 7',
          'flag checkout',
          '  created',
          '  project default',
          '  description The new checkout',
          '  type release',
          '  variants · red 50 % · json {"color":"#f00","sizes":[1,2]}',
          '  variants · blue 50 %',
          '  production · enabled off → on',
          '  production · strategy Users in beta',
          'clients',
          '  production: 1 flag appears, on: checkout',
          '',
        ].join('\n'),
      );
      expect(await flags('apply', file)).toMatchObject({ code: 3, err: expect.stringContaining('production') });
      expect(await flags('apply', file, '--dry-run')).toMatchObject({
        code: 0,
        out: expect.stringContaining('Nothing'),
      });
      expect(await flags('apply', file, '--yes')).toMatchObject({
        code: 0,
        out: expect.stringContaining('flags undo'),
      });
      expect(await flags('plan', file)).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
      const { out } = await flags('export');
      expect(parse(out)).toMatchObject({ version: 1, flags: [{ name: 'checkout' }] });
      expect(parse(out)).toEqual(JSON.parse((await flags('export', '--format', 'json')).out));
      expect(await flags('import', written('again.yaml', out))).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
    });

    also('says what changes in the words of the other commands, and in a fenced block for a comment', async () => {
      const flags = await open();
      const file = written('flags.yaml', YAML);
      await flags('apply', file, '--yes');
      const changed = YAML.replace('The new checkout', 'The ```` one')
        .replace('{ name: blue }', '{ name: green }')
        .replace('segments: [beta]', "segments: [beta], parameters: { rollout: '5' }")
        .replace('enabled: true', 'enabled: false')
        .replace("values: ['7']", "values: ['7', '8']");
      const lines = [
        'segment beta',
        '  userId is one of 7 → 7, 8',
        'flag checkout',
        '  description The new checkout → The ```` one',
        '  variants · blue 50 % → none',
        '  variants · green 50 %',
        '  production · enabled on → off',
        '  production · a strategy 5 %',
        'clients',
        '  production: 1 flag goes off: checkout',
      ];
      const plan = await flags('plan', written('changed.yaml', changed));
      expect(plan.out.trimEnd().split('\n').sort()).toEqual([...lines].sort());
      const markdown = await flags('plan', path('changed.yaml'), '--markdown');
      expect(markdown.out).toBe(`\`\`\`\`\`text\n${plan.out}\`\`\`\`\`\n`);
      expect(await flags('apply', path('changed.yaml'), '--markdown', '--yes')).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^`{5}text\n[\s\S]*\n`{5}\nChanged\./),
      });
      expect(JSON.parse((await flags('plan', path('flags.yaml'), '--json')).out)).toMatchObject({
        changed: false,
        effects: [{ flag: 'checkout', before: 'off', after: 'on' }],
        hiddenEffects: 0,
      });
    });

    it('archive flags that a document lacks only with --prune', async () => {
      const flags = await open();
      await flags('create', 'old');
      const file = written('flags.json', JSON.stringify({ version: 1, flags: [{ name: 'new' }] }));
      expect((await flags('apply', file)).code).toBe(0);
      expect(await flags('apply', file, '--prune')).toMatchObject({
        code: 3,
        err: expect.stringContaining('flag old'),
      });
      expect((await flags('apply', file, '--prune', '--yes')).code).toBe(0);
      const { flags: all } = JSON.parse((await flags('export', '--json')).out) as Definitions;
      expect(all?.map(({ name, archived }) => [name, archived])).toEqual([
        ['new', false],
        ['old', true],
      ]);
    });

    also('takes documents that are larger than a request', async () => {
      const flags = await open();
      const all = Array.from({ length: 40 }, (_, index): DefinedFlag => {
        const variants = [{ name: 'large', payload: { type: 'string', value: 'x'.repeat(50_000) } } as const];
        return { name: `f${index}`, variants, dependencies: index === 0 ? [] : [{ flag: 'f0' }] };
      });
      await flags('create', 'old');
      const file = written('large.json', JSON.stringify({ version: 1, flags: all }));
      expect((await flags('plan', file)).code).toBe(2);
      expect((await flags('apply', file, '--prune', '--yes')).code).toBe(0);
      expect(await flags('plan', file, '--prune')).toMatchObject({ code: 0 });
      expect((await flags('list', '--json')).out).not.toContain('"old"');
      const archiving = written(
        'archiving.json',
        JSON.stringify({ version: 1, flags: [{ name: 'f1', archived: true }] }),
      );
      expect((await flags('apply', archiving, '--yes')).code).toBe(0);
      expect(await flags('plan', file)).toMatchObject({ code: 0 });
      expect((await flags('plan', file, '--prune')).out).toContain('flag f1\n  archived yes → no\n');
      expect((await flags('apply', file, '--prune', '--yes')).code).toBe(0);
      expect((await flags('list', 'f1', '--json')).out).toContain('"f1"');
    });

    also('sends documents that are larger than a change set in parts, parents first', async () => {
      const flags = await open();
      const many = Array.from({ length: LIMITS.documentsPerImport }, (_, index): DefinedFlag => {
        return { name: `f${index}`, dependencies: index === 0 ? [{ flag: 'last' }] : [] };
      });
      const project = { projects: [{ id: 'shop' }], flags: [{ name: 'cart', project: 'shop' }] };
      await flags('create', 'old');
      const document = { version: 1, ...project, flags: [...many, { name: 'last' }, ...project.flags] };
      const file = written('many.json', JSON.stringify(document));
      const IN_PARTS = 'Too large for one change set: sent in 3 parts, each a change set of its own.\n';
      expect(await flags('plan', file, '--prune')).toMatchObject({ code: 2, out: expect.stringContaining(IN_PARTS) });
      const applied = await flags('apply', file, '--prune', '--yes', '--json');
      expect(JSON.parse(applied.out)).toMatchObject({ changed: true, changeSets: { length: 3 } });
      expect((await flags('plan', file, '--prune')).code).toBe(0);
      expect((await flags('list', '--json')).out).not.toContain('"old"');
      const faulty = { ...document, flags: [...document.flags, { name: 'lost', project: 'moon' }] };
      const place = `/flags/${document.flags.length}/project`;
      expect(await flags('apply', written('faulty.json', JSON.stringify(faulty)))).toMatchObject({
        code: 1,
        err: expect.stringContaining(place),
      });
    });

    also('writes the source of a typed schema', async () => {
      const flags = await open();
      await flags('apply', written('flags.yaml', YAML), '--yes');
      expect((await flags('types')).out).toBe(`import { defineFlags } from '@flags/core';

export const schema = defineFlags(
  {
    checkout: { type: 'release', description: 'The new checkout', variants: { red: { color: 'string', sizes: 'number[]' }, blue: null } },
  },
  { environments: ['development', 'production'] },
);
`);
    });

    also('names the place of a fault', async () => {
      const flags = await open();
      const faulty = written('flags.yaml', 'version: 1\nflags:\n  - name: a\n    project: moon\n');
      expect(await flags('plan', faulty)).toMatchObject({ code: 1, err: expect.stringContaining('/flags/0/project') });
      expect(await flags('plan', written('no.yaml', 'a: ['))).toMatchObject({ code: 1 });
      const other = written('other.yaml', 'version: 1\nfeatures: []');
      expect(await flags('plan', other)).toEqual({
        code: 64,
        out: '',
        err: `${other} is an export of Unleash. Import it by: flags import ${other} --from unleash\n`,
      });
      const none = path('none.yaml');
      expect(await flags('plan', none)).toEqual({ code: 1, out: '', err: `There is no file ${none}.\n` });
      const twice = written(
        'twice.yaml',
        'version: 1\nflags: [{ name: a, tipe: b, environments: { production: { enabled: 1 } } }]',
      );
      expect((await flags('apply', twice)).err).toBe(
        'The input is not valid:\n  /flags/0/tipe is not known here\n  /flags/0/environments/production/enabled must be boolean\n',
      );
    });
  });

  it.each([
    ['UTF-8 with a byte-order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16 of Windows PowerShell', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian UTF-16', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('reads a file in %s', async (name, encode) => {
    const store = ['--store', path(`${name}.db`)];
    await flagsCommand(['migrate', ...store]);
    for (const text of [
      '{"version":1,"flags":[{"name":"a","description":"für"}]}',
      'version: 1\nflags: [{ name: b }]',
    ]) {
      const file = path('encoded');
      writeFileSync(file, encode(text));
      expect(await flagsCommand(['import', file, '--yes', ...store])).toMatchObject({ code: 0, err: '' });
    }
    expect((await flagsCommand(['export', ...store])).out).toMatch(
      /name: a\n[\s\S]*description: für\n[\s\S]*name: b\n/,
    );
  });

  it('says what to do with several YAML documents', async () => {
    const store = ['--store', path('several.db')];
    await flagsCommand(['migrate', ...store]);
    const file = written('several.yaml', 'version: 1\n---\nversion: 1\n');
    const { code, err } = await flagsCommand(['import', file, '--yes', ...store]);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('has several YAML documents. Put each into a file of its own'),
    ]);
  });

  it.each([
    ['file:x.db', 'named by its path alone: --store x.db'],
    ['file:///data/x.db?mode=ro', 'named by its path alone: --store /data/x.db'],
    ['sqlite:x.db', 'named by its path alone: --store x.db'],
    ['sqlite://x.db', 'named by its path alone: --store x.db'],
    ['mysql://localhost/flags', 'mysql: is not a kind of store'],
    ['localhost:4242', 'localhost: is not a kind of store'],
  ])('makes no file of the name %s', async (store, sentence) => {
    for (const command of [['migrate'], ['list'], ['backup', path('copy.db')], ['serve', '--port', '0']]) {
      const { code, err } = await flagsCommand([...command, '--store', store]);
      expect([code, err]).toEqual([64, expect.stringContaining(sentence)]);
    }
    expect(existsSync(store)).toBe(false);
  });

  it('names the types of a typed schema if some are not built in', async () => {
    const storage = sqliteStorage(path('own-types.db'));
    const flags = await openFlags({ storage, flagTypes: [{ name: 'ops', lifetimeDays: null }] });
    await flags.createFlag({ project: 'default' }, { name: 'checkout', type: 'ops' });
    await flags.close();
    const { out } = await flagsCommand(['types', '--store', path('own-types.db')]);
    expect(out).toContain("{ environments: ['development', 'production'], types: ['ops'] },");
  });
});

describe('stores that cannot be opened', () => {
  const UNRELEASED = join(__dirname, '../../core/test/storage/sqlite/unreleased-tables/version-2.sql');

  const pathOf = temporaryFolder();

  describe('a file with tables that no release has made', () => {
    const digest = () =>
      createHash('sha256')
        .update(readFileSync(pathOf('flags.db')))
        .digest('hex');

    beforeEach(() => {
      const database = new Database(pathOf('flags.db'));
      database.pragma('journal_mode = WAL');
      database.exec(readFileSync(UNRELEASED, 'utf8'));
      database.close();
      writeFileSync(pathOf('flags.yaml'), 'version: 1\n');
    });

    it.each([
      [['list']],
      [['history']],
      [['export']],
      [['types']],
      [['tokens']],
      [['plan', 'flags.yaml']],
      [['on', 'checkout', '--yes']],
      [['migrate']],
    ])('does not change by %j', async (args) => {
      const before = digest();
      const paths = args.map((one) => (one.includes('.') ? pathOf(one) : one));
      const { code, err } = await flagsCommand([...paths, '--store', pathOf('flags.db')]);
      expect(code).toBe(1);
      expect(err).toMatch(/cannot be opened: A build before the first release made the tables .* Use another file/);
      expect(digest()).toBe(before);
    });

    it('can be copied', async () => {
      const before = digest();
      const store = ['--store', pathOf('flags.db')];
      expect(await flagsCommand(['backup', pathOf('copy.db'), ...store])).toMatchObject({ code: 0 });
      expect(digest()).toBe(before);
    });
  });

  it('does not change a file that is not a store of flags', async () => {
    writeFileSync(pathOf('other.db'), '');
    const { code, err } = await flagsCommand(['list', '--store', pathOf('other.db')]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('do not exist') });
    expect(readFileSync(pathOf('other.db'))).toHaveLength(0);
  });
});

describe('a plan in parts, on a copy of the store in memory', () => {
  const constraints = [{ contextName: 'email', operator: 'STR_ENDS_WITH', values: ['.org', ' '] } as const];
  const flag = (name: string, title: string) => ({
    name,
    environments: { production: { enabled: true, strategies: [{ name: 'default', title, constraints }] } },
  });

  it('loads the faults that the store has, and refuses new ones', async () => {
    const current = { version: 1, flags: [flag('stored', 'old')] } as const;
    const beside = { rollouts: [], policy: { environments: {} } };
    const plan = (document: Definitions) => planInParts({}, current, { document, prune: false, beside });
    const { differences } = await plan({ version: 1, flags: [flag('stored', 'new')] });
    expect(differences.map(({ id }) => id)).toEqual(['stored']);
    await expect(plan({ version: 1, flags: [flag('stored', 'new'), flag('other', 'new')] })).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '/flags/1/environments/production/strategies/0/constraints/0/values/1' }],
    });
  });

  it('knows the rollouts and the policy of the store', async () => {
    const rollingTo = (rollout: string): Definitions => {
      const strategies = [{ id: 'a', name: 'flexibleRollout', parameters: { rollout } }];
      return { version: 1, flags: [{ name: 'checkout', environments: { production: { enabled: true, strategies } } }] };
    };
    const ref = { project: 'default', flag: 'checkout', environment: 'production', strategy: 'a' };
    const beside = {
      rollouts: [{ ref, percentage: 25 }],
      policy: { environments: { production: { required: 2 } } },
    };
    const plan = (document: Definitions) => planInParts({}, rollingTo('25'), { document, prune: false, beside });
    expect(await plan(rollingTo('5'))).toMatchObject({ parts: [], differences: [], rollouts: [ref], approval: null });
    const more = { ...rollingTo('5'), projects: [{ id: 'shop' }] };
    expect(await plan(more)).toMatchObject({ differences: [{ kind: 'project', id: 'shop' }], approval: null });
    const red = { version: 1, flags: [{ name: 'checkout', variants: [{ name: 'red' }] }] } as const;
    expect(await plan(red)).toMatchObject({ approval: { required: 2, environments: ['production'] } });
  });
});
