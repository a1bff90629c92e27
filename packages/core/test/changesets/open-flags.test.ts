import { join } from 'node:path';
import { until } from '../../../../test/until.js';
import { locateRefusals } from '../../src/base/validator.js';
import { type Flags, FlagsError, type FlagsOptions, isFlagsError, memoryStorage, openFlags } from '../../src/index.js';
import { createSettings } from '../../src/options.js';
import { type SqliteStorageOptions, sqliteStorage } from '../../src/sqlite.js';
import { type FaultyStorage, faultyStorage } from '../../src/testing.js';
import { faultsOf } from '../base/issues.js';
import { methodsOf } from '../method-names.js';
import { CHECKOUT, DEFAULT } from '../references.js';
import { refusalOf } from '../refusal.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { hearing } from './listening.js';
import { losingRaces } from './losing-races.js';

describe('openFlags', () => {
  const DEFAULT = { project: 'default' };

  function closingsOf({ calls }: FaultyStorage): number {
    return calls.filter(({ method }) => method === 'close').length;
  }

  describe('openFlags', () => {
    it('creates the project default in a new storage only, as its own actor', async () => {
      const storage = memoryStorage();
      const at = new Date('2026-01-02T03:04:05.678Z');
      const flags = await openFlags({ storage, actor: 'deployment', now: () => at });
      await openFlags({ storage });
      expect((await flags.events.list()).items).toMatchObject([
        { type: 'project-created', project: 'default', actor: 'deployment', at: at.toISOString(), flag: null },
      ]);
      expect((await flags.listProjects()).items).toMatchObject([
        { id: 'default', createdAt: at.toISOString(), revision: 1 },
      ]);
    });

    it('continues when both a listener and onError throw, and warns', async () => {
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const onError = () => {
        throw new Error('onError failed');
      };
      const flags = await openFlags({ storage: memoryStorage(), onError });
      const { heard, listener } = hearing();
      flags.subscribe((event) => {
        listener(event);
        throw new Error('The listener failed');
      });
      await flags.createFlag(DEFAULT, { name: 'a' });
      await flags.createFlag(DEFAULT, { name: 'b' });
      await until(() => heard.length >= 2);
      expect(warned).toHaveBeenCalledWith('Error: onError failed', expect.objectContaining({ type: 'FlagsWarning' }));
      warned.mockRestore();
      await flags.close();
    });

    it('takes undefined, as of a missing environment variable, for absent', async () => {
      const { FLAGS_TEST_MISSING: missing } = process.env;
      const storage = sqliteStorage({ path: ':memory:', tablePrefix: missing });
      const usage = { application: missing, instance: missing };
      const flags = await openFlags({ storage, environment: missing, actor: missing, usage });
      expect(flags.settings.environment).toBe('production');
      expect(flags.configuration({ environment: missing })).toBe(flags.configuration());
      expect((await flags.events.list()).items[0]?.actor).toBe('system');
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      expect(flags.isEnabled('checkout', {}, { environment: missing })).toBe(false);
      await flags.close();
    });

    it('accepts a promise of the storage', async () => {
      const flags = await openFlags({ storage: Promise.resolve(memoryStorage()) });
      expect((await flags.listProjects()).items).toHaveLength(1);
    });

    it('rejects if the storage cannot be opened', async () => {
      await expect(openFlags({ storage: Promise.reject(new Error('no disk')) })).rejects.toThrow('no disk');
    });

    it.each<[string, Partial<FlagsOptions>]>([
      ['no environments', { environments: [] }],
      ['no owner', { roles: [{ id: 1, name: 'admin' }] }],
    ])('closes the storage if its options are invalid: %s', async (_, options) => {
      const storage = faultyStorage(memoryStorage());
      await expect(openFlags({ storage, ...options })).rejects.toMatchObject({ code: 'invalid_input' });
      expect(closingsOf(storage)).toBe(1);
    });

    it('closes the storage if it cannot be written to', async () => {
      const storage = faultyStorage(losingRaces(memoryStorage(), 20));
      await expect(openFlags({ storage })).rejects.toMatchObject({ code: 'too_much_contention' });
      expect(closingsOf(storage)).toBe(1);
    });

    it('creates one default project when many instances open one new SQLite file at once', async () => {
      const directory = temporaryDirectory();
      const path = join(directory.path, 'flags.db');
      const opened = await Promise.all(Array.from({ length: 6 }, () => openFlags({ storage: sqliteStorage(path) })));
      for (const flags of opened) {
        expect((await flags.listProjects()).items).toMatchObject([{ id: 'default', revision: 1 }]);
        expect((await flags.events.list()).total).toBe(1);
      }
      await Promise.all(opened.map((flags) => flags.close()));
      directory.remove();
    });
  });

  describe('flags.as', () => {
    it('attributes changes to its actor, unless a call names another', async () => {
      const flags = await openFlags({ storage: memoryStorage(), actor: 'host' });
      const asAda = flags.as('ada');
      await flags.createFlag(DEFAULT, { name: 'by-host' });
      await asAda.createFlag(DEFAULT, { name: 'by-ada' });
      await asAda.createFlag(DEFAULT, { name: 'by-grace' }, { actor: 'grace' });
      await asAda.as('linus').createFlag(DEFAULT, { name: 'by-linus' });
      const { items: events } = await flags.events.list({ type: 'flag-created' });
      expect(new Map(events.map(({ flag, actor }) => [flag, actor]))).toEqual(
        new Map([
          ['by-host', 'host'],
          ['by-ada', 'ada'],
          ['by-grace', 'grace'],
          ['by-linus', 'linus'],
        ]),
      );
    });
  });

  describe('a decision that is repeated after a conflict', () => {
    it('has the same ids and times, and is one event', async () => {
      const memory = memoryStorage();
      const source = await openFlags<string>({ storage: memory });
      await source.createFlag(DEFAULT, { name: 'checkout' });
      const place = { ...DEFAULT, flag: 'checkout', environment: 'production' };
      for (const name of ['one', 'two', 'three']) await source.addStrategy(place, { name });
      const storage = losingRaces(memory, 4);
      let ids = 0;
      let ticks = 0;
      const newId = () => `id-${ids++}`;
      const now = () => new Date(Date.UTC(2026, 5, 1) + ticks++);
      const flags = await openFlags({ storage, newId, now });
      await flags.cloneFlag({ ...DEFAULT, flag: 'checkout' }, { name: 'copy' });
      const bodies = storage.commits.map(({ writes }) => writes);
      expect(bodies).toHaveLength(5);
      expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
      const { environments } = await flags.getFlag({ ...DEFAULT, flag: 'copy' });
      expect(environments[1]?.strategies.map(({ id }) => id)).toEqual(['id-0', 'id-1', 'id-2']);
      expect((await flags.events.list({ flag: 'copy' })).total).toBe(1);
    });
  });
});

