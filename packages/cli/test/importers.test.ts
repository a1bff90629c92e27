import { fixture, importing } from './importing.js';

const { server, onServer, imported } = importing();

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
  expect((await onServer('import', fixture('unleash-4.19.5-state.json'), ...options)).code).toBe(code);
});
