import { existsSync, writeFileSync } from 'node:fs';
import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { inFull } from '../../../test/extent.js';
import { flagsCommand, type Result, type RunningServer, runningServer, temporaryFolder } from './command-line.js';

const path = temporaryFolder();
const server = runningServer();

type Command = (...args: string[]) => Promise<Result>;

/** The command on a new SQLite file. */
async function onFile(): Promise<Command> {
  const store = path('flags.db');
  await flagsCommand(['migrate', '--store', store]);
  return (...args) => flagsCommand([...args, '--store', store]);
}

/** The command on a running server. */
async function onServer({ url, secret }: RunningServer = server()): Promise<Command> {
  return (...args) => flagsCommand([...args, '--store', url, '--token', secret]);
}

async function jsonOf<T>(result: Promise<Result>): Promise<T> {
  const { out, err } = await result;
  if (out === '') throw new Error(err);
  return JSON.parse(out) as T;
}

interface Listed {
  readonly lag: { readonly events: number };
}

/** Creates a consumer that has read nothing, on the engine of a new process on the file. */
async function consumeOnFile(name: string): Promise<void> {
  const flags = await openFlags({ storage: sqliteStorage({ path: path('flags.db') }), pollInterval: 0 });
  await flags.consume(name, () => undefined, { from: 'beginning' });
  await flags.close();
}

async function consumeOnServer(name: string): Promise<void> {
  const stop = await server().flags.consume(name, () => undefined, { from: 'beginning' });
  await stop();
}