describe('settings', () => {
  const OWNER = { id: 1, name: 'owner' };

  /** Returns the settings of these options, or the paths of their issues. */
  function placesOf(options: object): readonly (string | undefined)[] {
    return faultsOf((input) => createSettings(input as object) && input, options).map(({ path }) => path);
  }

  it('have two environments, two roles and five flag types by default', () => {
    expect(createSettings({})).toEqual({
      environment: 'production',
      environments: [
        { name: 'development', displayName: 'Development' },
        { name: 'production', displayName: 'Production' },
      ],
      roles: [
        { id: 4, name: 'owner' },
        { id: 5, name: 'member' },
      ],
      flagTypes: [
        { name: 'release', lifetimeDays: 40 },
        { name: 'experiment', lifetimeDays: 40 },
        { name: 'operational', lifetimeDays: 7 },
        { name: 'kill-switch', lifetimeDays: null },
        { name: 'permission', lifetimeDays: null },
      ],
      strategies: [],
    });
  });

  it('keep the order of environments', () => {
    const environments = [{ name: 'b', displayName: 'Bee' }, { name: '__proto__' }, { name: 'a' }];
    expect(createSettings({ environments }).environments).toEqual([
      { name: 'b', displayName: 'Bee' },
      { name: '__proto__', displayName: '__proto__' },
      { name: 'a', displayName: 'a' },
    ]);
  });

  it('keep only their own members', () => {
    const roles = [{ ...OWNER, extra: 1 }];
    expect(createSettings({ roles }).roles).toEqual([OWNER]);
  });

  it.each<[object, readonly string[]]>([
    [{ environments: [] }, ['/environments']],
    [{ environments: 'production' }, ['/environments']],
    [{ environments: null }, ['/environments']],
    [{ environments: [{ name: 'a b' }] }, ['/environments/0/name']],
    [{ environments: [{}] }, ['/environments/0/name']],
    [{ environments: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] }, ['/environments/2/name']],
    [{ environments: [{ name: 'a', displayName: '' }] }, ['/environments/0/displayName']],
    [{ roles: [{ id: 1, name: 'admin' }] }, ['/roles']],
    [{ roles: [] }, ['/roles']],
    [{ roles: [OWNER, { id: 1, name: 'member' }] }, ['/roles/1/id']],
    [{ roles: [OWNER, { id: 2, name: 'owner' }] }, ['/roles/1/name']],
    [{ roles: [{ id: 0, name: 'owner' }] }, ['/roles/0/id']],
    [{ flagTypes: [] }, ['/flagTypes']],
    [{ flagTypes: [{ name: 'a', lifetimeDays: -1 }] }, ['/flagTypes/0/lifetimeDays']],
    [{ flagTypes: [{ name: 'a' }] }, ['/flagTypes/0/lifetimeDays']],
    [
      {
        flagTypes: [
          { name: 'a', lifetimeDays: null },
          { name: 'a', lifetimeDays: 1 },
        ],
      },
      ['/flagTypes/1/name'],
    ],
  ])('cannot be %j', (options, paths) => {
    expect(placesOf(options)).toEqual(paths);
  });

  it.each([
    ['pollInterval', -1],
    ['pollInterval', Number.NaN],
    ['usage', 60_000],
  ])('refuse the option %s with %p', (option, value) => {
    const refused = expect.objectContaining({
      code: 'invalid_input',
      details: [expect.objectContaining({ path: `/${option}` })],
    });
    expect(() => createSettings({ [option]: value })).toThrow(refused);
  });

  it.each([
    ['interval', 2 ** 31],
    ['retention', '30 days'],
    ['application', ''],
    ['instance', 7],
  ])('refuse the option usage.%s with %p', (option, value) => {
    expect(placesOf({ usage: { [option]: value } })).toEqual([`/usage/${option}`]);
  });
});

