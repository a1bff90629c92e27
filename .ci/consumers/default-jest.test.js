const { createFlags, memoryStorage } = require('@flags/core');
const { sqliteStorage } = require('@flags/core/sqlite');
const { createFlagsRouter } = require('@flags/express');

test.each([
  ['memory', () => memoryStorage()],
  ['SQLite', () => sqliteStorage('jest.db')],
])('jest without a configuration runs the engine and the router on %s', async (_name, storage) => {
  const flags = await createFlags({ storage: storage() });
  await flags.createFlag({ project: 'default' }, { name: 'packed' });
  expect(await flags.listFlags({ project: 'default' })).toHaveLength(1);
  expect(createFlagsRouter(flags, { auth: 'none' })).toBeInstanceOf(Function);
  await flags.close();
});
