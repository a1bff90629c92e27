import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { DefinedFlag, Definitions } from '@flags/core';
import { flagsCommand, runningServer } from './command-line.js';

const server = runningServer();
const fixture = (name: string) => join(__dirname, 'fixtures', name);

function onServer(...args: string[]) {
  const { url, secret } = server();
  return flagsCommand([...args, '--store', url, '--token', secret]);
}

/** Imports a file, and returns the flags by name with the notes. */
async function imported(file: string, ...options: string[]) {
  const { code, err } = await onServer('import', file, '--yes', ...options);
  expect(`${code} ${err}`).toMatch(/^0/);
  expect(await onServer('import', file, '--yes', ...options)).toMatchObject({ code: 0, out: 'Nothing to change.\n' });
  const document: Definitions = await server().flags.exportDefinitions();
  return { flags: byName(document), document, notes: err };
}

function byName({ flags = [] }: Definitions): Readonly<Record<string, DefinedFlag>> {
  return Object.fromEntries(flags.map((flag) => [flag.name, flag]));
}

describe('Unleash', () => {
  it('imports a state export, and reports what has no equivalent', async () => {
    const file = fixture('unleash-state.json');
    const { flags, document, notes } = await imported(
      ...([file, '--from', 'unleash', '--map-environment', 'default=development'] as const),
    );
    expect(document.segments).toMatchObject([{ id: 1, name: 'beta', createdBy: 'some-user' }]);
    expect(document.projects?.map(({ id, name }) => [id, name])).toEqual([
      ['default', 'Default'],
      ['shop', 'Shop'],
    ]);
    expect(flags.checkout).toMatchObject({
      project: 'shop',
      labels: ['money', 'team:shop'],
      impressionData: true,
      createdAt: '2022-03-17T20:18:55.643Z',
      variants: [],
      environments: {
        production: {
          enabled: true,
          strategies: [
            {
              id: '854adc48-7d4e-4433-9c36-5a4cd15491dc',
              name: 'flexibleRollout',
              parameters: { rollout: '25' },
              constraints: [
                { contextName: 'country', operator: 'IN', values: ['DE', 'AT'] },
                { contextName: 'age', operator: 'NUM_GTE', value: '18' },
              ],
              segments: ['beta'],
              variants: [{ name: 'red', weight: 300 }, { name: 'blue' }],
            },
          ],
        },
      },
    });
    expect(flags.payments).toMatchObject({
      stale: true,
      environments: { development: { enabled: true, strategies: [{ name: 'byRegion', disabled: true }] } },
    });
    expect(notes).toContain('The environment staging is not configured');
    expect(notes).toContain('overrides');
    expect(notes).toContain('The strategy byRegion is a custom one');
    expect(notes).toContain('1 strategies have no equivalent');
  });

  it('imports the export of an environment onto known segments', async () => {
    const file = fixture('unleash-environment.json');
    const unknown = await onServer('import', file, '--from', 'unleash', '--yes');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('names the segment beta') });
    await server().flags.createSegment({ name: 'beta', constraints: [] });
    const { flags, notes } = await imported(file, '--from', 'unleash');
    expect(flags.checkout).toMatchObject({
      labels: ['user-facing'],
      dependencies: [{ flag: 'payments', enabled: true, variants: [] }],
      environments: {
        development: {
          enabled: true,
          strategies: [{ title: 'Rollout 50%', segments: ['beta'], variants: [{ name: 'a', weight: 1000 }] }],
        },
      },
    });
    expect(flags.payments).toMatchObject({ environments: { development: { enabled: true } } });
    expect(notes).toContain('gets the strategy default');
  });

  it('imports from a live server', async () => {
    const state = JSON.parse(readFileSync(fixture('unleash-state.json'), 'utf8'));
    const strategies = [
      { id: 's-1', name: 'flexibleRollout', parameters: { rollout: '10' }, constraints: [], segments: [1] },
    ];
    const answers: Readonly<Record<string, unknown>> = {
      '/projects': { version: 1, projects: [{ id: 'default', name: 'Default' }] },
      '/segments': { segments: state.segments },
      '/projects/default/features': { version: 2, features: [{ name: 'checkout' }] },
      '/archive/features': { version: 2, features: [] },
      '/projects/default/features/checkout': {
        name: 'checkout',
        type: 'release',
        variants: [],
        dependencies: [],
        environments: [{ name: 'production', enabled: true, strategies, variants: [] }],
      },
      '/features/checkout/tags': { version: 1, tags: [{ type: 'simple', value: 'live' }] },
    };
    const unleash = createServer(({ url = '', headers }, response) => {
      const answer = answers[url.replace('/api/admin', '')];
      response.statusCode = headers.authorization !== '*:*.secret' ? 401 : answer === undefined ? 404 : 200;
      response.end(JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => unleash.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(unleash.address() as AddressInfo).port}`;
    try {
      expect(await onServer('import', address, '--from', 'unleash')).toMatchObject({ code: 1 });
      const { flags } = await imported(address, '--from', 'unleash', '--source-token', '*:*.secret');
      expect(flags.checkout).toMatchObject({
        labels: ['live'],
        environments: { production: { enabled: true, strategies: [{ segments: ['beta'] }] } },
      });
    } finally {
      unleash.close();
    }
  });
});

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
  expect((await onServer('import', fixture('unleash-state.json'), ...options)).code).toBe(code);
});