const storage = memoryStorage();

describe('a forgotten or misspelt call', () => {
  it.each<[string, unknown, string]>([
    ['no options', undefined, 'openFlags({ storage'],
    ['null', null, 'openFlags({ storage'],
    ['the storage itself', storage, 'openFlags({ storage })'],
    ['no storage', {}, 'storage is missing'],
    ['a path as the storage', { storage: './x.db' }, "sqliteStorage('./x.db')"],
    ['sqliteStorage uncalled', { storage: sqliteStorage }, 'sqliteStorage(…)'],
    ['memoryStorage uncalled', { storage: memoryStorage }, 'memoryStorage()'],
    ['an option with letters exchanged', { storage, enviroment: 'production' }, 'did you mean environment?'],
    ['an option in other case', { storage, idencoding: 'utf8' }, 'did you mean idEncoding?'],
    ['the storage misspelt', { storge: storage }, 'did you mean storage?'],
    ['an option that is similar to none', { storage, verbose: true }, 'the options are storage, '],
    ['an inherited name', { storage, constructor: 1 }, 'has no option constructor'],
    ['a time instead of a clock', { storage, now: 5 }, '/now must be a function'],
    ['a listener that is not a function', { storage, onError: console }, '/onError must be a function'],
    ['the name of a strategy', { storage, strategies: ['beta'] }, '/strategies/0 must be object'],
    [
      'a strategy without a rule',
      { storage, strategies: [{ name: 'beta' }] },
      '/strategies/0/isEnabled must be a func',
    ],
    ['an encoding of other software', { storage, idEncoding: 'utf16' }, '/idEncoding must be one of utf8, low-byte'],
    ['usage that is no object', { storage, usage: true }, 'usage must be an object, such as { interval: 60_000 }'],
    ['null as usage', { storage, usage: null }, 'usage must be an object'],
    ['a storage of usage', { storage, usage: { storage: {} } }, 'usage has no option storage'],
    [
      'a misspelt option of usage',
      { storage, usage: { intervall: 1 } },
      'usage has no option intervall; did you mean inter',
    ],
  ])('is refused by openFlags at once, with the correct form: %s', async (_case, options, words) => {
    const { code, message } = await refusalOf(openFlags(options as FlagsOptions));
    expect(code).toBe('invalid_input');
    expect(message).toContain(words);
  });

  it('still closes the storage that it was given', async () => {
    const given = faultyStorage(memoryStorage());
    await refusalOf(openFlags({ storage: given, polInterval: 0 } as never));
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

describe('the evaluator', () => {
  it('evaluates like the flags, and has no methods of the administration', async () => {
    const flags = await openFlags({ storage: memoryStorage(), recentContexts: 5 });
    const production = { project: 'default', flag: 'checkout', environment: 'production' };
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(production, { name: 'userWithId', parameters: { userIds: '7' } });
    await flags.enable(production);
    const { evaluator } = flags.as('ada');
    expect(evaluator.isEnabled('checkout', { userId: '7' })).toBe(true);
    expect(evaluator.explain('checkout', { userId: '8' }).reason).toBe('no_strategy_holds');
    expect(evaluator.evaluateAll({ userId: '7' })).toMatchObject([{ name: 'checkout', enabled: true }]);
    expect(flags.recentContexts()).toEqual([{ userId: '7' }]);
    const methods = ['isEnabled', 'getVariant', 'getPayload', 'forContext', 'explain', 'evaluateAll'];
    expect([Object.keys(evaluator), Object.isFrozen(evaluator)]).toEqual([methods, true]);
    await flags.close();
  });
});

describe('a method call with arguments of wrong types', () => {
  it('succeeds or throws a FlagsError', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const methods = [...methodsOf(flags)].filter(([name]) => !NOT_CALLED.includes(name));
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
    ['listFlags', ['default'], 'must be object'],
    ['reviveFlag', [], 'as in reviveFlag({ flag, project })'],
    ['tokens.delete', ['an id'], 'as in tokens.delete({ token })'],
    ['segments.list', [7], 'as in segments.list({ strategy })'],
    ['createFlag', [{ name: 'checkout' }], 'createFlag needs an input as its second argument'],
    ['enable', [REFERENCE, 'ada'], 'the options of enable must be an object'],
    ['enable', [{ project: 'default', flag: 'checkout' }], '/environment must name an environment, as a string'],
    ['subscribe', [], 'A listener must be a function'],
    ['subscribe', [() => undefined, 'start'], 'the options of subscribe must be an object'],
    ['onConfigurationChange', ['log'], 'A listener must be a function'],
    ['projectOf', ['checkout'], 'as in projectOf({ flag })'],
    ['as', ['ada', 'authorize'], 'the options of as must be an object'],
    ['as', ['ada', { authorize: true }], '/authorize must be a function'],
    ...[10n, Number.NaN, Infinity, null, true, {}, ['u-1'], Symbol('u-1'), () => 'u-1'].map(
      (id): [string, readonly unknown[], string] => [
        'as',
        [{ name: 'ada', id }],
        '/id must be text or a finite number',
      ],
    ),
    ['onImpression', [], 'A listener must be a function'],
    ...EVALUATION.map((method): [string, readonly unknown[], string] => {
      return [method, ['checkout', {}, 'production'], 'the options of an evaluation must be an object'];
    }),
    ['forContext', [{}, true], 'the options of an evaluation must be an object'],
  ])('throws an error that says what to write: %s', async (name, given, words) => {
    const flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    const method = methodsOf(flags).get(name);
    const { code, message } = await refusalOf(Promise.resolve().then(() => method?.(...given)));
    expect([code, message]).toEqual(['invalid_input', expect.stringContaining(words)]);
    await flags.close();
  });

  it('refuses the same arguments in a view of an earlier time', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const view = flags.history.asOf(new Date()) as unknown as Record<
      string,
      (...input: readonly unknown[]) => Promise<unknown>
    >;
    const outcomes = [view.getFlag?.('checkout'), view.isEnabled?.('checkout', {}, 'production')];
    for (const outcome of outcomes)
      expect(await refusalOf(outcome ?? Promise.resolve())).toMatchObject({ code: 'invalid_input' });
    await flags.close();
  });
});

describe('the methods of flags', () => {
  it.each([
    ...['getPayload', 'forContext', 'explain', 'evaluateAll', 'recentContexts'],
    ...['onImpression', 'configuration', 'projectOf', 'onConfigurationChange', 'status', 'refresh', 'createFlag'],
  ] as const)('report how to call them if they are taken from their object: %s', async (name) => {
    const flags = await openFlags({ storage: memoryStorage() });
    const { [name]: method } = flags.as('ada') as unknown as Readonly<Record<string, () => unknown>>;
    const { code, message } = await refusalOf(Promise.resolve().then(() => method?.()));
    expect([code, message]).toEqual(['invalid_input', expect.stringContaining(`flags.${name}(…)`)]);
    await flags.close();
  });

  it.each(['isEnabled', 'getVariant'] as const)('throw if they are taken from their object: %s', async (name) => {
    const flags = await openFlags({ storage: memoryStorage() });
    const { [name]: method } = flags;
    expect(() => method('checkout')).toThrow(TypeError);
    await flags.close();
  });

  it('are shared by all actors, and the evaluator works without them', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const ada = flags.as('ada');
    expect(ada.isEnabled).toBe(flags.isEnabled);
    expect(Object.hasOwn(ada, 'isEnabled')).toBe(false);
    const { isEnabled, getVariant } = ada.evaluator;
    expect([isEnabled('checkout'), getVariant('checkout').enabled]).toEqual([false, false]);
    await flags.close();
  });

  it('may be replaced in an object that inherits the others', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const own: Flags<string> = Object.assign(Object.create(flags) as Flags, { isEnabled: () => true });
    await own.as('ada').createFlag(DEFAULT, { name: 'checkout' });
    expect(own.isEnabled('checkout')).toBe(true);
    expect((await own.events.list()).items[0]).toMatchObject({ type: 'flag-created', actor: 'ada' });
    await flags.close();
  });

  it('are named in stack traces', async () => {
    const flags = await openFlags({ storage: memoryStorage() });
    const error = await flags.getFlag(CHECKOUT).catch((thrown: Error) => thrown);
    expect((error as Error).stack).toMatch(/at (async )?(\w+\.)?getFlag /);
    await flags.close();
  });

  it('are named in stack traces of an evaluation', async () => {
    let stack: string | undefined;
    const isEnabled = () => {
      stack = new Error('here').stack;
      return true;
    };
    const flags = await openFlags({ storage: memoryStorage(), strategies: [{ name: 'weekend', isEnabled }] });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy({ ...CHECKOUT, environment: 'production' }, { name: 'weekend' });
    await flags.enable({ ...CHECKOUT, environment: 'production' });
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(stack).toMatch(/at Flags\.isEnabled .*flags\.ts/);
    await flags.close();
  });
});

