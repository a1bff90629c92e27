import { createFlags, memoryStorage } from '@flags/core';
import { createFlagsRouter, type FlagsRouterOptions } from '../src/index.js';

describe('the options', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['no auth', {}],
    ['an unknown auth', { auth: 'open' }],
    ['auth null', { auth: null }],
    ['an authorize that is no function', { auth: 'none', authorize: true }],
    ['a body limit of 0', { auth: 'none', bodyLimit: 0 }],
    ['a body limit with a unit', { auth: 'none', bodyLimit: '1mb' }],
  ])('refuses %s', async (_case, options) => {
    const flags = await createFlags({ storage: memoryStorage() });
    expect(() => createFlagsRouter(flags, options as FlagsRouterOptions)).toThrow(TypeError);
  });
});
