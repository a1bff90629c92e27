const { openFlags, memoryStorage } = require('@flags/core');
const { sqliteStorage } = require('@flags/core/sqlite');
const { createFlagsRouter } = require('@flags/express');
const { createFlagsProvider } = require('@flags/openfeature');
const { OpenFeature } = require('@openfeature/server-sdk');

test.each([
  ['memory', () => memoryStorage()],
  ['SQLite', () => sqliteStorage('jest.db')],
])('jest without a configuration runs the engine, the router and the provider on %s', async (_name, storage) => {
  const flags = await openFlags({ storage: storage() });
  await flags.createFlag({ project: 'default' }, { name: 'packed' });
  expect((await flags.listFlags({ project: 'default' })).items).toHaveLength(1);
  expect(createFlagsRouter(flags, { auth: 'none' })).toBeInstanceOf(Function);
  await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
  expect(await OpenFeature.getClient().getBooleanValue('packed', true)).toBe(false);
  await OpenFeature.close();
  await flags.close();
});

test('jest without a configuration evaluates a pattern', async () => {
  const flags = await openFlags({ storage: memoryStorage() });
  const flag = { project: 'default', flag: 'pattern' };
  await flags.createFlag({ project: 'default' }, { name: 'pattern' });
  const environment = { ...flag, environment: 'production' };
  const constraints = [{ contextName: 'userId', operator: 'REGEX', value: 'a+b' }];
  await flags.addStrategy(environment, { name: 'default', constraints });
  await flags.enable(environment);
  expect(flags.isEnabled('pattern', { userId: 'aab' })).toBe(true);
  expect(flags.isEnabled('pattern', { userId: 'ac' })).toBe(false);
  await flags.close();
});
