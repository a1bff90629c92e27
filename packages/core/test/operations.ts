import type { EvaluationOperations } from '../src/evaluation/evaluation.types.js';
import type { Change, Definitions, Flags, StrategyRef } from '../src/index.js';
import type { MethodName } from './method-names.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';

export type Attempt = (flags: Flags) => Promise<unknown>;

/** Every method has a row, but those with tests of their own. */
type Tested = Exclude<MethodName, OwnTests>;

type OwnTests =
  | keyof EvaluationOperations
  | 'subscribe'
  | 'consume'
  | 'history.asOf'
  | 'dataVersion'
  | 'settings'
  | 'as'
  | 'closing'
  | 'close';

export const SHOP = { project: 'shop' };
export const OLD = { ...SHOP, flag: 'old' };
export const CHILD = { ...DEFAULT, flag: 'child' };
export const STRATEGY = { ...DEVELOPMENT, strategy: 'id-1' };
const USED = { segment: 1 };
const UNUSED = { segment: 2 };
const GRADUAL = { ...DEFAULT, flag: 'gradual', environment: 'production' };
const REQUEST = { changeRequest: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a05' };
const DUE = { changeRequest: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01' };
const STEPS = { steps: [{ percentage: 5, hold: null }, { percentage: 100 }] };
const TIME = '2026-03-01T12:00:00.000Z';

/** Changes of several documents. */
const CHANGES: readonly Change[] = [
  { op: 'createFlag', ref: DEFAULT, input: { name: 'new' } },
  { op: 'addStrategy', ref: { ...DEFAULT, flag: 'new', environment: 'production' }, input: { name: 'default' } },
  { op: 'enable', ref: PRODUCTION },
  { op: 'deleteSegment', ref: UNUSED },
];

/** Changes existing documents, and creates others. */
const DEFINITIONS: Definitions = {
  version: 1,
  projects: [{ id: 'tools' }],
  segments: [{ name: 'beta', constraints: [] }, { name: 'staff' }],
  flags: [
    { name: 'checkout', project: 'default', stale: true },
    { name: 'parent', labels: ['kept'] },
    { name: 'child', archived: true },
    {
      name: 'drill',
      project: 'tools',
      environments: { production: { strategies: [{ name: 'default', segments: ['staff'] }] } },
    },
  ],
};

/** A state in which every operation has an effect. */
export async function furnish(flags: Flags): Promise<void> {
  await flags.segments.create({ name: 'beta', constraints: [] });
  await flags.segments.create({ name: 'unused', constraints: [] });
  for (const name of ['checkout', 'parent', 'child']) await flags.createFlag(DEFAULT, { name });
  await flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [1] });
  await flags.addStrategy(PRODUCTION, { name: 'default' });
  await flags.enable(DEVELOPMENT);
  await flags.addDependency(CHILD, { flag: 'parent' });
  await flags.addMember(DEFAULT, { userId: 1, roleId: 5 });
  await flags.createProject({ id: 'shop', name: 'Shop' });
  await flags.createFlag(SHOP, { name: 'old' });
  await flags.addStrategy({ ...OLD, environment: 'production' }, { name: 'default', segments: [1] });
  await flags.archiveFlag(OLD);
  await flags.tokens.create({ name: 'known', kind: 'admin', secret: 'secret-of-at-least-32-printable-characters' });
  await flags.tokens.create({
    name: 'shop',
    kind: 'client',
    environment: 'production',
    project: 'shop',
    secret: 's2-of-at-least-32-printable-characters',
  });
  await flags.registerApplication({ application: 'web', strategies: ['default'] });
  await flags.reportMetrics(report(3));
  const stop = await flags.consume('audit', () => undefined);
  await stop();
  await flags.createFlag(DEFAULT, { name: 'gradual' });
  const own = async () =>
    (await flags.addStrategy(GRADUAL, { name: 'flexibleRollout', parameters: { rollout: '1' } })).id;
  const [first] = [await own(), await own()];
  await flags.enable(GRADUAL);
  await flags.rollouts.start({ ...GRADUAL, strategy: first }, STEPS, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a03' });
  const changes = [{ op: 'archiveFlag', ref: CHILD }] as const;
  await flags.changeRequests.create(changes, { id: DUE.changeRequest, at: await later(flags) });
  await flags.changeRequests.create(changes, { id: REQUEST.changeRequest, expiresAt: await later(flags) });
}

/** The strategy that rolls out in a furnished store, from memory. */
async function rolling(flags: Flags): Promise<StrategyRef> {
  const [rollout] = (await flags.rollouts.list()).items;
  return rollout?.ref ?? { ...GRADUAL, strategy: 'none' };
}

/** An hour after the newest event: the clock of the engine may be another one than that of this process. */
async function later(flags: Flags): Promise<string> {
  const { items } = await flags.events.list({ limit: 1 });
  return new Date(Date.parse(items[0]?.at ?? '') + 3_600_000).toISOString();
}

/**
 * Every operation that reads or changes stored data; rollouts are listed from memory. A new operation does not compile until
 * it is listed.
 */
export const OPERATIONS: Readonly<Record<Exclude<Tested, 'rollouts.list'>, Attempt | readonly Attempt[]>> = {
  createProject: (flags) => flags.createProject({ id: 'new', name: 'New' }),
  updateProject: (flags) => flags.updateProject(DEFAULT, { name: 'Changed' }),
  deleteProject: (flags) => flags.deleteProject(SHOP),
  listProjects: [(flags) => flags.listProjects(), (flags) => flags.listProjects({ limit: 1 })],
  getProject: (flags) => flags.getProject(DEFAULT),
  createFlag: (flags) => flags.createFlag(DEFAULT, { name: 'new' }),
  listFlags: [
    (flags) => flags.listFlags(),
    (flags) => flags.listFlags(DEFAULT),
    (flags) => flags.listFlags(DEFAULT, { limit: 1, after: 'checkout' }),
    (flags) => flags.listFlags({ query: 'checkout', sort: 'lastSeenAt' }, { limit: 1 }),
    (flags) => flags.listFlags({ archived: true }),
    (flags) => flags.listFlags({ ...SHOP, archived: true }, { limit: 1 }),
  ],
  getFlag: (flags) => flags.getFlag(CHECKOUT),
  updateFlag: (flags) => flags.updateFlag(CHECKOUT, { description: 'changed', stale: true }),
  changeLabels: (flags) => flags.changeLabels(CHECKOUT, { add: ['team-shop'] }),
  cloneFlag: (flags) => flags.cloneFlag(CHECKOUT, { name: 'copy' }),
  archiveFlag: (flags) => flags.archiveFlag(CHECKOUT),
  locateFlag: (flags) => flags.locateFlag(OLD),
  reviveFlag: (flags) => flags.reviveFlag(OLD),
  deleteFlag: (flags) => flags.deleteFlag(OLD),
  addStrategy: [
    (flags) => flags.addStrategy(DEVELOPMENT, { name: 'default' }),
    (flags) => flags.addStrategy(DEVELOPMENT, { name: 'default', segments: [1, 2] }),
  ],
  configureEnvironment: (flags) =>
    flags.configureEnvironment(DEVELOPMENT, { enabled: false, strategies: [{ name: 'userWithId', segments: [2] }] }),
  moveFlag: (flags) => flags.moveFlag(CHECKOUT, SHOP),
  apply: [
    (flags) => flags.apply(CHANGES),
    (flags) => flags.apply(CHANGES, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01', reason: 'Launch' }),
  ],
  plan: (flags) => flags.plan(CHANGES),
  preview: (flags) => flags.preview(CHANGES, { environment: 'production', contexts: [{ userId: '7' }] }),
  updateStrategy: (flags) => flags.updateStrategy(STRATEGY, { name: 'default', segments: [2] }),
  orderStrategies: (flags) => flags.orderStrategies(DEVELOPMENT, [{ id: STRATEGY.strategy, sortOrder: 1 }]),
  removeStrategy: (flags) => flags.removeStrategy(STRATEGY),
  enable: (flags) => flags.enable(PRODUCTION),
  disable: (flags) => flags.disable(DEVELOPMENT),
  setVariants: (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue' }]),
  addMember: (flags) => flags.addMember(DEFAULT, { userId: 2, roleId: 4 }),
  changeMemberRole: (flags) => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: 4 }),
  removeMember: (flags) => flags.removeMember(DEFAULT, { userId: 1, roleId: 5 }),
  listMembers: (flags) => flags.listMembers(DEFAULT),
  'segments.create': (flags) => flags.segments.create({ name: 'new', constraints: [] }),
  'segments.update': (flags) => flags.segments.update(USED, { name: 'renamed', description: 'changed' }),
  'segments.delete': (flags) => flags.segments.delete(UNUSED),
  'segments.get': (flags) => flags.segments.get(USED),
  'segments.list': [
    (flags) => flags.segments.list(),
    (flags) => flags.segments.list({ strategy: 'id-1' }),
    (flags) => flags.segments.list({}, { limit: 1 }),
  ],
  'segments.listUses': (flags) => flags.segments.listUses(USED),
  addDependency: (flags) => flags.addDependency(CHECKOUT, { flag: 'parent' }),
  removeDependency: (flags) => flags.removeDependency(CHILD, { flag: 'parent' }),
  removeDependencies: (flags) => flags.removeDependencies(CHILD),
  listPossibleParents: [
    (flags) => flags.listPossibleParents(CHECKOUT),
    (flags) => flags.listPossibleParents(CHECKOUT, { limit: 1 }),
  ],
  'tokens.create': [
    (flags) => flags.tokens.create({ name: 'new', kind: 'admin', secret: 'new-of-at-least-32-printable-characters' }),
    (flags) =>
      flags.tokens.create({
        name: 'n',
        kind: 'client',
        project: 'shop',
        environment: 'production',
        secret: 'n-of-at-least-32-printable-characters',
      }),
  ],
  'tokens.list': [(flags) => flags.tokens.list(), (flags) => flags.tokens.list({ limit: 1 })],
  'tokens.update': (flags) =>
    flags.tokens.update({ token: 'secret-of-at-least-32-printable-characters' }, { expiresAt: '2099-01-01T00:00:00Z' }),
  'tokens.rotate': async (flags) =>
    flags.tokens.rotate({ token: (await flags.tokens.list()).items[0]?.id ?? 'unknown' }),
  'tokens.delete': (flags) => flags.tokens.delete({ token: 'secret-of-at-least-32-printable-characters' }),
  verifyToken: (flags) => flags.verifyToken('secret-of-at-least-32-printable-characters'),
  verifyTokens: (flags) => flags.verifyTokens(['secret-of-at-least-32-printable-characters']),
  'events.list': (flags) => flags.events.list(),
  'events.listNext': [(flags) => flags.events.listNext(), (flags) => flags.events.listNext({ after: null })],
  'history.list': [
    (flags) => flags.history.list({}, { limit: 2 }),
    (flags) => flags.history.list(CHECKOUT),
    async (flags) => (await flags.history.list({})).next,
  ],
  'history.get': async (flags) => flags.history.get({ changeSet: await newestSet(flags) }),
  'history.listProjects': async (flags) => flags.history.listProjects({ changeSet: await newestSet(flags) }),
  'definitions.export': (flags) => flags.definitions.export(),
  'definitions.import': [
    (flags) => flags.definitions.import(DEFINITIONS, { dryRun: true, prune: true }),
    (flags) => flags.definitions.import(DEFINITIONS, { prune: true, reason: 'Release' }),
  ],
  'history.undo': async (flags) => flags.history.undo({ changeSet: await newestSet(flags) }),
  'history.planUndo': async (flags) => flags.history.planUndo({ changeSet: await newestSet(flags) }),
  'history.previewUndo': async (flags) =>
    flags.history.previewUndo({ changeSet: await newestSet(flags) }, { environment: 'production', contexts: [{}] }),
  registerApplication: (flags) => flags.registerApplication({ application: 'new', strategies: [] }),
  reportMetrics: (flags) => flags.reportMetrics(report(5)),
  reportMetricsInBulk: (flags) =>
    flags.reportMetricsInBulk({
      registrations: [{ application: 'new', strategies: [] }],
      reports: [report(5), { ...report(2), application: 'new' }],
    }),
  'usage.listSeenFlags': [(flags) => flags.usage.listSeenFlags(), (flags) => flags.usage.listSeenFlags({ limit: 1 })],
  'usage.count': (flags) => flags.usage.count(),
  'usage.list': [(flags) => flags.usage.list({ flag: 'checkout' }), (flags) => flags.usage.list({}, { limit: 1 })],
  'applications.list': [(flags) => flags.applications.list(), (flags) => flags.applications.list({}, { limit: 1 })],
  'applications.get': (flags) => flags.applications.get({ application: 'web' }),
  'applications.listByFlag': [
    (flags) => flags.applications.listByFlag(),
    (flags) => flags.applications.listByFlag({ limit: 1 }),
  ],
  'applications.delete': (flags) => flags.applications.delete({ application: 'web' }),
  'consumers.list': [(flags) => flags.consumers.list(), (flags) => flags.consumers.list({ limit: 1 })],
  'consumers.reset': (flags) => flags.consumers.reset({ consumer: 'audit' }, { from: 'beginning' }),
  'changeRequests.create': [
    (flags) => flags.changeRequests.create(CHANGES, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a06' }),
    async (flags) =>
      flags.changeRequests.create(CHANGES, {
        ...{ id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a02', at: await later(flags), ifUnchanged: true },
        replaces: DUE.changeRequest,
      }),
  ],
  'changeRequests.get': (flags) => flags.changeRequests.get(REQUEST),
  'changeRequests.list': [
    (flags) => flags.changeRequests.list(),
    (flags) => flags.changeRequests.list({ flag: 'child' }, { limit: 1 }),
  ],
  'changeRequests.approve': async (flags) => {
    const { effect } = await flags.changeRequests.get(REQUEST);
    return flags.changeRequests.approve(REQUEST, { effect: `${effect}` }, { actor: 'grace' });
  },
  'changeRequests.reject': (flags) => flags.changeRequests.reject(REQUEST, { actor: 'grace' }),
  'changeRequests.withdraw': (flags) => flags.changeRequests.withdraw(REQUEST),
  'changeRequests.apply': [
    (flags) => flags.changeRequests.apply(REQUEST, {}, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a08' }),
    async (flags) =>
      flags.changeRequests.apply(REQUEST, { at: await later(flags) }, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a07' }),
  ],
  'rollouts.start': async (flags) => {
    const { environments } = await flags.getFlag(GRADUAL);
    const strategy = environments.find(({ name }) => name === 'production')?.strategies[1]?.id ?? '';
    return flags.rollouts.start({ ...GRADUAL, strategy }, STEPS, { id: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a04' });
  },
  'rollouts.pause': async (flags) => flags.rollouts.pause(await rolling(flags)),
  'rollouts.resume': async (flags) => flags.rollouts.resume(await rolling(flags)),
  'rollouts.advance': async (flags) => flags.rollouts.advance(await rolling(flags)),
  'rollouts.stop': async (flags) => flags.rollouts.stop(await rolling(flags)),
  runDue: (flags) => flags.runDue(),
  'approvalPolicy.set': (flags) => flags.approvalPolicy.set({ environments: { staging: { required: 1 } } }),
  'approvalPolicy.get': (flags) => flags.approvalPolicy.get(),
  'consumers.delete': (flags) => flags.consumers.delete({ consumer: 'audit' }),
};

/** Evaluation uses memory only, whatever happens to the storage. */
export const EVALUATIONS: Readonly<Record<Exclude<keyof EvaluationOperations, 'refresh'>, (flags: Flags) => unknown>> =
  {
    isEnabled: (flags) => flags.isEnabled('checkout', {}, { environment: 'development' }),
    getVariant: (flags) => flags.getVariant('checkout', {}, { environment: 'development' }),
    getPayload: (flags) => flags.getPayload('checkout', {}, { environment: 'development' }),
    forContext: (flags) => flags.forContext({}, { environment: 'development' }).evaluateAll(),
    explain: (flags) => flags.explain('checkout', {}, { environment: 'development' }),
    evaluateAll: (flags) => flags.evaluateAll({}, { environment: 'development' }),
    evaluator: (flags) => flags.evaluator.isEnabled('checkout', {}, { environment: 'development' }),
    recentContexts: (flags) => flags.recentContexts(),
    onImpression: (flags) => flags.onImpression(() => undefined)(),
    configuration: (flags) => flags.configuration({ environment: 'development' }),
    onConfigurationChange: (flags) => flags.onConfigurationChange(() => undefined)(),
    projectOf: (flags) => flags.projectOf({ flag: 'checkout' }),
    status: (flags) => flags.status(),
  };

function report(yes: number) {
  return { application: 'web', start: TIME, stop: TIME, counts: { checkout: { yes, no: 1 } } };
}

async function newestSet(flags: Flags): Promise<string> {
  const { items } = await flags.history.list(CHECKOUT, { limit: 1 });
  return `${items[0]?.id}`;
}
