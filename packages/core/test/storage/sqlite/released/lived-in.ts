import type { Flags, FlagsOptions } from '../../../../src/index.js';

/** Options under which the same calls write the same file: every read of the clock is a second later. */
export function reproducible(): Pick<FlagsOptions, 'now' | 'newId' | 'usage' | 'pollInterval'> {
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  let ids = 0;
  return {
    now: () => {
      time += 1000;
      return new Date(time);
    },
    newId: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
    },
    usage: { instance: 'writer', interval: 0 },
    pollInterval: 0,
  };
}

const SHOP = { project: 'shop' };
export const CHECKOUT = { ...SHOP, flag: 'checkout' };
export const ADMIN_SECRET = '*:*.a-secret-that-is-in-the-repository';
const PATIENT = ['*:*.a-deleted-secret-in-the-repository', 'shop:production.an-expired-secret'] as const;

/** The content of release 0.1.0: every kind of document, event and metrics, including tombstones. */
export async function liveIn(flags: Flags<string>): Promise<void> {
  await fillProjects(flags);
  await fillFlags(flags);
  await fillStrategies(flags);
  await fillArchive(flags);
  await fillTokens(flags);
  await fillMetrics(flags);
}

/** The additions after 0.1.0 within schema version 1: segments and dependencies. */
export async function liveOn(flags: Flags<string>): Promise<void> {
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }] as const;
  const { id } = await flags.createSegment({ name: 'beta', description: 'Early', constraints });
  const gone = await flags.createSegment({ name: 'gone', constraints: [] });
  await flags.addStrategy(
    { ...CHECKOUT, environment: 'development' },
    { name: 'flexibleRollout', parameters: { rollout: '100' }, segments: [id] },
  );
  await flags.updateSegment({ segment: id }, { constraints: [{ ...constraints[0], values: ['7', '9'] }] });
  await flags.deleteSegment({ segment: gone.id });
  await flags.addDependency({ ...SHOP, flag: 'banner' }, { flag: 'checkout', variants: ['blue'] });
  await flags.addDependency({ ...SHOP, flag: 'kept' }, { flag: 'checkout', enabled: false });
  await flags.removeDependency({ ...SHOP, flag: 'kept' }, { flag: 'checkout' });
}

async function fillProjects(flags: Flags<string>): Promise<void> {
  await flags.as('ada').createProject({ id: 'shop', name: 'Shop', description: 'Sells 🛒, "quoted"\nand \u2028' });
  await flags.createProject({ id: 'gone', name: 'Gone' });
  await flags.updateProject(SHOP, { name: 'The shop' });
  await flags.deleteProject({ project: 'gone' });
  await flags.addMember(SHOP, { userId: 1, roleId: 4 });
  await flags.addMember(SHOP, { userId: 2, roleId: 4 });
  await flags.changeMemberRole(SHOP, { userId: 2, roleId: 5 });
  await flags.addMember(SHOP, { userId: 3, roleId: 5 });
  await flags.removeMember(SHOP, { userId: 3, roleId: 5 });
}

async function fillFlags(flags: Flags<string>): Promise<void> {
  await flags.as('ada').createFlag(SHOP, { name: 'checkout', description: 'The new checkout', impressionData: true });
  for (const [name, type] of [
    ['banner', 'experiment'],
    ['__proto__', 'operational'],
    ['constructor', 'kill-switch'],
    ['kept', 'permission'],
  ] as const) {
    await flags.createFlag(SHOP, { name, type });
  }
  await flags.updateFlag(CHECKOUT, { description: 'The newest checkout' });
  await flags.patchFlag({ ...SHOP, flag: '__proto__' }, [{ op: 'replace', path: '/stale', value: true }]);
  await flags.setVariants(CHECKOUT, [
    {
      name: 'blue',
      weightType: 'fix',
      weight: 250,
      stickiness: 'userId',
      payload: { type: 'json', value: '{"a":[1]}' },
      overrides: [{ contextName: 'userId', values: ['7'] }],
    },
    { name: 'green', payload: { type: 'number', value: '1.5' } },
    { name: '__proto__', payload: { type: 'csv', value: 'a,b' } },
  ]);
}