describe.each([
  ['a SQLite file', () => onFile(), it, consumeOnFile],
  ['a running server', () => onServer(), inFull, consumeOnServer],
] as const)('the command line on %s', (_name, open, also, consume) => {
  it('creates a flag, switches it, sets a rollout and variants, and shows all of it', async () => {
    const flags = await open();
    const created = await flags(
      'create',
      'checkout',
      '--description',
      'The new one',
      '--label',
      'shop',
      '--owner',
      'ada',
    );
    expect(created).toMatchObject({ code: 0, err: '' });
    expect(created.out).toMatch(
      /^flag checkout\n {2}created, off in every environment\n(.*\n)* {2}labels shop\n(.*\n)*Changed\./,
    );

    const on = await flags('on', 'checkout', '--yes');
    expect(on.out).toMatch(/production · enabled off → on\n {2}production · strategy Gradual rollout 100 %\n/);
    expect((await flags('rollout', 'checkout', '25%', '--yes')).out).toContain('Gradual rollout 100 % → 25 %\n');
    expect((await flags('variants', 'checkout', 'red=25', 'blue=75', '--yes')).out).toMatch(
      /variants · red 25 %\n {2}variants · blue 75 % fixed\n/,
    );
    expect((await flags('variants', 'checkout')).out).toBe('Variant  Weight\nred      25%\nblue     75%\n');

    const shown = await flags('show', 'checkout');
    expect(shown.out).toMatch(/^checkout {2}release {2}project default\nThe new one\nlabels shop, owner ada/);
    expect(shown.out).toMatch(/development: off\n {2}no strategies/);
    expect(shown.out).toMatch(/production: on\n {2}Gradual rollout 25 % {2}[0-9a-f-]{36}/);
    expect((await flags('list')).out).toMatch(/^checkout +default +release +off +25 %, variants +never +shop +ada$/m);

    expect((await flags('off', 'checkout', '--yes')).out).toContain('production · enabled on → off');
    expect((await flags('off', 'checkout', '--yes')).out).toBe('Nothing to change.\n');
  });

  it('undoes a change, and shows the changes of the undo', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    await flags('on', 'checkout', '--yes', '--reason', 'Launch');
    const [last] = await jsonOf<{ id: string; reason: string }[]>(flags('history', 'checkout', '--json'));
    expect(last?.reason).toBe('Launch');
    expect((await flags('history')).out).toMatch(
      /Launch\n {2}flag checkout\n {4}production · strategy Gradual rollout 100 %/,
    );
    const id = last?.id ?? '';
    const planned = await flags('undo', id, '--dry-run');
    expect(planned.out).toMatch(
      /^Undoes the change set of .*\nflag checkout\n(.*\n)* {2}production · enabled on → off\n(.*\n)*clients\n {2}production: 1 flag goes off: checkout\nNothing has changed/,
    );
    expect(await jsonOf(flags('undo', id, '--dry-run', '--json'))).toMatchObject({
      changed: false,
      documents: [{ id: 'checkout' }],
      effects: [{ flag: 'checkout', environment: 'production', before: 'on', after: 'off' }],
      hiddenEffects: 0,
    });
    expect(await flags('undo', id)).toMatchObject({
      code: 3,
      err: expect.stringContaining('This changes production now.'),
    });
    expect((await flags('undo', id, '--yes')).out).toMatch(/production: 1 flag goes off: checkout\nUndone\./);
    expect((await flags('show', 'checkout')).out).toContain('production: off\n  no strategies');
  });

  also('explains a flag for a user', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    await flags('rollout', 'checkout', '0', '--yes');
    const why = await flags('why', 'checkout', '--user', '7', '--context', 'country=DE', 'plan=pro');
    expect(why.out).toMatch(
      /^checkout is off in production: no strategy matches\n {2}✗ Gradual rollout 0 %: this context is at \d+\n$/,
    );
    expect((await flags('why', 'checkout')).out).toContain('✗ Gradual rollout 0 %: drawn at random');
    await flags('rollout', 'checkout', '100', '--yes');
    expect(await jsonOf(flags('why', 'checkout', '--json'))).toMatchObject({ name: 'checkout', enabled: true });
    expect(await flags('why', 'checkout', '--context', 'country')).toMatchObject({ code: 64 });
  });

  also('names a strategy and a parameter that the host does not know, and applies them', async () => {
    const flags = await open();
    const date = { contextName: 'trialEnd', operator: 'DATE_AFTER', value: '2999-01-01' };
    const strategies = [{ name: 'flexibleRolout' }, { name: 'flexibleRollout', parameters: { rolout: 50 } }];
    const vain = [
      { name: 'flexibleRollout', parameters: { rollout: 100, stickiness: 'USERID' } },
      { name: 'default', constraints: [date] },
    ];
    const document = path('misspelt.json');
    const misspelt = { name: 'misspelt', environments: { production: { enabled: true, strategies } } };
    const inVain = { name: 'vain', environments: { production: { enabled: true, strategies: vain } } };
    writeFileSync(document, JSON.stringify({ version: 1, flags: [misspelt, inVain] }));
    const unknown = ['unknown here: never on', 'unknown parameter rolout'];
    const noEffect = ['stickiness USERID instead of userId: never on', 'DATE_AFTER compares currentTime, not trialEnd'];
    const outputs = [
      await flags('plan', document),
      await flags('apply', document, '--yes'),
      await flags('list'),
      await flags('show', 'misspelt'),
      await flags('why', 'misspelt'),
    ];
    for (const { out } of outputs) for (const text of unknown) expect(out).toContain(text);
    const [planned, applied, listed] = outputs;
    const explained = [await flags('show', 'vain'), await flags('why', 'vain')];
    for (const one of [planned, applied, listed, ...explained]) {
      for (const text of noEffect) expect(one?.out).toContain(text);
    }
  });

  also('names the parent that a flag needs', async () => {
    const flags = await open();
    const parents = ['base', 'old', 'look'].map((name) => ({ name }));
    const child = { name: 'child', dependencies: [{ flag: 'old', enabled: false }, { flag: 'base' }] };
    const fancy = { name: 'fancy', dependencies: [{ flag: 'look', variants: ['a', 'b'] }] };
    const document = path('parents.json');
    writeFileSync(document, JSON.stringify({ version: 1, flags: [...parents, child, fancy] }));
    expect(await flags('apply', document)).toMatchObject({ code: 0 });
    await flags('on', 'child', '--yes');
    await flags('on', 'fancy', '--yes');
    expect((await flags('why', 'child')).out).toBe(
      'child is off in production: a flag that it depends on has another state\n  ✓ needs old off\n  ✗ needs base on\n',
    );
    expect((await flags('why', 'fancy')).out).toContain('  ✗ needs look with the variant a or b\n');
    expect((await flags('list', 'child')).out).toMatch(/^child .* off because of base /m);
  });

  it('edits the metadata of a flag in one change set, which can be undone', async () => {
    const flags = await open();
    await flags('create', 'checkout', '--label', 'shop', 'beta', '--owner', 'ada');
    const edited = await flags(
      ...['edit', 'checkout', '--description', 'The new one', '--type', 'experiment', '--owner', 'bob'],
      ...['--label', '+web', '-beta', '+shop', '--reason', 'Handed over'],
    );
    expect(edited).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(
        /^flag checkout\n {2}description The new one\n {2}type release → experiment\n {2}labels shop, beta → shop, web\n {2}owner ada → bob\nChanged\./,
      ),
    });
    const [last] = await jsonOf<{ id: string; reason: string }[]>(flags('history', 'checkout', '--json'));
    expect(last?.reason).toBe('Handed over');
    expect((await flags('edit', 'checkout', '--label', '+web', '-beta')).out).toBe('Nothing to change.\n');
    expect((await flags('edit', '--label', '-web', 'checkout', '--owner', '', '--dry-run')).out).toContain(
      'labels shop, web → shop\n  owner bob → none\nNothing has changed: ',
    );
    expect(await flags('edit', 'checkout', '--description', '', '--label', '-h')).toMatchObject({ code: 0 });
    expect((await flags('show', 'checkout')).out).toMatch(/^checkout {2}experiment .*\nlabels shop, web, owner bob/);
    expect(await flags('undo', last?.id ?? '')).toMatchObject({ code: 1 });
  });

  also('refuses to edit nothing, and labels that it cannot read', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    for (const [args, advice] of [
      [[], 'Name a change: --description'],
      [['--label', 'shop'], '--label takes +NAME to add a label, and -NAME to remove it, not shop.'],
      [['--label', '+a', '-a'], '--label adds and removes a. Name it once.'],
      [['--type', 'relase'], 'The input is not valid: type must be one of release, '],
    ] as const) {
      const refused = await flags('edit', 'checkout', ...args);
      expect(refused).toMatchObject({ code: 64, out: '', err: expect.stringContaining(advice) });
    }
    expect(await flags('edit', 'chekout', '--owner', 'ada')).toMatchObject({
      code: 1,
      err: 'There is no flag chekout. Did you mean checkout?\n',
    });
  });

  also('archives, revives, clones and marks flags', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    await flags('on', 'checkout', '--yes');
    expect(await flags('clone', 'checkout', 'checkout-2')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^flag checkout-2\n {2}created, off in every environment\n/),
    });
    expect((await flags('stale', 'checkout')).out).toContain('stale');
    expect((await flags('list', '--stale')).out).toContain('release, stale');
    expect(await flags('stale', 'checkout', '--off')).toMatchObject({ code: 0 });
    expect((await flags('list', '--stale')).out).toBe('No flag matches.\n');
    expect(await flags('archive', 'checkout')).toMatchObject({
      code: 3,
      out: expect.stringContaining('production: 1 flag disappears, and was on: checkout'),
      err: expect.stringMatching(/^This changes production now\. Go on\?/),
    });
    expect(await flags('archive', 'checkout', '--yes')).toMatchObject({ code: 0 });
    expect((await flags('list', '--archived')).out).toContain('checkout');
    expect(await flags('revive', 'checkout')).toMatchObject({
      code: 0,
      out: expect.stringContaining('archived yes → no'),
    });
    expect((await flags('show', 'checkout')).out).toContain('production: off');
    expect(await flags('archive', 'checkot')).toMatchObject({ code: 1, err: expect.stringContaining('checkout') });
  });

  also('lists, creates, renames and deletes projects', async () => {
    const flags = await open();
    expect(await flags('projects', 'create', 'shop', '--description', 'All of it')).toMatchObject({ code: 0 });
    await flags('create', 'basket', '--project', 'shop');
    expect((await flags('projects', 'rename', 'shop', 'The shop')).out).toContain('name shop → The shop');
    expect((await flags('projects')).out).toMatch(/^shop +The shop +1 +All of it$/m);
    expect(await jsonOf(flags('projects', 'list', '--json'))).toMatchObject([{ id: 'default' }, { id: 'shop' }]);
    expect(await flags('projects', 'delete', 'shop', '--yes')).toMatchObject({ code: 1 });
    await flags('projects', 'create', 'old');
    expect(await flags('projects', 'delete', 'old')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^This changes project old now\. Go on\?/),
    });
    expect(await flags('projects', 'delete', 'old', '--yes')).toMatchObject({ code: 0 });
    expect((await flags('projects')).out).not.toContain('old');
  });

  also('lists segments with the flags that use them', async () => {
    const flags = await open();
    expect((await flags('segments')).out).toBe('There are no segments.\n');
    const document = path('segments.json');
    const strategies = [{ name: 'flexibleRollout', parameters: { rollout: '25' }, segments: ['EU'] }];
    const constraints = [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }];
    const content = {
      version: 1,
      segments: [{ name: 'EU', constraints }],
      flags: [{ name: 'checkout', environments: { production: { enabled: true, strategies } } }],
    };
    writeFileSync(document, JSON.stringify(content));
    await flags('apply', document, '--yes');
    expect((await flags('segments')).out).toMatch(/^1 +EU +all +country is one of DE, AT +checkout in production$/m);
    expect(await jsonOf(flags('segments', '--json'))).toMatchObject([{ id: 1, strategies: [{}] }]);
    expect((await flags('list')).out).toMatch(/^checkout +default +release +off +25 % of EU +never$/m);
    expect((await flags('show', 'checkout')).out).toContain('\n  Gradual rollout 25 %, EU  ');
    expect((await flags('history', 'checkout')).out).toContain('production · strategy Gradual rollout 25 %, EU\n');
    expect((await flags('why', 'checkout', '--context', 'country=FR')).out).toBe(
      'checkout is off in production: no strategy matches\n  ✗ Gradual rollout 25 %\n    ✗ segment EU\n      ✗ country is one of DE, AT (FR)\n',
    );
    const targeted = { name: 'default', segments: ['EU'], constraints: [{ ...constraints[0], values: ['DE'] }] };
    const flag = { name: 'targeted', environments: { production: { enabled: true, strategies: [targeted] } } };
    writeFileSync(document, JSON.stringify({ version: 1, flags: [flag] }));
    await flags('apply', document, '--yes');
    expect((await flags('why', 'targeted', '--context', 'country=FR')).out).toContain(
      '\n  ✗ Users in EU with country DE\n',
    );
  });

  also('creates, rotates and deletes tokens', async () => {
    const flags = await open();
    const created = await jsonOf<{ id: string; secret: string }>(flags('tokens', 'create', 'web', '--json'));
    expect(created).toMatchObject({ tokenName: 'web', type: 'client', environment: 'production' });
    expect((await flags('tokens')).out).toMatch(/^\w+ +web +client +\* +production +never +never$/m);
    expect(await flags('tokens', 'rotate', 'web')).toMatchObject({ code: 3 });
    const rotated = await flags('tokens', 'rotate', created.id, '--overlap', '12h', '--yes');
    expect(rotated.out).toMatch(/Its secret is shown only now:\n\S+\nThe old secret stops working after 12h\.\n$/);
    const again = await jsonOf<{ id: string }>(flags('tokens', 'rotate', 'web', '--yes', '--json'));
    expect(await flags('tokens', 'delete', again.id, '--yes')).toMatchObject({ code: 0 });
    expect(await flags('tokens', 'delete', 'web', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/names several tokens/),
    });
    expect(await flags('tokens', 'delete', created.id, '--yes')).toMatchObject({
      code: 0,
      out: 'Deleted the token web.\n',
    });
    const left = await jsonOf<{ tokenName: string }[]>(flags('tokens', 'list', '--json'));
    expect(left.filter(({ tokenName }) => tokenName === 'web')).toHaveLength(1);
  });

  it('lists, resets and deletes consumers', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    expect(await flags('consumers')).toMatchObject({ code: 0, out: 'There are no consumers.\n' });
    await consume('audit');
    expect((await flags('consumers')).out).toMatch(/^audit +[1-9] +\d+ s +none$/m);
    expect(await flags('consumers', 'reset', 'audit')).toMatchObject({ code: 64 });
    expect(await flags('consumers', 'reset', 'audit', '--from', 'now')).toMatchObject({ code: 3 });
    expect(await flags('consumers', 'reset', 'audit', '--from', 'now', '--dry-run')).toMatchObject({
      out: 'Would move the consumer audit to the newest event.\n',
    });
    expect((await jsonOf<Listed[]>(flags('consumers', '--json')))[0]?.lag.events).toBeGreaterThan(0);
    expect(await flags('consumers', 'reset', 'audit', '--from', 'now', '--yes')).toMatchObject({
      out: 'Moved the consumer audit to the newest event.\n',
    });
    expect((await jsonOf<Listed[]>(flags('consumers', '--json')))[0]?.lag.events).toBe(0);
    expect(await flags('consumers', 'delete', 'audit')).toMatchObject({ code: 3 });
    expect(await flags('consumers', 'delete', 'audit', '--yes')).toMatchObject({
      code: 0,
      out: 'Deleted the consumer audit.\n',
    });
    expect(await flags('consumers', 'delete', 'audit', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/There is no consumer audit/),
    });
  });

  also('changes nothing with --dry-run', async () => {
    const flags = await open();
    await flags('create', 'checkout');
    const before = (await flags('history', '--json')).out;
    for (const args of [
      ['on', 'checkout'],
      ['rollout', 'checkout', '5'],
      ['variants', 'checkout', 'a'],
      ['create', 'b'],
    ]) {
      expect(await flags(...args, '--dry-run')).toMatchObject({
        code: 0,
        out: expect.stringMatching(/Nothing has changed: /),
      });
    }
    expect((await flags('tokens', 'create', 'x', '--dry-run')).out).toBe('Would create the client token x.\n');
    expect(await jsonOf(flags('on', 'checkout', '--dry-run', '--json'))).toMatchObject({
      changed: false,
      documents: [{ kind: 'flag', id: 'checkout' }],
    });
    expect((await flags('history', '--json')).out).toBe(before);
    expect((await flags('tokens', '--json')).out).not.toContain('"x"');
  });

  also('writes the documented JSON', async () => {
    const flags = await open();
    const set = { id: expect.any(String), at: expect.any(String), reason: null, revisions: { 'flag/a': 1 } };
    expect(await jsonOf(flags('create', 'a', '--json'))).toMatchObject({ changed: true, changeSet: set });
    expect(await jsonOf(flags('off', 'a', '--json'))).toEqual({ changed: false, documents: [] });
    expect(await jsonOf(flags('list', '--json'))).toMatchObject([
      { name: 'a', project: 'default', environments: [{}, {}] },
    ]);
    expect(await jsonOf(flags('show', 'a', '--json'))).toMatchObject({
      name: 'a',
      environments: [{ strategies: [] }, {}],
    });
    expect(await jsonOf(flags('variants', 'a', '--json'))).toEqual([]);
  });

  also('names the closest flags for an unknown one', async () => {
    const flags = await open();
    for (const name of ['checkout', 'checkouts', 'banner']) await flags('create', name);
    for (const command of ['show', 'on', 'why', 'history']) {
      const { code, err, out } = await flags(command, 'chekout');
      expect({ code, err, out }).toEqual({
        code: 1,
        err: 'There is no flag chekout. Did you mean checkout or checkouts?\n',
        out: '',
      });
    }
    expect((await flags('show', 'zzzzzzzz')).err).toContain('List the flags: flags list');
  });
});

