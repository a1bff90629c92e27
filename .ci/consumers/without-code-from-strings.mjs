// Everything works in a process that refuses code from strings: run with --disallow-code-generation-from-strings.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { defineFlags, memoryStorage, openFlags } from '@flags/core';
import { CHANGE_OPERATIONS } from '@flags/core/integration/http';
import { sqliteStorage } from '@flags/core/sqlite';
import { createFlagsRouter } from '@flags/express';
import { followFlags } from '@flags/follower';
import { createFlagsApi, toFetchHandler } from '@flags/http';
import { createFlagsProvider } from '@flags/openfeature';
import { OpenFeature } from '@openfeature/server-sdk';
import express from 'express';

assert.throws(() => new Function('return 1'), EvalError, 'Run with --disallow-code-generation-from-strings.');

const PROJECT = { project: 'default' };
const FLAG = { ...PROJECT, flag: 'a' };
const PLACE = { ...FLAG, environment: 'production' };
const SECRET = 'secret-of-at-least-32-printable-characters';
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

async function changeEverything(flags) {
  for (const [op, changeOf] of Object.entries(CHANGES)) {
    const [segment] = (await flags.segments.list()).items;
    const flag = op === 'createFlag' ? undefined : await flags.getFlag(FLAG).catch(() => undefined);
    const environment = flag?.environments.find(({ name }) => name === 'production');
    const strategy = environment?.strategies.at(-1)?.id;
    await BEFORE[op]?.(flags);
    const change = { op, ...changeOf({ segment: segment?.id, strategy }) };
    await assert.rejects(flags.apply([{ ...change, ref: 7, input: 7 }]), { code: 'invalid_input' }, op);
    await flags.apply([change]);
  }
  await flags.segments.create({ name: 'beta', constraints: [PATTERN] });
  await flags.tokens.create({
    name: 'follower',
    kind: 'client',
    projects: ['*'],
    environment: 'production',
    secret: SECRET,
  });
  await assert.rejects(flags.tokens.create({ name: '' }), { code: 'invalid_input' });
  await flags.definitions.import(await flags.definitions.export(), { dryRun: true });
  await assert.rejects(flags.definitions.import({ version: 2 }), { code: 'invalid_input' });
  assert.deepEqual((await flags.preview([], { environment: 'production', contexts: [{}] })).flags, []);
  assert.equal(typeof flags.isEnabled('a'), 'boolean');
}

const schema = defineFlags({ a: { variants: ['blue'] } });
for (const storage of [memoryStorage(), sqliteStorage('without-code.db')]) {
  const flags = await openFlags({ storage, schema, due: { run: true }, onDrift() {} });
  await changeEverything(flags);

  const handle = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
  const send = (method, path, body) =>
    handle(new Request(`http://localhost${path}`, { method, body: JSON.stringify(body), headers: JSON_BODY }));
  const JSON_BODY = { 'content-type': 'application/json' };
  assert.equal((await send('POST', '/api/admin/projects/default/features', { name: 'fetched' })).status, 201);
  assert.equal((await send('POST', '/api/admin/projects/default/features', { name: 7 })).status, 400);
  assert.equal((await send('GET', '/api/admin/projects?limit=x')).status, 400);
  const patch = [{ op: 'replace', path: '/description', value: 'patched' }];
  assert.equal((await send('PATCH', '/api/admin/projects/default/features/fetched', patch)).status, 200);

  const server = express()
    .use(createFlagsRouter(flags, { auth: 'token' }))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const headers = { authorization: SECRET };
  assert.equal((await fetch(`${url}/api/client/features`, { headers })).status, 200);
  const report = { method: 'POST', headers: { ...headers, ...JSON_BODY }, body: '{}' };
  assert.equal((await fetch(`${url}/api/client/metrics`, report)).status, 400);
  const follower = await followFlags({ url, token: SECRET });
  assert.equal(typeof follower.isEnabled('a', { userId: 'a' }), 'boolean');
  await assert.rejects(followFlags({ url: 7, token: SECRET }), { code: 'invalid_input' });
  await assert.rejects(follower.reportMetrics({}), { code: 'invalid_input' });
  await follower.close();
  server.close();
  server.closeAllConnections();

  await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
  assert.equal(await OpenFeature.getClient().getBooleanValue('a', false), false);
  await OpenFeature.close();
  await flags.close();
}
console.log('Without code from strings: ok');
