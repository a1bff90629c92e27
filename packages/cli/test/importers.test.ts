import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporaryFolder } from './command-line.js';
import { fixture, importing } from './importing.js';

describe('importers', () => {
  const { server, onServer, imported } = importing();
  const pathTo = temporaryFolder();

  it('imports flagd definitions', async () => {
    const { flags, notes } = await imported(fixture('flagd.json'), '--from', 'flagd');
    const inProduction = (name: string) => flags[name]?.environments?.production;
    expect(inProduction('plain')).toMatchObject({ enabled: true, strategies: [{ name: 'default' }] });
    expect(inProduction('stopped')).toMatchObject({ enabled: false });
    expect(inProduction('staff')?.strategies?.map(({ constraints }) => constraints)).toEqual([
      [{ contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@example.org'] }],
      [{ contextName: 'version', operator: 'SEMVER_GTE', value: '2.0.0' }],
    ]);
    expect(flags.color?.variants).toMatchObject([
      { name: 'red', weight: 250, stickiness: 'email', payload: { type: 'string', value: '#f00' } },
      { name: 'blue', weight: 750 },
      { name: 'grey', weight: 0 },
    ]);
    const flagsNow = server().flags;
    expect(flagsNow.getVariant('limit', { properties: { plan: 'pro' } }).payload?.value).toBe('10');
    expect(flagsNow.getVariant('limit', { userId: '7' }).payload?.value).toBe('1');
    expect(flagsNow.getVariant('layout').payload).toEqual({ type: 'json', value: '{"columns":2}' });
    expect(inProduction('strange')).toMatchObject({ enabled: false, strategies: [] });
    expect(notes).toContain('strange: its targeting has no equivalent');
    expect(notes).not.toContain('staff:');
  });

  describe('flagd definitions', () => {
    const RED = { variants: { red: '#f00', blue: '#00f' }, defaultVariant: 'red' };
    const version = (operand: string) => ({ if: [{ sem_ver: [{ var: 'version' }, '>=', operand] }, 'blue'] });

    /** Imports the flags beside one that needs no note, which every file must keep. */
    async function importBeside(flags: Record<string, object>, members: object = {}) {
      const file = pathTo('flags.json');
      const all = { kept: { ...RED }, ...flags };
      const enabled = Object.entries(all).map(([name, flag]) => [name, { state: 'ENABLED', ...flag }] as const);
      writeFileSync(file, JSON.stringify({ ...members, flags: Object.fromEntries(enabled) }));
      const result = await imported(file, '--from', 'flagd');
      expect(server().flags.getVariant('kept').name).toBe('red');
      return { ...result, noted: result.notes.split('\n').filter((line) => line.startsWith('note:')) };
    }

    it('note that a condition alone gives false where flagd answers the default variant', async () => {
      const toggle = { variants: { true: true, false: false }, defaultVariant: 'true' };
      const staff = { ends_with: [{ var: 'email' }, '@example.org'] };
      const { noted } = await importBeside({
        staff: { ...toggle, targeting: staff },
        beta: { ...toggle, targeting: { starts_with: [{ var: 'email' }, 'beta'] } },
        recent: { ...toggle, targeting: { sem_ver: [{ var: 'version' }, '>=', '2.0.0'] } },
        both: { ...toggle, targeting: { and: [{ '==': [{ var: 'plan' }, 'pro'] }, staff] } },
        same: { ...toggle, defaultVariant: 'false', targeting: staff },
        chosen: { ...toggle, targeting: { if: [staff, 'true', 'false'] } },
        plan: { ...toggle, targeting: { '==': [{ var: 'plan' }, 'pro'] } },
      });
      const named = ['staff', 'beta', 'recent', 'both'].map((name) =>
        expect.stringContaining(`${name}: if the value that its targeting compares is missing or invalid`),
      );
      expect(noted).toHaveLength(4);
      expect(noted).toEqual(expect.arrayContaining(named));
      expect(server().flags.isEnabled('staff', { properties: { email: 'ada@example.org' } })).toBe(true);
      expect(server().flags.isEnabled('staff', {})).toBe(false);
    });

    it('leave the default to the caller without a defaultVariant', async () => {
      const { defaultVariant: _, ...color } = RED;
      const pro = { if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'blue'] };
      const { noted } = await importBeside({
        color,
        nullish: { ...color, defaultVariant: null },
        plan: { ...color, targeting: pro },
        decided: { ...color, targeting: { if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'blue', 'red'] } },
        toggle: { variants: { on: true, off: false } },
      });
      const { flags } = server();
      for (const name of ['color', 'nullish', 'plan', 'toggle']) {
        expect([name, flags.getVariant(name, { userId: '7' })]).toEqual([
          name,
          expect.objectContaining({ enabled: false }),
        ]);
        expect(flags.isEnabled(name, { userId: '7' })).toBe(false);
        expect(noted).toContainEqual(expect.stringContaining(`${name}: it has no defaultVariant`));
      }
      expect(flags.getVariant('plan', { properties: { plan: 'pro' } }).name).toBe('blue');
      expect(flags.getVariant('decided', { userId: '7' }).name).toBe('red');
      expect(noted).toHaveLength(4);
    });

    it.each([
      ['a version with a v', version('v1.0.0')],
      ['a short version', version('1.1')],
      [
        'weights by expression',
        {
          fractional: [
            ['red', { '+': [20, 5] }],
            ['blue', 75],
          ],
        },
      ],
      [
        'weights of zero',
        {
          fractional: [
            ['red', 0],
            ['blue', 0],
          ],
        },
      ],
      [
        'negative weights',
        {
          fractional: [
            ['red', -10],
            ['blue', 20],
          ],
        },
      ],
      [
        'variants by expression',
        {
          fractional: [
            [{ if: [true, 'red', 'blue'] }, 50],
            ['blue', 50],
          ],
        },
      ],
      ['variants of rules by expression', { if: [{ '==': [{ var: 'a' }, 'b'] }, { var: 'color' }, 'red'] }],
      ['a share of several fields', { fractional: [{ cat: [{ var: 'a' }, { var: 'b' }] }, ['red', 50], ['blue', 50]] }],
      ['a share by a constant', { fractional: ['seed', ['red', 50], ['blue', 50]] }],
      [
        'an unknown variant',
        {
          fractional: [
            ['red', 50],
            ['green', 50],
          ],
        },
      ],
      ['another variant than there are', { if: [{ '==': [{ var: 'a' }, 'b'] }, 'blue', 'green'] }],
      ['an unknown evaluator', { $ref: 'nobody' }],
      ['an unknown comparison', { if: [{ sem_ver: [{ var: 'version' }, 'constructor', '1.0.0'] }, 'blue'] }],
    ])('are imported off, with a note, if %s, and keep the others', async (_, targeting) => {
      const { flags, noted } = await importBeside({ color: { ...RED, targeting } });
      expect(flags.color?.environments?.production).toMatchObject({ enabled: false, strategies: [] });
      expect(flags.color?.variants).toMatchObject([{ name: 'red' }, { name: 'blue' }]);
      expect(noted).toEqual([expect.stringMatching(/^note: color: .*imported off: write its rules as strategies\.$/)]);
    });

    it('keep a weight of zero beside others', async () => {
      const { flags } = await importBeside({
        color: {
          ...RED,
          targeting: {
            fractional: [
              ['red', 0],
              ['blue', 7],
            ],
          },
        },
      });
      expect(flags.color?.variants).toMatchObject([
        { name: 'red', weight: 0 },
        { name: 'blue', weight: 1000 },
      ]);
    });

    it('are imported off and without variants if a variant does not fit', async () => {
      const long = 'x'.repeat(300_000);
      const { flags, noted } = await importBeside({ color: { ...RED, variants: { red: long } } });
      expect(flags.color?.variants).toEqual([]);
      expect(noted).toEqual([expect.stringContaining('imported off and without variants')]);
    });

    it('name their metadata in the notes, except the description', async () => {
      const metadata = { description: 'The color', team: 'shop', version: '17' };
      const { flags, noted } = await importBeside({ color: { ...RED, metadata } }, { metadata: { flagSetId: 'shop' } });
      expect(flags.color?.description).toBe('The color');
      expect(noted).toEqual([
        'note: the file: its metadata is not imported: flagSetId.',
        'note: color: its metadata is not imported: team, version.',
      ]);
    });

    it('keep rules for variants whose names are changed', async () => {
      const { noted } = await importBeside({
        color: {
          variants: { 'light red': '#f00', blue: '#00f' },
          defaultVariant: 'blue',
          targeting: { if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'light red'] },
        },
      });
      expect(server().flags.getVariant('color', { properties: { plan: 'pro' } }).name).toBe('light-red');
      expect(noted).toEqual([expect.stringContaining('The name light red is not permitted')]);
    });
  });

  it('refuses a list of flagd definitions without keys', async () => {
    const { code, err } = await onServer('import', fixture('flagd-without-keys.json'), '--from', 'flagd', '--yes');
    expect(code).toBe(1);
    expect(err).toContain('/flags/0/name');
  });

  it('imports Flipper exports', async () => {
    const { flags, notes } = await imported(
      fixture('flipper.json'),
      '--from',
      'flipper',
      '--environment',
      'development',
    );
    const inDevelopment = (name: string) => flags[name]?.environments?.development;
    expect(inDevelopment('search')).toMatchObject({ enabled: true, strategies: [{ name: 'default' }] });
    expect(inDevelopment('stats')).toMatchObject({
      enabled: true,
      strategies: [
        { constraints: [{ contextName: 'userId', operator: 'IN', values: ['User;1', 'User;2'] }] },
        { name: 'flexibleRollout', parameters: { rollout: '25' } },
        { name: 'gradualRolloutRandom', parameters: { percentage: '5' } },
      ],
    });
    expect(inDevelopment('plan-new')).toMatchObject({ enabled: false });
    for (const note of ['group admins', 'expression', 'plan:new', 'flipper_id']) expect(notes).toContain(note);
  });

  it.each([
    [['--from', 'flagd'], 1],
    [['--from', 'moon'], 64],
    [['--from', 'unleash', '--map-environment', 'default'], 64],
    [['--from', 'unleash', '--map-environment', 'default=moon'], 64],
  ])('refuses %j', async (options, code) => {
    expect((await onServer('import', fixture('unleash-4.19.5-state.json'), ...options)).code).toBe(code);
  });
});