describe('confirmation', () => {
  it('is required if clients notice a difference, also through a parent, and otherwise not', async () => {
    const flags = await onFile();
    const on = { enabled: true, strategies: [{ name: 'default' }] };
    const document = path('family.json');
    const content = {
      version: 1,
      flags: [
        { name: 'base', environments: { production: on } },
        { name: 'child', environments: { production: on }, dependencies: [{ flag: 'base' }] },
        { name: 'other', environments: { development: on } },
      ],
    };
    writeFileSync(document, JSON.stringify(content));
    await flags('apply', document, '--yes');
    expect(await flags('off', 'base', '--reason', 'INC-42')).toMatchObject({
      code: 3,
      out: 'flag base\n  production · enabled on → off\nclients\n  production: 2 flags go off: base, child\nreason INC-42\n',
      err: expect.stringMatching(/^This changes production now\. Go on\?/),
    });
    await flags('off', 'base', '--yes');
    // The child stays off, because its parent is.
    expect(await flags('rollout', 'base', '0', '--dry-run')).toMatchObject({ code: 1 });
    expect(await flags('off', 'child')).toMatchObject({ code: 0 });
    expect(await flags('variants', 'other', 'red', 'blue')).toMatchObject({ code: 0 });
    expect(await flags('variants', 'other', '--clear', '--review-in', 'development')).toMatchObject({ code: 3 });
    expect(await flags('archive', 'other')).toMatchObject({ code: 3 });
  });

  it('is not required in the first environment, and is in the last, without a production environment', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    const others = ['--environments', 'test, live'];
    expect(await flags('on', 'checkout', ...others)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ {2}test · /m),
    });
    expect(await flags('on', 'checkout', ...others, '--environment', 'live', '--yes')).toMatchObject({ code: 0 });
    expect(await flags('off', 'checkout', ...others)).toMatchObject({ code: 0 });
    // A command that does not know the environments reviews both.
    expect(await flags('variants', 'checkout', 'red', 'blue')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^This changes live now\./),
    });
  });

  it('refuses production without a terminal, and says how to confirm', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    const refused = await flags('on', 'checkout');
    expect(refused.code).toBe(3);
    expect(refused.err).toBe(
      'This changes production now. Go on? The input is not a terminal, so nobody can confirm. Nothing has changed. Repeat the command with --yes.\n',
    );
    const json = await flags('on', 'checkout', '--json');
    expect([json.code, json.out, json.err]).toEqual([
      3,
      '',
      refused.err.replace('The input is not a terminal', 'With --json, no command asks'),
    ]);
    expect(await flags('on', 'checkout', '--environment', 'development')).toMatchObject({ code: 0 });
    expect(await flags('on', 'checkout', '--review-in', 'development')).toMatchObject({ code: 0 });
    expect(await flags('off', 'checkout', '--environment', 'development', '--review-in', 'development')).toMatchObject({
      code: 3,
    });
  });

  it('is asked on a terminal', async () => {
    await (await onFile())('create', 'checkout');
    const args = ['on', 'checkout', '--store', path('flags.db')];
    const no = await flagsCommand(args, { keys: 'n\n' });
    expect(no).toMatchObject({
      code: 3,
      err: expect.stringMatching(/This changes production now\. Go on\?[\s\S]*Nothing has changed\.\n$/),
    });
    const yes = await flagsCommand(args, { keys: 'y\n' });
    expect(yes).toMatchObject({ code: 0, out: expect.stringMatching(/goes on: checkout\nChanged\./) });
    expect(
      await flagsCommand(['off', 'checkout', '--json', '--store', path('flags.db')], { keys: 'y\n' }),
    ).toMatchObject({ code: 3 });
  });

  it('reviews variants of a flag that is on in production, and the last environment without production', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    expect(await flags('variants', 'checkout', 'red', 'blue')).toMatchObject({ code: 0 });
    await flags('on', 'checkout', '--yes');
    expect(await flags('variants', 'checkout', '--clear')).toMatchObject({ code: 3 });
    const others = ['--environments', 'test,live'];
    expect(await flags('on', 'checkout', ...others, '--environment', 'test')).toMatchObject({ code: 0 });
    expect(await flags('on', 'checkout', ...others, '--environment', 'live')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/This changes live now\./),
    });
  });
});

