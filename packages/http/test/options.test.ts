import { createFlags, type Flags, memoryStorage } from '@flags/core';
import { createFlagsRouter, type FlagsRouterOptions, flagsMiddleware } from '../../express/src/index.js';

describe('the options', () => {
  it.each<[string, unknown]>([
    ['no options', undefined],
    ['no auth', {}],
    ['an unknown auth', { auth: 'open' }],
    ['auth null', { auth: null }],
    ['an authorize that is no function', { auth: 'none', authorize: true }],
    ['an onError that is no function', { auth: 'none', onError: 'log' }],
    ['a describeUsers that is no function', { auth: 'none', describeUsers: {} }],
    ['a body limit of 0', { auth: 'none', bodyLimit: 0 }],
    ['a body limit with a unit', { auth: 'none', bodyLimit: '1mb' }],
    ['other origins that are not named', { auth: 'none', cors: {} }],
    ['one origin that is not in a list', { auth: 'none', cors: { origins: 'https://shop.example.org' } }],
    ['an origin with a slash, which no browser sends', { auth: 'none', cors: { origins: ['https://a.example.org/'] } }],
    ['an origin without a scheme', { auth: 'none', cors: { origins: ['shop.example.org'] } }],
    ['sessions without tokens', { auth: { session: () => null } }],
    ['sessions that are no function', { auth: { session: true, tokens: true } }],
    ['a trusted origin with a path', { auth: 'none', trustedOrigins: ['https://a.example.org/'] }],
    ['a trusted origin that is not in a list', { auth: 'none', trustedOrigins: 'https://a.example.org' }],
    ['an allowed host with a scheme', { auth: 'none', allowedHosts: ['https://a.example.org'] }],
    ['no time between heartbeats', { auth: 'none', heartbeatInterval: 0 }],
    ['more time between heartbeats than a timer has', { auth: 'none', heartbeatInterval: 2 ** 31 }],
  ])('refuses %s', async (_case, options) => {
    const flags = await createFlags({ storage: memoryStorage() });
    expect(() => createFlagsRouter(flags, options as FlagsRouterOptions)).toThrow(TypeError);
  });

  it('are refused with the closest name when misspelt', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const options = { auth: 'none', onerror: () => undefined } as unknown as FlagsRouterOptions;
    expect(() => createFlagsRouter(flags, options)).toThrow(
      new TypeError('createFlagsRouter has no option onerror; did you mean onError?'),
    );
    const middleware = () => flagsMiddleware(flags, () => ({}), { enviroment: 'production' } as object);
    expect(middleware).toThrow(new TypeError('flagsMiddleware has no option enviroment; did you mean environment?'));
  });
});

describe('flags', () => {
  it.each<[string, unknown, string]>([
    ['a promise of flags', createFlags({ storage: memoryStorage() }), 'await createFlags(…)'],
    ['nothing', undefined, 'as its first argument'],
    ['createFlags uncalled', createFlags, 'await createFlags(…)'],
    ['the options', { auth: 'none' }, 'as its first argument'],
  ])('are refused at once when they are %s', (_case, flags, words) => {
    const given = flags as Flags;
    expect(() => createFlagsRouter(given, { auth: 'none' })).toThrow(TypeError);
    expect(() => createFlagsRouter(given, { auth: 'none' })).toThrow(words);
    expect(() => flagsMiddleware(given, () => ({}))).toThrow(words);
  });

  it('are refused by the middleware in an environment that does not exist, before the first request', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    expect(() => flagsMiddleware(flags, () => ({}), { environment: 'moon' })).toThrow('There is no environment moon');
    expect(() => flagsMiddleware(flags, undefined as never)).toThrow('a function that tells the context');
  });
});
