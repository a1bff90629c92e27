// Makes every change, and a refused one of each, in a process that refuses code from strings. The programs beside this one
// run with --disallow-code-generation-from-strings, one per package.
import assert from 'node:assert/strict';
import { CHANGE_OPERATIONS, REQUEST_OPERATIONS } from '@flags/core/integration/http';

assert.throws(() => new Function('return 1'), EvalError, 'Run with --disallow-code-generation-from-strings.');

export const SECRET = 'secret-of-at-least-32-printable-characters';
const COUNT = { yes: 3, no: 1, variants: { blue: 2 } };
export const REPORT = {
  application: 'web',
  environment: 'production',
  start: new Date(Date.now() - 60_000).toISOString(),
  stop: new Date().toISOString(),
  counts: { a: COUNT },
};

const PROJECT = { project: 'default' };
const FLAG = { ...PROJECT, flag: 'a' };
const PLACE = { ...FLAG, environment: 'production' };
const PATTERN = { contextName: 'userId', operator: 'REGEX', value: '^a' };

/** One change by each operation, in an order in which each has an effect. A function gets the ids that it needs. */
const CHANGES = {
  createProject: () => ({ ref: undefined, input: { id: 'shop', name: 'Shop' } }),
  updateProject: () => ({ ref: { project: 'shop' }, input: { name: 'Store' } }),
  createSegment: () => ({ ref: undefined, input: { name: 'beta', constraints: [PATTERN] } }),
  updateSegment: ({ segment }) => ({ ref: { segment }, input: { description: 'changed' } }),
  addMember: () => ({ ref: PROJECT, input: { userId: 1, roleId: 5 } }),
  changeMemberRole: () => ({ ref: PROJECT, input: { userId: 1, roleId: 4 } }),
  removeMember: () => ({ ref: PROJECT, input: { userId: 1, roleId: 4 } }),
  createFlag: () => ({ ref: PROJECT, input: { name: 'a', type: 'experiment', labels: ['x'] } }),
  updateFlag: () => ({ ref: FLAG, input: { description: 'changed' } }),
  cloneFlag: () => ({ ref: FLAG, input: { name: 'b' } }),
  setVariants: () => ({ ref: FLAG, input: [{ name: 'blue', payload: { type: 'json', value: '{}' } }] }),
  addDependency: () => ({ ref: { ...PROJECT, flag: 'b' }, input: { flag: 'a' } }),
  removeDependency: () => ({ ref: { ...PROJECT, flag: 'b' }, input: { flag: 'a' } }),
  configureEnvironment: () => ({ ref: PLACE, input: { enabled: false, strategies: [{ name: 'default' }] } }),
  addStrategy: () => ({ ref: PLACE, input: { name: 'flexibleRollout', parameters: { rollout: '1' } } }),
  updateStrategy: ({ strategy }) => ({ ref: { ...PLACE, strategy }, input: { title: 'Slowly' } }),
  enable: () => ({ ref: PLACE }),
  startRollout: ({ strategy }) => ({
    ref: { ...PLACE, strategy },
    input: { steps: [{ percentage: 5, hold: null }, { percentage: 50, hold: null }, { percentage: 100 }] },
  }),
  pauseRollout: ({ strategy }) => ({ ref: { ...PLACE, strategy } }),
  resumeRollout: ({ strategy }) => ({ ref: { ...PLACE, strategy } }),
  advanceRollout: ({ strategy }) => ({ ref: { ...PLACE, strategy }, input: {} }),
  stopRollout: ({ strategy }) => ({ ref: { ...PLACE, strategy }, input: {} }),
  removeStrategy: ({ strategy }) => ({ ref: { ...PLACE, strategy } }),
  disable: () => ({ ref: PLACE }),
  moveFlag: () => ({ ref: { ...PROJECT, flag: 'b' }, input: { project: 'shop' } }),
  archiveFlag: () => ({ ref: { project: 'shop', flag: 'b' } }),
  reviveFlag: () => ({ ref: { project: 'shop', flag: 'b' } }),
  deleteFlag: () => ({ ref: { project: 'shop', flag: 'b' } }),
  deleteSegment: ({ segment }) => ({ ref: { segment } }),
  deleteProject: () => ({ ref: { project: 'shop' } }),
};
assert.deepEqual(Object.keys(CHANGES).sort(), [...CHANGE_OPERATIONS].sort(), 'Add the new operation to CHANGES.');

/** What has to be done before an operation can be applied. */
const BEFORE = {
  addMember: (flags) => flags.addMember(PROJECT, { userId: 2, roleId: 4 }),
  deleteFlag: (flags) => flags.archiveFlag({ project: 'shop', flag: 'b' }),
};

/** What only change requests may contain, beside the changes above. */
const REQUESTED = {
  undoChangeSet: async (flags) => ({ ref: { changeSet: (await flags.history.list()).items[0].id } }),
  setApprovalPolicy: async () => ({ ref: undefined, input: { environments: { development: { required: 1 } } } }),
};
const ofRequests = [...Object.keys(CHANGES), ...Object.keys(REQUESTED)].sort();
assert.deepEqual(ofRequests, [...REQUEST_OPERATIONS].sort(), 'Add the new operation to REQUESTED.');