describe('stores', () => {
  it('are created with a message, and existing ones are kept', async () => {
    const store = path('new.db');
    expect(await flagsCommand(['migrate', '--dry-run', '--store', store])).toMatchObject({
      out: `Would create ${store}.\n`,
    });
    expect(existsSync(store)).toBe(false);
    expect(await flagsCommand(['migrate', '--store', store])).toMatchObject({ code: 0, out: `Created ${store}.\n` });
    expect((await flagsCommand(['migrate', '--store', store])).out).toBe(`${store} is up to date: 1 project.\n`);
  });

  it('are copied to a file that can be used', async () => {
    const flags = await onFile();
    await flags('create', 'checkout');
    const copy = path('copy.db');
    expect((await flags('backup', copy, '--dry-run')).out).toMatch(/^Would copy /);
    expect(await flags('backup', copy)).toMatchObject({ code: 0, out: expect.stringMatching(/^Copied /) });
    expect(await flags('backup', copy)).toMatchObject({ code: 1, err: expect.stringMatching(/does not overwrite/) });
    expect((await flagsCommand(['list', '--store', copy])).out).toContain('checkout');
  });

  it('are configured by environment variables, the author of changes too', async () => {
    const env = {
      FLAGS_STORE: path('flags.db'),
      FLAGS_ACTOR: 'ada',
      FLAGS_ENVIRONMENT: 'development',
      FLAGS_TOKEN: 'secret',
    };
    await flagsCommand(['migrate'], { env });
    await flagsCommand(['create', 'a'], { env });
    expect((await flagsCommand(['on', 'a'], { env })).out).toContain('development · enabled off → on');
    expect((await flagsCommand(['history'], { env })).out).toMatch(/ ada /);
    expect((await flagsCommand(['--help'], { env })).out).not.toContain('secret');
  });
});

