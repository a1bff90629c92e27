import type { EvaluationOperations } from '../src/evaluation/evaluation.types.js';
import type { Change, Definitions, Flags, StrategyRef } from '../src/index.js';
import type { ApprovalPolicies, ChangeRequests, Rollouts } from '../src/types.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';

export type Attempt = (flags: Flags) => Promise<unknown>;

/** The namespaces of flags. */
interface Namespaces {
  readonly changeRequests: ChangeRequests;
  readonly approvalPolicy: ApprovalPolicies;
  readonly rollouts: Rollouts;
}

type NameIn<Namespace extends keyof Namespaces> = `${Namespace}.${keyof Namespaces[Namespace] & string}`;
/** Every method, those of a namespace as `changeRequests.create`. */
type MethodName =
  | Exclude<keyof Flags & string, OwnTests | keyof Namespaces>
  | { readonly [Namespace in keyof Namespaces]: NameIn<Namespace> }[keyof Namespaces];

type OwnTests =
  | keyof EvaluationOperations
  | 'subscribe'
  | 'consume'
  | 'asOf'
  | 'dataVersion'
  | 'settings'
  | 'as'
  | 'rollouts'
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
  await flags.createSegment({ name: 'beta', constraints: [] });
  await flags.createSegment({ name: 'unused', constraints: [] });
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
  await flags.createToken({ name: 'known', kind: 'admin', secret: 'secret-of-at-least-32-printable-characters' });
  await flags.createToken({
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
  const { items } = await flags.listEvents({ limit: 1 });
  return new Date(Date.parse(items[0]?.at ?? '') + 3_600_000).toISOString();
}

/**
 * Every operation that reads or changes stored data; rollouts are listed from memory. A new operation does not compile until
 * it is listed.
 */
export const OPERATIONS: Readonly<Record<Exclude<MethodName, 'rollouts.list'>, Attempt | readonly Attempt[]>> = {
  createProject: (flags) => flags.createProject({ id: 'new', name: 'New' }),
  updateProject: (flags) => flags.updateProject(DEFAULT, { name: 'Changed' }),
  deleteProject: (flags) => flags.deleteProject(SHOP),
  listProjects: [(flags) => flags.listProjects(), (flags) => flags.listProjects({ limit: 1 })],
  getProject: (flags) => flags.getProject(DEFAULT),
  createFlag: (flags) => flags.createFlag(DEFAULT, { name: 'new' }),
  listFlags: [
    (flags) => flags.listFlags(DEFAULT),
    (flags) => flags.listFlags(DEFAULT, { limit: 1, after: 'checkout' }),
  ],
  searchFlags: [
    (flags) => flags.searchFlags(),
    (flags) => flags.searchFlags({ query: 'checkout', sort: 'lastSeenAt', limit: 1 }),
  ],
  getFlag: (flags) => flags.getFlag(CHECKOUT),
  updateFlag: (flags) => flags.updateFlag(CHECKOUT, { description: 'changed', stale: true }),
  changeLabels: (flags) => flags.changeLabels(CHECKOUT, { add: ['team-shop'] }),
  cloneFlag: (flags) => flags.cloneFlag(CHECKOUT, { name: 'copy' }),
  archiveFlag: (flags) => flags.archiveFlag(CHECKOUT),
  locateFlag: (flags) => flags.locateFlag(OLD),
  reviveFlag: (flags) => flags.reviveFlag(OLD),
  deleteFlag: (flags) => flags.deleteFlag(OLD),
  listArchivedFlags: [
    (flags) => flags.listArchivedFlags(),
    (flags) => flags.listArchivedFlags(SHOP),
    (flags) => flags.listArchivedFlags({}, {}),
    (flags) => flags.listArchivedFlags(SHOP, { limit: 1 }),
  ],
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
  createSegment: (flags) => flags.createSegment({ name: 'new', constraints: [] }),
  updateSegment: (flags) => flags.updateSegment(USED, { name: 'renamed', description: 'changed' }),
  deleteSegment: (flags) => flags.deleteSegment(UNUSED),
  getSegment: (flags) => flags.getSegment(USED),
  listSegments: [
    (flags) => flags.listSegments(),
    (flags) => flags.listSegments({ strategy: 'id-1' }),
    (flags) => flags.listSegments({}, { limit: 1 }),
  ],
  listSegmentUses: (flags) => flags.listSegmentUses(USED),
  addDependency: (flags) => flags.addDependency(CHECKOUT, { flag: 'parent' }),
  removeDependency: (flags) => flags.removeDependency(CHILD, { flag: 'parent' }),
  removeDependencies: (flags) => flags.removeDependencies(CHILD),
  listPossibleParents: [
    (flags) => flags.listPossibleParents(CHECKOUT),
    (flags) => flags.listPossibleParents(CHECKOUT, { limit: 1 }),
  ],
  createToken: [
    (flags) => flags.createToken({ name: 'new', kind: 'admin', secret: 'new-of-at-least-32-printable-characters' }),
    (flags) =>
      flags.createToken({
        name: 'n',
        kind: 'client',
        project: 'shop',
        environment: 'production',
        secret: 'n-of-at-least-32-printable-characters',
      }),
  ],
  listTokens: [(flags) => flags.listTokens(), (flags) => flags.listTokens({ limit: 1 })],
  updateToken: (flags) =>
    flags.updateToken({ token: 'secret-of-at-least-32-printable-characters' }, { expiresAt: '2099-01-01T00:00:00Z' }),
  rotateToken: async (flags) => flags.rotateToken({ token: (await flags.listTokens()).items[0]?.id ?? 'unknown' }),
  deleteToken: (flags) => flags.deleteToken({ token: 'secret-of-at-least-32-printable-characters' }),
  verifyToken: (flags) => flags.verifyToken('secret-of-at-least-32-printable-characters'),
  verifyTokens: (flags) => flags.verifyTokens(['secret-of-at-least-32-printable-characters']),
  listEvents: (flags) => flags.listEvents(),
  listNextEvents: [(flags) => flags.listNextEvents(), (flags) => flags.listNextEvents({ after: null })],
  listHistory: [
    (flags) => flags.listHistory({}, { limit: 2 }),
    (flags) => flags.listHistory(CHECKOUT),
    async (flags) => (await flags.listHistory({})).next,
  ],
  getChangeSet: async (flags) => flags.getChangeSet({ changeSet: await newestSet(flags) }),
  listChangeSetProjects: async (flags) => flags.listChangeSetProjects({ changeSet: await newestSet(flags) }),
  exportDefinitions: (flags) => flags.exportDefinitions(),
  importDefinitions: [
    (flags) => flags.importDefinitions(DEFINITIONS, { dryRun: true, prune: true }),
    (flags) => flags.importDefinitions(DEFINITIONS, { prune: true, reason: 'Release' }),
  ],
  undoChangeSet: async (flags) => flags.undoChangeSet({ changeSet: await newestSet(flags) }),
  planUndo: async (flags) => flags.planUndo({ changeSet: await newestSet(flags) }),
  previewUndo: async (flags) =>
    flags.previewUndo({ changeSet: await newestSet(flags) }, { environment: 'production', contexts: [{}] }),
  registerApplication: (flags) => flags.registerApplication({ application: 'new', strategies: [] }),
  reportMetrics: (flags) => flags.reportMetrics(report(5)),
  reportMetricsInBulk: (flags) =>
    flags.reportMetricsInBulk({
      registrations: [{ application: 'new', strategies: [] }],
      reports: [report(5), { ...report(2), application: 'new' }],
    }),
  listSeenFlags: [(flags) => flags.listSeenFlags(), (flags) => flags.listSeenFlags({ limit: 1 })],
  countEvaluations: (flags) => flags.countEvaluations(),
  listUsage: [(flags) => flags.listUsage({ flag: 'checkout' }), (flags) => flags.listUsage({}, { limit: 1 })],
  listApplications: [(flags) => flags.listApplications(), (flags) => flags.listApplications({}, { limit: 1 })],
  getApplication: (flags) => flags.getApplication({ application: 'web' }),
  listApplicationsByFlag: [
    (flags) => flags.listApplicationsByFlag(),
    (flags) => flags.listApplicationsByFlag({ limit: 1 }),
  ],
  deleteApplication: (flags) => flags.deleteApplication({ application: 'web' }),
  listConsumers: [(flags) => flags.listConsumers(), (flags) => flags.listConsumers({ limit: 1 })],
  resetConsumer: (flags) => flags.resetConsumer({ consumer: 'audit' }, { from: 'beginning' }),
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
  deleteConsumer: (flags) => flags.deleteConsumer({ consumer: 'audit' }),
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
  const { items } = await flags.listHistory(CHECKOUT, { limit: 1 });
  return `${items[0]?.id}`;
}
