import { createFlags, memoryStorage } from '@flags/core';

it('the router loads no Express of its own, and none of its parsers', async () => {
  const flags = await createFlags({ storage: memoryStorage() });
  for (const name of ['express', 'body-parser', 'router']) {
    jest.doMock(
      name,
      () => {
        throw new Error(`${name} was loaded.`);
      },
      { virtual: true },
    );
  }
  jest.isolateModules(() => {
    const { createFlagsRouter } = require('../src/index.js');
    expect(() => createFlagsRouter(flags, { auth: 'none' })).not.toThrow();
    expect(() => require('express')).toThrow('express was loaded.');
  });
});

it('the versions of Express are 4 and 5', () => {
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(require('express/package.json').version).toMatch(/^5\./);
});