/** Makes every change. Leaves the flag `a`, the segment `beta` and a client token with the secret. */
export async function changeEverything(flags) {
  await changeBySets(flags);
  await changeByRequests(flags);
  await changeByMethods(flags);
  await report(flags);
  await importDefinitions(flags);
}

async function changeBySets(flags) {
  for (const [op, changeOf] of Object.entries(CHANGES)) {
    const [segment] = (await flags.segments.list()).items;
    const strategy = (await strategiesOf(flags)).at(-1)?.id;
    await BEFORE[op]?.(flags);
    const change = { op, ...changeOf({ segment: segment?.id, strategy }) };
    if (change.ref) await assertInvalid(flags.apply([{ ...change, ref: 7 }]), op);
    if (change.input) await assertInvalid(flags.apply([{ ...change, input: 7 }]), op);
    await flags.apply([change]);
  }
}

async function changeByRequests(flags) {
  for (const [op, changeOf] of Object.entries(REQUESTED)) {
    const change = { op, ...(await changeOf(flags)) };
    await assertInvalid(flags.changeRequests.create([{ ...change, ref: 7, input: 7 }]), op);
    const created = await flags.changeRequests.create([change]);
    const request = { changeRequest: created.id };
    await assertInvalid(flags.changeRequests.approve(request, 7));
    await flags.changeRequests.approve(request, { effect: created.effect }, { actor: 'grace' });
    await assertInvalid(flags.changeRequests.apply(request, 7));
    await flags.changeRequests.apply(request);
  }
  const [one, other] = [await requestOf(flags), await requestOf(flags)];
  await flags.changeRequests.reject(one, { actor: 'grace' });
  await flags.changeRequests.withdraw(other);
  await assertInvalid(flags.changeRequests.list({ state: 7 }));
  assert.equal((await flags.changeRequests.list()).items.length, 4);
}

async function requestOf(flags) {
  const { id } = await flags.changeRequests.create([{ op: 'enable', ref: PLACE }]);
  return { changeRequest: id };
}

/** What neither sets nor requests may contain. */
async function changeByMethods(flags) {
  await assertInvalid(flags.changeLabels(FLAG, 7));
  await flags.changeLabels(FLAG, { add: ['y'] });
  await flags.createFlag(PROJECT, { name: 'child' });
  const child = { ...PROJECT, flag: 'child' };
  await flags.addDependency(child, { flag: 'a' });
  await assertInvalid(flags.removeDependencies(7));
  await flags.removeDependencies(child);
  const { id } = await flags.addStrategy(PLACE, { name: 'default' });
  await assertInvalid(flags.orderStrategies(PLACE, 7));
  await flags.orderStrategies(PLACE, [{ id, sortOrder: 1 }]);
  await assertInvalid(flags.segments.create(7));
  await flags.segments.create({ name: 'beta', constraints: [PATTERN] });

  await assertInvalid(flags.tokens.create({ name: '' }));
  const client = { kind: 'client', projects: ['*'], environment: 'production' };
  await flags.tokens.create({ name: 'client', ...client, secret: SECRET });
  const created = await flags.tokens.create({ name: 'changed', kind: 'admin' });
  const token = { token: created.token.id };
  await assertInvalid(flags.tokens.update(token, 7));
  await flags.tokens.update(token, { expiresAt: '2099-01-01T00:00:00Z' });
  await assertInvalid(flags.tokens.rotate(token, 7));
  await flags.tokens.rotate(token);
  await flags.tokens.delete(token);
  assert.equal((await flags.verifyToken(SECRET))?.name, 'client');

  await assertInvalid(flags.consume('audit', 7));
  const stop = await flags.consume('audit', () => undefined);
  await stop();
  await assertInvalid(flags.consumers.reset({ consumer: 'audit' }, 7));
  await flags.consumers.reset({ consumer: 'audit' }, { from: 'beginning' });
  await flags.consumers.delete({ consumer: 'audit' });
}

async function report(flags) {
  await assertInvalid(flags.registerApplication(7));
  await flags.registerApplication({ application: 'web', strategies: ['default'] });
  await assertInvalid(flags.reportMetrics({}));
  await flags.reportMetrics(REPORT);
  await assertInvalid(flags.reportMetricsInBulk(7));
  await flags.reportMetricsInBulk({ reports: [REPORT] });
  await assertInvalid(flags.usage.list({ flag: 7 }));
  await flags.usage.list({ flag: 'a' });
}

async function importDefinitions(flags) {
  const definitions = await flags.definitions.export();
  await assertInvalid(flags.definitions.import({ version: 2 }));
  await flags.definitions.import({ ...definitions, flags: [...definitions.flags, { name: 'imported' }] });
  await assertInvalid(flags.preview([], { environment: 'production', contexts: 7 }));
  assert.deepEqual((await flags.preview([], { environment: 'production', contexts: [{}] })).flags, []);
  await assertInvalid(flags.listFlags(PROJECT, { limit: 'x' }));
  await assertInvalid(flags.events.list({ type: 'x' }));
  assert.equal(typeof flags.isEnabled('a'), 'boolean');
}

async function strategiesOf(flags) {
  const flag = await flags.getFlag(FLAG).catch(() => undefined);
  return flag?.environments.find(({ name }) => name === 'production')?.strategies ?? [];
}

function assertInvalid(refused, message) {
  return assert.rejects(refused, { code: 'invalid_input' }, message);
}
