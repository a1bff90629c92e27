import asyncHooks, { type AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';

// By its whole path: relative ones that end in .cjs mean sources of TypeScript.
const Environment = require(join(__dirname, '../../../../test/environment.cjs'));

it('the environment of a test file ends the asynchronous stores that the file has begun', async () => {
  const projectConfig = { globals: {}, testEnvironmentOptions: {} };
  const environment = new Environment({ projectConfig, globalConfig: {} }, {});
  const before = asyncHooks.AsyncLocalStorage;
  await environment.setup();
  const storage: AsyncLocalStorage<string> = new asyncHooks.AsyncLocalStorage();
  storage.enterWith('begun');
  expect(storage.getStore()).toBe('begun');
  await environment.teardown();
  expect(storage.getStore()).toBeUndefined();
  expect(asyncHooks.AsyncLocalStorage).toBe(before);
});
