import type { Change, Flags, StrategyRef } from '../../src/index.js';
import type { ChangeRequestRef } from '../../src/types.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';

const STOP = '2026-01-01T00:00:00Z';
const MEMBER = { userId: 1, roleId: 5 };
const CONSTRAINT = { contextName: 'userId', operator: 'IN', values: ['7'] };
const STRATEGY = { name: 'default', parameters: { a: 'b' }, constraints: [CONSTRAINT], segments: [1], variants: [] };
const REPORT = { application: 'web', start: STOP, stop: STOP, counts: { checkout: { yes: 1, no: 0 } } };
const STRATEGY_REF = { ...PRODUCTION, strategy: '' };

const CHANGES = [
  { op: 'updateFlag', ref: CHECKOUT, input: { description: 'x' }, ifRevision: [2] },
  { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default', constraints: [CONSTRAINT] } },
];

/** An operation with an input, and an input that it accepts. */
interface Taker {
  readonly input: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: what is given here is of any form.
  readonly take: (flags: Flags, input: any) => Promise<unknown>;
}

async function ownStrategy(flags: Flags) {
  return { ...STRATEGY_REF, strategy: (await flags.addStrategy(PRODUCTION, { name: 'default' })).id };
}

/** Starts a rollout of a new strategy. */
async function activeRollout(flags: Flags): Promise<StrategyRef> {
  const { id } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', sortOrder: 1 });
  await flags.enable(PRODUCTION);
  const ref = { ...PRODUCTION, strategy: id };
  await flags.rollouts.start(ref, { steps: [{ percentage: 5, hold: null }] });
  return ref;
}

/** A request that needs the approval of one person. */
async function openRequest(flags: Flags): Promise<ChangeRequestRef & { readonly effect: string }> {
  await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
  const { id, effect } = await flags.changeRequests.create([{ op: 'archiveFlag', ref: CHECKOUT }]);
  return { changeRequest: id, effect: `${effect}` };
}

/** Every method with an input of a user, by its name. */
export const TAKERS: Readonly<Record<string, Taker>> = {
  createProject: { input: { id: 'shop', name: 'Shop' }, take: (flags, input) => flags.createProject(input) },
  consume: {
    input: { name: 'audit', from: 'beginning', lease: 5000 },
    take: (flags, input) => flags.consume(input.name, () => undefined, input),
  },
  'consumers.reset': {
    input: { from: 'beginning' },
    async take(flags, input) {
      await flags.consume('audit', () => undefined);
      await flags.consumers.reset({ consumer: 'audit' }, input);
    },
  },
  updateProject: { input: { name: 'Shop' }, take: (flags, input) => flags.updateProject(DEFAULT, input) },
  addMember: { input: MEMBER, take: (flags, input) => flags.addMember(DEFAULT, input) },
  createFlag: { input: { name: 'other' }, take: (flags, input) => flags.createFlag(DEFAULT, input) },
  updateFlag: { input: { description: 'x' }, take: (flags, input) => flags.updateFlag(CHECKOUT, input) },
  cloneFlag: { input: { name: 'copy' }, take: (flags, input) => flags.cloneFlag(CHECKOUT, input) },
  changeLabels: { input: { add: ['x'], remove: ['y'] }, take: (flags, input) => flags.changeLabels(CHECKOUT, input) },
  moveFlag: { input: { project: 'default' }, take: (flags, input) => flags.moveFlag(CHECKOUT, input) },
  configureEnvironment: {
    input: { enabled: true, strategies: [{ ...STRATEGY, id: 'id' }] },
    take: (flags, input) => flags.configureEnvironment(PRODUCTION, input),
  },
  apply: { input: CHANGES, take: (flags, input) => flags.apply(input) },
  preview: {
    input: CHANGES,
    take: (flags, input) => flags.preview(input, { environment: 'production', contexts: [{ userId: '7' }] }),
  },
  'history.undo': {
    input: { actor: 'ada', reason: 'x' },
    take: async (flags, input) =>
      flags.history.undo({ changeSet: `${(await flags.apply(CHANGES as Change[])).id}` }, input),
  },
  'history.previewUndo': {
    input: { environment: 'production', contexts: [{ userId: '7' }] },
    take: async (flags, input) =>
      flags.history.previewUndo({ changeSet: `${(await flags.apply(CHANGES as Change[])).id}` }, input),
  },
  plan: { input: CHANGES, take: (flags, input) => flags.plan(input) },
  addStrategy: { input: STRATEGY, take: (flags, input) => flags.addStrategy(PRODUCTION, input) },
  updateStrategy: {
    input: STRATEGY,
    take: async (flags, input) => flags.updateStrategy(await ownStrategy(flags), input),
  },
  orderStrategies: {
    input: [{ id: 'own', sortOrder: 1 }],
    take: async (flags, input) => {
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
      const places = Array.isArray(input) ? input.map((one) => (one?.id === 'own' ? { ...one, id } : one)) : input;
      return flags.orderStrategies(PRODUCTION, places);
    },
  },
  setVariants: {
    input: [{ name: 'a', payload: { type: 'string', value: 'x' }, overrides: [{ contextName: 'a', values: ['b'] }] }],
    take: (flags, input) => flags.setVariants(CHECKOUT, input),
  },
  addDependency: {
    input: { flag: 'parent', variants: ['a'] },
    take: (flags, input) => flags.addDependency(CHECKOUT, input),
  },
  'segments.create': {
    input: { name: 'new', constraints: [CONSTRAINT] },
    take: (flags, input) => flags.segments.create(input),
  },
  'segments.update': {
    input: { constraints: [CONSTRAINT] },
    take: (flags, input) => flags.segments.update({ segment: 1 }, input),
  },
  'tokens.create': { input: { name: 'ops', kind: 'admin' }, take: (flags, input) => flags.tokens.create(input) },
  'definitions.export': {
    input: { project: ['default'] },
    take: (flags, input) => flags.definitions.export(input),
  },
  'definitions.import': {
    input: { version: 1, flags: [{ name: 'imported', project: 'default', labels: ['x'] }] },
    take: (flags, input) => flags.definitions.import(input),
  },
  'tokens.update': {
    input: { expiresAt: null },
    take: async (flags, input) => {
      const { token } = await flags.tokens.create({ name: `updated ${Math.random()}`, kind: 'admin' });
      return flags.tokens.update({ token: token.id }, input);
    },
  },
  'tokens.rotate': {
    input: { overlap: 1000, expiresAt: null },
    take: async (flags, input) => {
      const { token } = await flags.tokens.create({ name: `rotated ${Math.random()}`, kind: 'admin' });
      return flags.tokens.rotate({ token: token.id }, input);
    },
  },
  'approvalPolicy.set': {
    input: { environments: { nowhere: { required: 1 } } },
    take: (flags, input) => flags.approvalPolicy.set(input),
  },
  'rollouts.start': {
    input: {
      steps: [
        { percentage: 5, hold: 1000 },
        { percentage: 100, hold: null },
      ],
      guarded: false,
    },
    async take(flags, input) {
      const ref = await activeRollout(flags);
      await flags.rollouts.stop(ref);
      await flags.rollouts.start(ref, input);
      return flags.rollouts.stop(ref);
    },
  },
  'rollouts.pause': {
    input: { reason: 'x', ifRevision: [5, 1] },
    take: async (flags, input) => flags.rollouts.pause(await activeRollout(flags), input),
  },
  'rollouts.resume': {
    input: { reason: 'x', ifRevision: [5, 1] },
    take: async (flags, input) => flags.rollouts.resume(await activeRollout(flags), input),
  },
  'rollouts.advance': {
    input: { step: 1 },
    take: async (flags, input) => flags.rollouts.advance(await activeRollout(flags), input),
  },
  'rollouts.stop': {
    input: { rollback: true },
    take: async (flags, input) => flags.rollouts.stop(await activeRollout(flags), input),
  },
  'changeRequests.create': {
    input: { changes: CHANGES, reason: 'x', ifUnchanged: true, expiresAt: new Date(Date.now() + 60_000).toISOString() },
    take: (flags, { changes, ...options }) => flags.changeRequests.create(changes, options),
  },
  'changeRequests.approve': {
    input: { reason: 'x', actor: 'grace', ifRevision: [1] },
    async take(flags, input) {
      const { effect, ...ref } = await openRequest(flags);
      return flags.changeRequests.approve(ref, { effect }, input);
    },
  },
  'changeRequests.reject': {
    input: { reason: 'x', actor: 'grace', ifRevision: [1] },
    take: async (flags, input) => flags.changeRequests.reject(await openRequest(flags), input),
  },
  'changeRequests.withdraw': {
    input: { reason: 'x', ifRevision: [1] },
    take: async (flags, input) => flags.changeRequests.withdraw(await openRequest(flags), input),
  },
  'changeRequests.apply': {
    input: { at: new Date(Date.now() + 60_000).toISOString() },
    take: async (flags, input) => flags.changeRequests.apply(await openRequest(flags), input),
  },
  'changeRequests.list': {
    input: { flag: 'checkout', state: 'open' },
    take: (flags, input) => flags.changeRequests.list(input),
  },
  'rollouts.list': {
    input: { flag: 'checkout', state: 'running' },
    take: (flags, input) => flags.rollouts.list(input),
  },
  registerApplication: {
    input: { application: 'web', strategies: ['default'] },
    take: (flags, input) => flags.registerApplication(input),
  },
  reportMetrics: { input: REPORT, take: (flags, input) => flags.reportMetrics(input) },
  reportMetricsInBulk: { input: { reports: [REPORT] }, take: (flags, input) => flags.reportMetricsInBulk(input) },
  'history.list': {
    input: { project: 'default', flag: 'checkout' },
    take: (flags, input) => flags.history.list(input),
  },
  listFlags: { input: { label: 'shop', archived: false }, take: (flags, input) => flags.listFlags(input) },
  'events.list': { input: { flag: 'checkout', limit: 1 }, take: (flags, input) => flags.events.list(input) },
};

/** A project with the documents that the operations refer to. */
export async function furnish(flags: Flags): Promise<void> {
  await flags.segments.create({ name: 'beta', constraints: [] });
  for (const name of ['checkout', 'parent']) await flags.createFlag(DEFAULT, { name });
  await flags.setVariants(CHECKOUT, [{ name: 'first' }]);
}
