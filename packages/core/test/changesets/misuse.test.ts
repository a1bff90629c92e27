import { createFlags, type FlagsOptions, memoryStorage } from '../../src/index.js';
import { type SqliteStorageOptions, sqliteStorage } from '../../src/sqlite.js';
import { faultyStorage } from '../../src/testing.js';
import { refusalOf } from '../rules/refusal.js';

const storage = memoryStorage();

describe('a call that was forgotten or misspelt', () => {
  it.each<[string, unknown, string]>([
    ['no options', undefined, 'createFlags({ storage'],
    ['null', null, 'createFlags({ storage'],
    ['the storage itself', storage, 'createFlags({ storage })'],
    ['no storage', {}, 'storage is missing'],
    ['a path as the storage', { storage: './x.db' }, "sqliteStorage('./x.db')"],
    ['sqliteStorage uncalled', { storage: sqliteStorage }, 'sqliteStorage(…)'],
    ['memoryStorage uncalled', { storage: memoryStorage }, 'memoryStorage()'],
    ['an option with letters exchanged', { storage, enviroment: 'production' }, 'did you mean environment?'],
    ['an option in other case', { storage, appname: 'shop' }, 'did you mean appName?'],
    ['the storage misspelt', { storge: storage }, 'did you mean storage?'],
    ['an option that is like none', { storage, verbose: true }, 'the options are storage, '],
    ['an inherited name', { storage, constructor: 1 }, 'has no option constructor'],
    ['a time instead of a clock', { storage, now: 5 }, '/now must be a function'],
    ['a listener that is no function', { storage, onError: console }, '/onError must be a function'],
    ['the name of a strategy', { storage, strategies: ['beta'] }, '/strategies/0 must be object'],
    [
      'a strategy without a rule',
      { storage, strategies: [{ name: 'beta' }] },
      '/strategies/0/isEnabled must be a func',
    ],
    ['an encoding of other software', { storage, idEncoding: 'utf16' }, '/idEncoding must be one of utf8, low-byte'],
    [
      'a `metrics` option that is not a `MetricsStorage`',
      { storage, metrics: true },
      'metrics must be a MetricsStorage',
    ],
  ])('is refused by createFlags at once, with what to write: %s', async (_case, options, words) => {
    const { code, message } = await refusalOf(createFlags(options as FlagsOptions));
    expect(code).toBe('invalid_input');
    expect(message).toContain(words);
  });

  it('still closes the storage that it was given', async () => {
    const given = faultyStorage(memoryStorage());
    await refusalOf(createFlags({ storage: given, polInterval: 0 } as never));
    expect(given.calls.map(({ method }) => method)).toEqual(['close']);
  });

  it.each<[unknown, string]>([
    [undefined, "sqliteStorage('./flags.db')"],
    [{ path: ':memory:', tableprefix: 'x_' }, 'did you mean tablePrefix?'],
    [{ file: './x.db' }, 'has no option file'],
    [5, "sqliteStorage('./flags.db')"],
  ])('is refused by sqliteStorage: %j', async (options, words) => {
    const { code, message } = await refusalOf(sqliteStorage(options as SqliteStorageOptions));
    expect([code, message]).toEqual(['invalid_input', expect.stringContaining(words)]);
  });
});

const REFERENCE = { project: 'default', flag: 'checkout', environment: 'production', strategy: 'none', segment: 1 };
const EVALUATION = ['isEnabled', 'getVariant', 'getPayload', 'explain'];
/** These methods end the instance or return another interface. */
const NOT_CALLED = ['close', 'as', 'asOf'];
/** Arguments that callers without a compiler may pass. */
const ARGUMENTS: readonly (readonly unknown[])[] = [
  [],
  ['checkout'],
  [null, null],
  [7],
  [{}],
  [REFERENCE],
  [REFERENCE, null],
  [REFERENCE, {}, 'production'],
  [() => undefined, null],
];

describe('a method that is called with other arguments than its types ask for', () => {
  it('succeeds or throws a FlagsError, whatever the method and the arguments', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const methods = Object.entries(flags).filter(([name, value]) => {
      return typeof value === 'function' && !NOT_CALLED.includes(name);
    });
    expect(methods.length).toBeGreaterThan(70);
    for (const [name, method] of methods) {
      for (const given of ARGUMENTS) {
        const call = `${name}(${given.map(String)})`;
        const outcome = await Promise.resolve()
          .then(() => method(...given))
          .then(
            () => 'success',
            (error: Error) => error.name,
          );
        expect([call, outcome]).toEqual([call, expect.stringMatching(/^(success|FlagsError)$/)]);
      }
    }
    await flags.close();
  });

  it.each<[string, readonly unknown[], string]>([
    [
      'enable',
      ['checkout'],
      'enable needs an object as its first argument, as in enable({ project, flag, environment })',
    ],
    ['getFlag', [], 'getFlag needs an object as its first argument, as in getFlag({ project, flag })'],
    ['listFlags', ['default'], 'as in listFlags({ project })'],
    ['reviveFlag', [], 'as in reviveFlag({ flag, project })'],
    ['deleteToken', ['an id'], 'as in deleteToken({ token })'],
    ['listSegments', [7], 'as in listSegments({ strategy })'],
    ['createFlag', [{ name: 'checkout' }], 'createFlag needs an input as its second argument'],
    ['enable', [REFERENCE, 'ada'], 'the options of enable must be an object'],
    ['getFlag', [REFERENCE, null], 'the options of getFlag must be an object'],
    ['enable', [{ project: 'default', flag: 'checkout' }], '/environment must name an environment, as a string'],
    ['subscribe', [], 'A listener must be a function'],
    ['subscribe', [() => undefined, 'start'], 'the options of subscribe must be an object'],
    ['onConfigurationChange', ['log'], 'A listener must be a function'],
    ['projectOf', ['checkout'], 'as in projectOf({ flag })'],
    ['as', ['ada', 'authorize'], 'the options of as must be an object'],
    ['as', ['ada', { authorize: true }], '/authorize must be a function'],
    ['onImpression', [], 'A listener must be a function'],
    ...EVALUATION.map((method): [string, readonly unknown[], string] => {
      return [method, ['checkout', {}, 'production'], 'the options of an evaluation must be an object'];
    }),
    ['forContext', [{}, true], 'the options of an evaluation must be an object'],
  ])('throws an error that says what to write: %s', async (name, given, words) => {
    const flags = await createFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const method = flags[name as keyof typeof flags] as (...input: readonly unknown[]) => unknown;
    const { code, message } = await refusalOf(Promise.resolve().then(() => method(...given)));
    expect([code, message]).toEqual(['invalid_input', expect.stringContaining(words)]);
    await flags.close();
  });

  it('refuses the same arguments in a view of an earlier time', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const view = flags.asOf(new Date()) as unknown as Record<
      string,
      (...input: readonly unknown[]) => Promise<unknown>
    >;
    const outcomes = [view.getFlag?.('checkout'), view.isEnabled?.('checkout', {}, 'production')];
    for (const outcome of outcomes)
      expect(await refusalOf(outcome ?? Promise.resolve())).toMatchObject({ code: 'invalid_input' });
    await flags.close();
  });
});