it('shows the history of a deleted flag of a project', async () => {
  const flags = await onServer();
  await flags('create', 'gone');
  await server().flags.archiveFlag({ project: 'default', flag: 'gone' });
  await server().flags.deleteFlag({ flag: 'gone' });
  expect(await flags('history', 'gone')).toMatchObject({ code: 1, err: expect.stringContaining('There is no flag') });
  expect((await flags('history', 'gone', '--project', 'default')).out).toMatch(/deleted.*created/s);
  expect(await flags('history', 'other', '--project', 'default')).toMatchObject({ code: 1 });
});

it('reads as many pages of the history as its limit needs', async () => {
  const flags = await onServer();
  const big = { project: 'default', flag: 'big' };
  await server().flags.createFlag(big, { name: 'big' });
  for (const letter of 'abc') {
    const payload = { type: 'string', value: letter.repeat(200_000) } as const;
    await server().flags.setVariants(big, [
      { name: 'one', payload },
      { name: 'other', payload },
    ]);
  }
  expect(await jsonOf<unknown[]>(flags('history', 'big', '--json', '--limit', '3'))).toHaveLength(3);
  expect(await jsonOf<unknown[]>(flags('history', 'big', '--json', '--limit', '5000'))).toHaveLength(4);
  expect((await flags('history', 'big', '--limit', '3')).out).toContain('There are older changes: raise --limit.');
  for (const limit of ['0', '-1', '1.5', 'x']) {
    expect(await flags('history', '--limit', limit)).toMatchObject({ code: 64 });
  }
});
