import { createFlags, memoryStorage } from '@flags/core';
import { EXPRESS_VERSIONS } from './express-versions.js';

it.each(EXPRESS_VERSIONS)(
  'the router reads bodies without the parsers of Express, in Express $major too',
  async (version) => {
    const flags = await createFlags({ storage: memoryStorage() });
    const parsers = EXPRESS_VERSIONS.map(({ express }) => jest.spyOn(express, 'text'));
    version.createFlagsRouter(flags, { auth: 'none' });
    expect(parsers.map(({ mock }) => mock.calls.length)).toEqual(EXPRESS_VERSIONS.map(() => 0));
    for (const parser of parsers) parser.mockRestore();
  },
);

it('the versions of Express are 4 and 5', () => {
  expect(require('express4/package.json').version).toMatch(/^4\./);
  expect(require('express/package.json').version).toMatch(/^5\./);
});
