import { writeFileSync } from 'node:fs';
import { temporaryFolder } from './command-line.js';
import { fixture, importing } from './importing.js';

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

  it('without a defaultVariant leave the default to the caller', async () => {
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
  ])('with %s are imported off, with a note, and keep the others', async (_, targeting) => {
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

  it('without room for their variants keep the name and the others', async () => {
    const long = 'x'.repeat(300_000);
    const { flags, noted } = await importBeside({ color: { ...RED, variants: { red: long } } });
    expect(flags.color?.variants).toEqual([]);
    expect(noted).toEqual([expect.stringContaining('imported off and without variants')]);
  });

  it('have their metadata noted, but the description', async () => {
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
  const { flags, notes } = await imported(fixture('flipper.json'), '--from', 'flipper', '--environment', 'development');
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