function errorWith(members: object): Error {
  return Object.assign(new Error('refused'), members);
}

describe('isFlagsError', () => {
  it('accepts errors of this copy of the package', () => {
    const error = new FlagsError('flag_not_found', 'No flag.');
    expect(isFlagsError(error)).toBe(true);
    expect(Object.keys(error).sort()).toEqual(['code', 'details', 'name']);
  });

  it('accepts codes of another version, whose errors have the brand', () => {
    const branded = { name: 'FlagsError', code: 'code_of_a_later_version', [Symbol.for('@flags/error')]: true };
    expect(isFlagsError(errorWith(branded))).toBe(true);
  });

  it.each([
    errorWith({ name: 'FlagsError', code: 'EACCES' }),
    errorWith({ name: 'FlagsError', code: 'flag_not_found' }),
    errorWith({ code: 'flag_not_found' }),
    errorWith({ [Symbol.for('@flags/error')]: true }),
    null,
    undefined,
    'FlagsError',
  ])('does not accept %p', (error) => {
    expect(isFlagsError(error)).toBe(false);
  });
});

describe('locateRefusals', () => {
  const refused = (error: unknown) =>
    locateRefusals('/flags/0', () => Promise.reject(error)).catch((caught: unknown) => caught);

  it('prefixes the paths of a refusal, and sets the path of issues without one', async () => {
    const details = [{ message: 'is wrong', path: '/name' }, { message: 'is late' }];
    const located = (await refused(new FlagsError('invalid_input', 'No.', details))) as FlagsError;
    expect(located.code).toBe('invalid_input');
    expect(located.message).toBe('The input is not valid: /flags/0/name is wrong (and 1 more).');
    expect(located.details.map(({ path }) => path)).toEqual(['/flags/0/name', '/flags/0']);
  });

  it('keeps the message of other refusals, and names the input of a change', async () => {
    const details = [{ message: 'is late', path: '/name' }, { message: 'No.' }];
    const refuse = () => Promise.reject(new FlagsError('flag_archived', 'No.', details));
    const located = await refusalOf(locateRefusals('/changes/0', refuse, '/input'));
    expect([located.code, located.message]).toEqual(['flag_archived', 'No.']);
    expect(located.details.map(({ path }) => path)).toEqual(['/changes/0/input/name', '/changes/0']);
  });

  it('passes on storage failures and other errors', async () => {
    for (const error of [new FlagsError('storage_busy', 'Busy.'), new Error('a defect')]) {
      expect(await refused(error)).toBe(error);
    }
  });

  it('passes on refusals without issues', async () => {
    const refusal = new FlagsError('last_owner', 'No.');
    await expect(locateRefusals(undefined, () => Promise.reject(refusal))).rejects.toBe(refusal);
  });
});