describe('Unleash', () => {
  /** The fixtures are exports and answers of the version in their name, shortened. */
  const { server, onServer, imported } = importing();
  const inFolder = temporaryFolder();

  it('refuses a state file of version 1, whose flags have no environments, and changes nothing', async () => {
    const file = inFolder('state.json');
    const strategies = [{ name: 'default', parameters: {} }];
    writeFileSync(file, JSON.stringify({ version: 1, features: [{ name: 'old', enabled: true, strategies }] }));
    expect(await onServer('import', file, '--from', 'unleash', '--yes')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^This is a state export of version 1, .* have no environments\. Import it into Unleash 4, .*\n$/,
      ),
    });
    expect((await server().flags.searchFlags({})).items).toEqual([]);
    expect((await onServer('apply', file)).err).toContain(' is an export of Unleash. Import it by: flags import ');
  });

  type Answers = Readonly<Record<string, unknown>>;
  const recorded = (name: string): Answers => JSON.parse(readFileSync(fixture(name), 'utf8'));

  /** Starts a server that returns recorded answers, and calls a function with its address. */
  async function withUnleash<T>(answers: Answers, use: (address: string) => Promise<T>): Promise<T> {
    const unleash = createServer(({ url = '', headers }, response) => {
      const answer = answers[url.replace('/api/admin', '')];
      response.statusCode = headers.authorization !== '*:*.secret' ? 401 : answer === undefined ? 404 : 200;
      response.end(JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => unleash.listen(0, '127.0.0.1', resolve));
    try {
      return await use(`http://127.0.0.1:${(unleash.address() as AddressInfo).port}`);
    } finally {
      unleash.close();
    }
  }

  const live = (answers: Answers) =>
    withUnleash(answers, (address) => imported(address, '--from', 'unleash', '--source-token', '*:*.secret'));

  describe('a state export', () => {
    it('gives projects, segments and flags of 4.19', async () => {
      const { flags, document, notes } = await imported(fixture('unleash-4.19.5-state.json'), '--from', 'unleash');
      expect(document.projects?.map(({ id, name }) => `${id}: ${name}`)).toEqual([
        'default: Default',
        'shop: The shop',
      ]);
      expect(document.segments).toMatchObject([
        { name: 'beta' },
        { name: 'premium' },
        { name: 'empty', constraints: [] },
      ]);
      expect(flags['p-checkout']).toMatchObject({ project: 'shop', type: 'experiment', archived: false });
      expect(flags['m-tags']?.labels).toEqual(['money', 'team:Shop team']);
      expect(flags['seg-two']?.environments?.development).toMatchObject({
        enabled: true,
        strategies: [{ name: 'default', segments: expect.arrayContaining(['beta', 'premium']) }],
      });
      expect(flags['s-everywhere']?.environments?.production).toMatchObject({
        enabled: true,
        strategies: [{ name: 'flexibleRollout', parameters: { groupId: 'e', rollout: '10', stickiness: 'default' } }],
      });
      expect(flags['v-overrides']?.variants).toMatchObject([
        { name: 'blue', weight: 500, overrides: [{ contextName: 'plan', values: ['pro'] }] },
        { name: 'red', weight: 500, overrides: [{ contextName: 'userId', values: ['1', '2'] }] },
      ]);
      for (const note of [
        'The environment staging is not configured here',
        'm-tags: the tag team:bbbb',
        'The strategy byRegion is custom',
        'no equivalent: definitions of strategies (1)',
      ])
        expect(notes).toContain(note);
    });

    it('gives flags of 4.19 that the store would refuse', async () => {
      const { flags, notes } = await imported(fixture('unleash-4.19.5-state.json'), '--from', 'unleash');
      const inDevelopment = (name: string) => flags[`legacy-${name}`]?.environments?.development;
      for (const name of ['in-none', 'date-bad', 'unknown']) {
        expect(inDevelopment(name)).toMatchObject({
          strategies: [{ name: 'default', disabled: true, constraints: [] }],
        });
        expect(notes).toContain(`legacy-${name}: a constraint of a strategy holds for nobody`);
      }
      expect(inDevelopment('not-in-none')).toMatchObject({ strategies: [{ name: 'default', constraints: [] }] });
      expect(inDevelopment('on-without')).toMatchObject({ enabled: true, strategies: [{ name: 'default' }] });
      expect(inDevelopment('rollout-bad')).toMatchObject({ strategies: [{ parameters: { rollout: '0' } }] });
      const weights = (name: string) =>
        Object.fromEntries((flags[`legacy-${name}`]?.variants ?? []).map((one) => [one.name, one.weight]));
      expect(weights('all-fixed')).toEqual({ red: 300, blue: 700 });
      expect(weights('zero-weights')).toEqual({ red: 1000, blue: 0 });
      expect(weights('fixed-low')).toEqual({ red: 500, blue: 500 });
      expect(notes).toContain('legacy-fixed-low: the weights of its variants add up to 600');
    });

    it('gives variants of environments of 5.12', async () => {
      await server().flags.createFlag({ project: 'default' }, { name: 'd-parent' });
      await server().flags.createFlag({ project: 'default' }, { name: 'd-child-on' });
      await server().flags.addDependency({ project: 'default', flag: 'd-child-on' }, { flag: 'd-parent' });
      const { flags, notes } = await imported(fixture('unleash-5.12.8-state.json'), '--from', 'unleash');
      // Off in production, and without variants in staging.
      expect(flags['v-overrides']?.variants).toHaveLength(2);
      expect(flags['v-per-environment']).toMatchObject({
        variants: [],
        environments: {
          development: {
            strategies: [{ parameters: { groupId: 'v-per-environment' }, variants: [{ name: 'dev', weight: 1000 }] }],
          },
          production: { strategies: [{ variants: [{ name: 'other', weight: 500 }, { name: 'prod' }] }] },
        },
      });
      expect(notes).toContain('v-one-environment: overrides of variants that differ');
      expect(flags['seg-shoppers']?.project).toBe('shop');
      // The export has no dependencies, so those of the store stay.
      expect(flags['d-child-on']?.dependencies).toHaveLength(1);
    });
  });

  it('reports whether the users of variants change if a strategy hashes them with its group', async () => {
    const state = recorded('unleash-5.12.8-state.json') as { featureStrategies: { parameters: object }[] };
    async function notesOf(strategyName: string, groupId?: string): Promise<string> {
      const featureStrategies = state.featureStrategies.map((one) => ({
        ...one,
        strategyName,
        parameters: { groupId },
      }));
      const file = inFolder('state.json');
      writeFileSync(file, JSON.stringify({ ...state, featureStrategies }));
      return (await imported(file, '--from', 'unleash')).notes;
    }
    expect(await notesOf('flexibleRollout')).not.toContain('users may get other variants');
    expect(await notesOf('flexibleRollout', 'own')).toContain('v-per-environment: users may get other variants');
    expect(await notesOf('gradualRolloutUserId')).toContain('v-per-environment: users may get other variants');
  });

  describe('the export of one environment', () => {
    const file = fixture('unleash-8.2.0-development.json');

    it('needs the segments that it names', async () => {
      const unknown = await onServer('import', file, '--from', 'unleash', '--yes');
      expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('names the segment beta') });
    });

    it('gives flags of 8.2 with dependencies and variants', async () => {
      await server().flags.createSegment({ name: 'beta', constraints: [] });
      const { flags, notes } = await imported(file, '--from', 'unleash');
      const inDevelopment = (name: string) => flags[name]?.environments?.development;
      expect(inDevelopment('seg-beta')).toMatchObject({ enabled: true, strategies: [{ segments: ['beta'] }] });
      expect(inDevelopment('s-none')).toEqual({ enabled: false, strategies: [] });
      expect(inDevelopment('c-regex')).toMatchObject({ strategies: [{ constraints: [{ operator: 'REGEX' }] }] });
      expect(inDevelopment('odd-date-after-21')).toMatchObject({
        strategies: [{ constraints: [{ value: new Date('01/29/2022').toISOString() }] }],
      });
      expect(flags['d-child-variant']?.dependencies).toEqual([{ flag: 'd-parent', enabled: true, variants: ['x'] }]);
      expect(flags['d-parent']?.variants).toMatchObject([{ name: 'x', stickiness: 'userId' }, { name: 'y' }]);
      expect(flags['odd-v-number']?.variants).toMatchObject([{ payload: { type: 'string', value: 'abc' } }]);
      for (const note of [
        'The segment beta has no constraints in this export',
        'v-strategy: the order of its strategies',
        'odd-v-number: a payload is not a number',
        'no equivalent: context fields (2), links of flags (1)',
      ])
        expect(notes).toContain(note);
    });

    it('maps the environment, and keeps the variants of flags that have none in it', async () => {
      await server().flags.createSegment({ name: 'beta', constraints: [] });
      await server().flags.createFlag({ project: 'default' }, { name: 's-none' });
      await server().flags.setVariants({ project: 'default', flag: 's-none' }, [{ name: 'red' }]);
      const { flags } = await imported(file, '--from', 'unleash', '--map-environment', 'development=production');
      expect(flags['s-none']?.variants).toHaveLength(1);
      expect(flags['seg-beta']?.environments).toMatchObject({ production: { enabled: true } });
    });

    it('is refused if it has every flag on, as some versions of Unleash 6 write', async () => {
      const result = await onServer('import', fixture('unleash-6.10.1-production.json'), '--from', 'unleash', '--yes');
      expect(result).toMatchObject({ code: 1, err: expect.stringContaining('Every flag is on in this export, even ') });
    });
  });

  describe('a live server', () => {
    it('gives the variants of each environment of 5.12, and archived flags', async () => {
      const { flags, document, notes } = await live(recorded('unleash-5.12.8-live.json'));
      expect(notes).toContain('Archived flags (1) come without their strategies');
      expect(document.segments).toHaveLength(4);
      expect(document.projects?.map(({ id }) => id)).toEqual(['default', 'shop']);
      expect(flags['v-overrides']?.variants).toMatchObject([{ name: 'blue', overrides: [{ values: ['pro'] }] }, {}]);
      expect(flags['v-per-environment']).toMatchObject({
        variants: [],
        environments: {
          development: { strategies: [{ variants: [{ name: 'dev' }] }] },
          production: { strategies: [{ variants: [{ name: 'other' }, { name: 'prod' }] }] },
        },
      });
      expect(flags['legacy-on-without']?.environments?.development).toMatchObject({ enabled: true });
      expect(flags['d-child-variant']?.dependencies).toMatchObject([{ flag: 'd-parent', variants: ['x'] }]);
      expect(flags['m-archived']).toMatchObject({ archived: true, description: 'Gone', labels: ['old'] });
    });

    it('gives variants and archived flags of 8.2, which it no longer shows with the others', async () => {
      const { flags } = await live(recorded('unleash-8.2.0-live.json'));
      expect(flags['v-overrides']?.variants).toHaveLength(2);
      expect(flags['odd-v-full']?.variants).toMatchObject([
        { name: 'a', weight: 1000 },
        { name: 'b', weight: 0 },
      ]);
      expect(flags['v-strategy']?.environments?.development).toMatchObject({
        strategies: [{ variants: [{ name: 'sa', payload: { type: 'json', value: '[1]' } }, { name: 'sb' }] }, {}],
      });
      expect(flags['m-archived']).toMatchObject({ archived: true, archivedAt: '2026-11-22T04:58:01.829Z' });
    });

    it('returns all pages of archived flags, and shared variants where the version has no others', async () => {
      const page = (offset: number) => `/search/features?archived=IS:true&sortBy=name&limit=100&offset=${offset}`;
      const archived = Array.from({ length: 101 }, (_, index) => ({ name: `old-${index}`, project: 'default' }));
      const flag = { name: 'v-old', environments: [{ name: 'production', enabled: false, strategies: [] }] };
      const { flags } = await live({
        '/projects': { projects: [{ id: 'default' }] },
        '/projects/default/features': { features: [{ name: 'v-old' }] },
        '/projects/default/features/v-old': {
          ...flag,
          variants: [{ name: 'red', weight: 1000, weightType: 'variable' }],
        },
        [page(0)]: { features: archived.slice(0, 100) },
        [page(100)]: { features: archived.slice(100) },
      });
      expect(Object.values(flags).filter((one) => one.archived)).toHaveLength(101);
      expect(flags['v-old']?.variants).toMatchObject([{ name: 'red' }]);
    });

    it('revives a flag that is archived here only, and keeps the content of one that is archived there', async () => {
      const ref = { project: 'default', flag: 'v-overrides' };
      const archived = { project: 'default', flag: 'm-archived' };
      await server().flags.createFlag(ref, { name: 'v-overrides' });
      await server().flags.archiveFlag(ref);
      await server().flags.createFlag(archived, { name: 'm-archived' });
      await server().flags.setVariants(archived, [{ name: 'red' }]);
      const { flags } = await live(recorded('unleash-8.2.0-live.json'));
      expect(flags['v-overrides']).toMatchObject({ archived: false, environments: { development: { enabled: true } } });
      expect(flags['m-archived']).toMatchObject({ archived: true, variants: [{ name: 'red' }] });
    });

    it('refuses a wrong token', async () => {
      const refused = withUnleash(recorded('unleash-8.2.0-live.json'), (address) =>
        onServer('import', address, '--from', 'unleash'),
      );
      expect(await refused).toMatchObject({ code: 1, err: expect.stringContaining('refuses the token') });
    });
  });
});