async function fillStrategies(flags: Flags<string>): Promise<void> {
  const production = { ...CHECKOUT, environment: 'production' };
  const first = await flags.addStrategy(production, {
    name: 'flexibleRollout',
    parameters: { rollout: 50, stickiness: 'userId', groupId: 'checkout' },
    constraints: [
      { contextName: 'country', operator: 'IN', values: ['NL', 'DE'] },
      { contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@example.org'], caseInsensitive: true },
      { contextName: 'age', operator: 'NUM_GTE', value: '18', inverted: true },
      { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00.000Z' },
      { contextName: 'version', operator: 'SEMVER_GT', value: '1.2.3-rc.1' },
    ],
    title: 'Half',
    disabled: false,
    sortOrder: 2,
    variants: [{ name: 'own', weightType: 'variable', weight: 1000, stickiness: 'default' }],
  });
  const second = await flags.addStrategy(production, { name: 'userWithId', parameters: { userIds: '7,8' } });
  const third = await flags.addStrategy(production, { name: 'ours', parameters: null });
  await flags.updateStrategy(
    { ...production, strategy: second.id },
    { name: 'userWithId', parameters: { userIds: '7' } },
  );
  await flags.patchStrategy({ ...production, strategy: first.id }, [
    { op: 'replace', path: '/parameters/rollout', value: 100 },
    { op: 'replace', path: '/constraints', value: [] },
  ]);
  await flags.removeStrategy({ ...production, strategy: third.id });
  await flags.enable(production);
  const banner = { ...SHOP, flag: 'banner', environment: 'production' };
  await flags.addStrategy(banner, { name: 'default' });
  await flags.enable(banner);
  await flags.disable(banner);
}

async function fillArchive(flags: Flags<string>): Promise<void> {
  await flags.cloneFlag(CHECKOUT, { name: 'copy' });
  await flags.archiveFlag({ ...SHOP, flag: 'copy' });
  for (const name of ['deleted', 'born-again']) {
    await flags.createFlag(SHOP, { name });
    await flags.archiveFlag({ ...SHOP, flag: name });
    await flags.deleteFlag({ flag: name });
  }
  await flags.createFlag({ project: 'default' }, { name: 'born-again' });
  await flags.archiveFlag({ ...SHOP, flag: 'kept' });
  await flags.reviveFlag({ flag: 'kept' });
}

async function fillTokens(flags: Flags<string>): Promise<void> {
  const [deleted, expired] = PATIENT;
  await flags.createToken({ name: 'the admin', kind: 'admin', secret: ADMIN_SECRET });
  await flags.createToken({ name: 'deleted', kind: 'admin', secret: deleted });
  await flags.createToken({
    name: 'expired',
    kind: 'client',
    secret: expired,
    project: 'shop',
    environment: 'production',
    expiresAt: '2026-01-01T00:00:01Z',
  });
  await flags.createToken({
    name: 'web',
    kind: 'frontend',
    secret: '*:development.a-web-secret-in-the-repository',
    environment: 'development',
  });
  await flags.deleteToken({ token: deleted });
}

async function fillMetrics(flags: Flags<string>): Promise<void> {
  const application = { appName: 'web', instanceId: 'one', sdkVersion: 'sdk:1.0.0', strategies: ['default', 'ours'] };
  const details = { description: 'The site', url: 'https://example.org', color: 'red', icon: 'shop' };
  const started = '2026-01-01T00:00:00Z';
  await flags.registerApplication({ ...application, ...details, started, interval: 1000 }, { clientIp: '10.0.0.7' });
  const report = (stop: string, yes: number) => ({
    appName: 'web',
    instanceId: 'two',
    bucket: { start: started, stop, toggles: { checkout: { yes, no: 1 }, ['__proto__']: { yes: 0, no: 2 } } },
  });
  await flags.reportMetrics(report('2026-01-01T00:00:30Z', 5), { clientIp: '::1' });
  await flags.reportMetrics(report('2026-01-01T00:00:31Z', 7));
  await flags.reportMetrics({ ...report('2026-01-01T00:00:32Z', 3), appName: '__proto__' });
}
