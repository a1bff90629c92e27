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
    expect(notes).toContain('stopped: it is disabled, for which flagd returns the default of the code.');
    expect(inProduction('partners')?.strategies?.map(({ constraints }) => constraints)).toEqual([
      [{ contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@example.org'] }],
      [{ contextName: 'plan', operator: 'IN', values: ['partner'] }],
    ]);
    const flagsNow = server().flags;
    expect(flagsNow.getVariant('limit', { properties: { plan: 'pro' } }).payload?.value).toBe('10');
    expect(flagsNow.getVariant('limit', { userId: '7' }).payload?.value).toBe('1');
    expect(flagsNow.getVariant('layout').payload).toEqual({ type: 'json', value: '{"columns":2}' });
    for (const name of ['strange', 'staff', 'color', 'layer']) {
      expect(flags[name]).toBeUndefined();
      expect(notes).toContain(`note: ${name}: its targeting has no equivalent: `);
    }
    expect(notes).toMatch(/\nLeft out: 4 flags\.\n$/);
  });

  describe('flagd definitions', () => {
    const RED = { variants: { red: '#f00', blue: '#00f' }, defaultVariant: 'red' };
    const TOGGLE = { variants: { true: true, false: false }, defaultVariant: 'false' };

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

    it('leave the default to the code without a defaultVariant, and are left out if they have booleans', async () => {
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
      for (const name of ['color', 'nullish', 'plan']) {
        expect([name, flags.getVariant(name, { userId: '7' })]).toEqual([
          name,
          expect.objectContaining({ enabled: false }),
        ]);
      }
      expect(flags.getVariant('plan', { properties: { plan: 'pro' } }).name).toBe('blue');
      expect(flags.getVariant('decided', { userId: '7' }).name).toBe('red');
      expect(noted).toEqual([expect.stringContaining('toggle: it has no defaultVariant, so the code decides.')]);
    });

    it.each([
      ['tier', { '==': [{ var: ['tier', 'free'] }, 'free'] }],
      ['roles', { in: ['admin', { var: 'roles' }] }],
      ['plan', { '==': [{ var: 'user.plan' }, 'pro'] }],
      ['version', { sem_ver: [{ var: 'v' }, '>=', '1.2.0'] }],
      [
        'shares',
        {
          fractional: [
            ['true', 25],
            ['false', 75],
          ],
        },
      ],
      ['blank', { '==': [{ var: 'c' }, ' DE'] }],
      ['strict', { '===': [{ var: 'org' }, 1] }],
      ['absent', { '<': [{ var: 'age' }, 18] }],
      ['boolean', { '==': [{ var: 'beta' }, 'true'] }],
      ['user', { '==': [{ var: 'userId' }, 'ada'] }],
      ['byField', { fractional: [{ cat: [{ var: 'a' }, { var: 'b' }] }, ['true', 50], ['false', 50]] }],
      ['evaluator', { $ref: 'nobody' }],
      ['many', { if: [{ '==': [{ var: 'a' }, 'b'] }, 'true'], and: [] }],
      ['named', { if: [{ '==': [{ var: 'a' }, 'b'] }, { var: 'color' }, 'false'] }],
      ['constructor', { constructor: [{ var: 'a' }, 'b'] }],
    ])('are left out if targeting has no equivalent, and named: %s', async (name, targeting) => {
      await server().flags.createFlag({ project: 'default' }, { name, description: 'as it was' });
      const before = await server().flags.getFlag({ project: 'default', flag: name });
      const { noted, notes } = await importBeside({ [name]: { ...TOGGLE, targeting } });
      expect(await server().flags.getFlag({ project: 'default', flag: name })).toEqual(before);
      expect(noted).toEqual([
        expect.stringMatching(
          `^note: ${name}: its targeting .*The flag is left out: it is neither created nor changed.$`,
        ),
      ]);
      expect(notes).toMatch(/\nLeft out: 1 flag\.\n$/);
    });

    it('are left out if the store would refuse them', async () => {
      const long = 'x'.repeat(300_000);
      const { flags, noted } = await importBeside({ color: { ...RED, variants: { red: long } } });
      expect(flags.color).toBeUndefined();
      expect(noted).toEqual([expect.stringMatching(/^note: color: variants\/0\/payload\/value .*left out/)]);
    });

    it('name their metadata in the notes, except the description', async () => {
      const metadata = { description: 'The color', team: 'shop', version: '17' };
      const { flags, noted } = await importBeside(
        { color: { ...RED, metadata }, own: { ...RED, description: 'Its own' } },
        { metadata: { flagSetId: 'shop' } },
      );
      expect(flags.color?.description).toBe('The color');
      expect(flags.own?.description).toBe('Its own');
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
      expect(noted).toEqual(['note: color: its variant light red is named light-red here.']);
    });

    it('are left out if their name becomes that of another one', async () => {
      const { flags, notes } = await importBeside({
        'a b': RED,
        'a-b': { ...RED, defaultVariant: 'blue' },
        'a:b': RED,
      });
      expect(flags['a-b']?.variants).toMatchObject([{ weight: 0 }, { weight: 1000 }]);
      for (const name of ['a b', 'a:b']) expect(notes).toContain(`note: ${name}: its name becomes a-b here`);
      expect(notes).toMatch(/\nLeft out: 2 flags\.\n$/);
    });

    it.each([
      ['of LaunchDarkly', { flags: { a: { on: true, variations: [true, false], fallthrough: { variation: 0 } } } }],
      ['a manifest of OpenFeature', { flags: { a: { flagType: 'boolean', defaultValue: true } } }],
      ['without flags that are objects', { flags: { a: 7 } }],
      ['without flags', { features: [] }],
      ['with a text', { flags: 'none' }],
    ])('are refused if the file is %s', async (_, document) => {
      const file = pathTo('other.json');
      writeFileSync(file, JSON.stringify(document));
      const { code, err } = await onServer('import', file, '--from', 'flagd', '--yes');
      expect([code, err]).toEqual([1, expect.stringMatching(/^This is not a file of flagd: /)]);
      expect((await server().flags.listFlags()).items).toEqual([]);
    });

    it('are not pruned, and exit with 1, if they are left out', async () => {
      const file = pathTo('flags.json');
      const left = { state: 'ENABLED', ...TOGGLE, targeting: { var: 'beta' } };
      await server().flags.createFlag({ project: 'default' }, { name: 'old' });
      writeFileSync(file, JSON.stringify({ flags: { left, kept: { state: 'ENABLED', ...TOGGLE } } }));
      const refused = await onServer('import', file, '--from', 'flagd', '--yes', '--prune');
      expect([refused.code, refused.err]).toEqual([
        1,
        expect.stringContaining('--prune would archive what is left out'),
      ]);
      expect((await server().flags.listFlags()).items.map(({ name }) => name)).toEqual(['old']);
      writeFileSync(file, JSON.stringify({ flags: { left, incomplete: { state: 'ENABLED' } } }));
      const none = await onServer('import', file, '--from', 'flagd', '--yes');
      expect([none.code, none.err]).toEqual([1, expect.stringMatching(/No flag is imported\. Left out: 2 flags\.\n$/)]);
      writeFileSync(file, JSON.stringify({ flags: { kept: { state: 'ENABLED', ...TOGGLE } } }));
      expect(await onServer('import', file, '--from', 'flagd', '--yes', '--prune')).toMatchObject({ code: 0 });
      expect((await server().flags.listFlags()).items.map(({ name }) => name)).toEqual(['kept']);
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
    expect(flags['plan-new']).toBeUndefined();
    expect(notes).toMatch(/\nLeft out: 1 flag\.\n$/);
    for (const note of ['group admins', 'expression', 'plan:new', 'flipper_id']) expect(notes).toContain(note);
  });

  describe('Flipper exports', () => {
    const gates = {
      boolean: null,
      groups: [],
      actors: [],
      expression: null,
      percentage_of_actors: null,
      percentage_of_time: null,
    };

    async function importFlipper(features: Record<string, object>, ...options: string[]) {
      const file = pathTo('flipper.json');
      writeFileSync(file, JSON.stringify({ version: 1, features }));
      return onServer('import', file, '--from', 'flipper', '--yes', ...options);
    }

    it.each([
      ['0.5', '1'],
      [0.004, '1'],
      ['99.9', '99'],
      ['33.4', '33'],
      ['25', '25'],
      [100, '100'],
    ])('have whole percentages: %s becomes %s', async (given, whole) => {
      const flag = { ...gates, percentage_of_actors: given, percentage_of_time: given };
      const { err } = await importFlipper({ flag });
      const [{ strategies = [] } = {}] = (
        await server().flags.getFlag({ project: 'default', flag: 'flag' })
      ).environments.slice(-1);
      expect(strategies).toMatchObject([{ parameters: { rollout: whole } }, { parameters: { percentage: whole } }]);
      const note = `flag: ${given} % becomes ${whole} %`;
      if (`${given}` === whole) expect(err).not.toContain('becomes');
      else expect(err).toContain(note);
      expect(err).toContain(`${whole} % of actors differ`);
    });

    it('drop blanks around actors, and keep what adds people beside a group that is left out', async () => {
      const { code, err } = await importFlipper({
        flag: { ...gates, actors: [' User;1', ' ', 'User;2'], groups: ['admins'] },
      });
      expect([code, err]).toEqual([
        0,
        expect.stringContaining('flag: blanks around values and empty values are dropped.'),
      ]);
      expect(err).toContain('flag: the group admins is defined in code');
      const { environments } = await server().flags.getFlag({ project: 'default', flag: 'flag' });
      expect(environments.at(-1)?.strategies).toMatchObject([{ constraints: [{ values: ['User;1', 'User;2'] }] }]);
    });

    it('leave out a flag of which nothing remains, or that is none', async () => {
      const ref = { project: 'default', flag: 'live', environment: 'production' };
      await server().flags.createFlag(ref, { name: 'live' });
      await server().flags.addStrategy(ref, { name: 'default' });
      await server().flags.enable(ref);
      const { code, err } = await importFlipper({
        live: { ...gates, groups: ['admins'] },
        broken: { on: true },
        wrong: { ...gates, percentage_of_actors: 'many' },
        off: gates,
      });
      expect([code, err]).toEqual([0, expect.stringMatching(/\nLeft out: 3 flags\.\n$/)]);
      expect(server().flags.isEnabled('live')).toBe(true);
      expect((await server().flags.listFlags()).items.map(({ name }) => name)).toEqual(['live', 'off']);
    });

    it.each([
      { version: 1, features: [{ name: 'a', enabled: true, strategies: [] }] },
      { version: 2, features: {} },
      { version: 1, features: { a: true } },
      { flags: {} },
      [],
    ])('are refused if the file is none: %j', async (document) => {
      const file = pathTo('flipper.json');
      writeFileSync(file, JSON.stringify(document));
      const { code, err } = await onServer('import', file, '--from', 'flipper', '--yes');
      expect([code, err]).toEqual([1, expect.stringMatching(/^This is not an export of Flipper/)]);
    });
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
    expect((await server().flags.listFlags()).items).toEqual([]);
    expect((await onServer('apply', file)).err).toContain(' is an export of Unleash. Import it by: flags import ');
  });

  describe('flags without environments', () => {
    const strategies = [
      { name: 'flexibleRollout', parameters: { rollout: '0.5', stickiness: 'default', groupId: 'a' } },
    ];
    const flag = { name: 'a', type: 'release', project: 'shop', enabled: true, stale: false, strategies, variants: [] };
    const ofClient = { version: 2, features: [flag], query: { inlineSegmentConstraints: true } };
    const ofGitLab = { version: 1, features: [{ name: 'a', description: '', enabled: true, strategies }] };

    function written(document: unknown): string {
      const file = inFolder('features.json');
      writeFileSync(file, JSON.stringify(document));
      return file;
    }

    it.each([
      ['an answer to SDKs', ofClient],
      ['a backup', { ...ofClient, version: 1 }],
      ['a bootstrap list', [flag]],
      ['an answer of GitLab', ofGitLab],
    ])('go into the environment that is named: %s', async (_, document) => {
      const { flags, notes } = await imported(written(document), '--from', 'unleash', '--environment', 'development');
      expect(flags.a?.environments).toEqual({
        development: {
          enabled: true,
          strategies: [
            expect.objectContaining({
              name: 'flexibleRollout',
              parameters: { ...strategies[0]?.parameters, rollout: '1' },
            }),
          ],
        },
      });
      expect(notes).toContain('a: 0.5 % becomes 1 %');
    });

    it('keep what SDKs do not get: labels, the other environments, and variants that are absent', async () => {
      const ref = { project: 'default', flag: 'a' };
      await server().flags.createFlag(ref, { name: 'a', labels: ['money'], description: 'As it was' });
      await server().flags.setVariants(ref, [{ name: 'red' }]);
      await server().flags.addStrategy({ ...ref, environment: 'production' }, { name: 'default' });
      const { project: _project, variants: _variants, ...bare } = flag;
      await imported(written({ version: 2, features: [bare] }), '--from', 'unleash', '--environment', 'development');
      expect(await server().flags.getFlag(ref)).toMatchObject({
        labels: ['money'],
        description: 'As it was',
        variants: [{ name: 'red' }],
        environments: [
          { enabled: true, strategies: [{ name: 'flexibleRollout' }] },
          { strategies: [{ name: 'default' }] },
        ],
      });
    });

    it.each([
      [
        'an answer to SDKs',
        ofClient,
        /^This is what an SDK gets or keeps: its flags have no environments\. Name .*--environment/,
      ],
      ['an answer of GitLab', ofGitLab, /^This is an answer of GitLab for SDKs/],
      [
        'of GitLab for people',
        [{ name: 'a', active: true, strategies: [] }],
        /^This is an answer of GitLab's API for people/,
      ],
      [
        'a body of an import',
        { project: 'default', environment: 'x', data: ofClient },
        /pass its member "data" alone\.\n$/,
      ],
      ['another file', { things: [] }, /^This is not an export of Unleash/],
      ['without names', { version: 4, features: [{}] }, /^This is not an export of Unleash/],
      [
        'a state without flags',
        { version: 4, projects: [{ id: 'default' }], segments: [] },
        /features\.json has no flags\.\n$/,
      ],
      [
        'a state with no flag',
        { version: 4, features: [], featureEnvironments: [] },
        /features\.json has no flags\.\n$/,
      ],
    ])('are refused without a named environment, as other files are: %s', async (_, document, sentence) => {
      const { code, err } = await onServer('import', written(document), '--from', 'unleash', '--yes');
      expect([code, err]).toEqual([1, expect.stringMatching(sentence)]);
      expect((await server().flags.listFlags()).items).toEqual([]);
    });
  });

  it('leaves out flags with unknown segments, refused constraints, and parents that are left out', async () => {
    const regex = (value: string) => [{ contextName: 'email', operator: 'REGEX', value }];
    const at = (featureName: string, more: object = {}) => ({
      featureName,
      environment: 'production',
      strategyName: 'default',
      constraints: [],
      ...more,
    });
    const names = ['lost', 'backwards', 'shared', 'child', 'blank'];
    const file = inFolder('state.json');
    const state = {
      version: 4,
      features: names.map((name) => ({ name, project: 'default' })),
      segments: [{ id: 3, name: 'wild', constraints: regex('(?=a)') }],
      featureEnvironments: names.map((featureName) => ({ featureName, environment: 'production', enabled: true })),
      featureStrategies: [
        at('lost', { segments: [9] }),
        at('backwards', { constraints: regex('(a)\\1') }),
        at('shared', { segments: [3] }),
        at('child'),
        at('blank', {
          constraints: [
            { contextName: 'c', operator: 'IN', values: [' DE', ' '] },
            { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2024-06-01T00:00:00' },
          ],
        }),
      ],
      dependencies: [{ feature: 'child', dependencies: [{ feature: 'lost', enabled: true }] }],
    };
    writeFileSync(file, JSON.stringify(state));
    const { flags, notes } = await imported(file, '--from', 'unleash');
    expect(Object.keys(flags)).toEqual(['blank']);
    expect(flags.blank?.environments?.production?.strategies).toMatchObject([
      { constraints: [{ values: ['DE'] }, { value: '2024-06-01T00:00:00.000Z' }] },
    ]);
    for (const note of [
      'lost: a segment of a strategy is not in the export',
      'backwards: environments/production/strategies/0/constraints/0/value must be a regular expression',
      'shared: it uses the segment wild',
      'child: it depends on lost, which is left out',
      'blank: blanks around values and empty values are dropped',
      'blank: the time 2024-06-01T00:00:00 has no offset, and is read as UTC',
    ]) {
      expect(notes).toContain(note);
    }
    expect(notes).toMatch(/\nLeft out: 4 flags\.\n$/);
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
      await server().flags.segments.create({ name: 'beta', constraints: [] });
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
      await server().flags.segments.create({ name: 'beta', constraints: [] });
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
