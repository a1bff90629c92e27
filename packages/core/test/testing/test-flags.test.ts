import asyncHooks, { type AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { type TestFlags, testFlags, vary, withFlags } from '@flags/core/testing';
import { isWithin } from '../../../../test/processor-time.js';
import { defineFlags, type Flags, memoryStorage, openFlags } from '../../src/index.js';

const project = 'default';
const environment = 'production';

/** Lets the other asynchronous contexts run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('testFlags', () => {
  it('is ready at once', () => {
    const flags = testFlags({
      checkout: true,
      old: false,
      banner: 'red',
      theme: { variant: 'dark', payload: { size: 2 } },
    });
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(flags.isEnabled('checkout', { userId: '7' }, { environment: 'development' })).toBe(true);
    expect(flags.isEnabled('old')).toBe(false);
    expect(flags.getVariant('banner')).toMatchObject({ name: 'red', enabled: true });
    expect(flags.getPayload('theme')).toEqual({ size: 2 });
    expect(flags.forContext({ userId: '7' }).isEnabled('banner')).toBe(true);
    expect(flags.configuration().flags.map(({ name }) => name)).toEqual(['banner', 'checkout', 'old', 'theme']);
  });

  it('is a complete engine', async () => {
    const flags: Flags = testFlags({ checkout: true, banner: 'red' });
    const ref = { project, flag: 'checkout', environment };
    await flags.disable(ref);
    expect(flags.isEnabled('checkout')).toBe(false);
    await flags.createFlag({ project }, { name: 'later' });
    expect(flags.isEnabled('later')).toBe(false);
    const { environments, variants } = await flags.getFlag({ project, flag: 'banner' });
    expect(environments.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['development', true],
      ['production', true],
    ]);
    expect(variants.map(({ name, weight }) => [name, weight])).toEqual([['red', 1000]]);
    const { items: events } = await flags.events.list({ flag: 'checkout' });
    expect(events.map(({ type }) => type)).toEqual([
      'environment-disabled',
      'environment-enabled',
      'strategy-added',
      'environment-enabled',
      'strategy-added',
      'flag-created',
    ]);
    expect((await flags.listProjects()).items.map(({ id }) => id)).toEqual([project]);
    await flags.close();
  });

  it('shows the changes of the code under test', async () => {
    const flags = testFlags({ checkout: true });
    const ref = { project, flag: 'checkout' };
    await flags.as('ada').apply([{ op: 'disable', ref: { ...ref, environment } }], { reason: 'too slow' });
    const { items } = await flags.history.list(ref);
    expect(items.map(({ actor, reason }) => [actor, reason])).toEqual([
      ['ada', 'too slow'],
      ['system', null],
    ]);
    expect(items[0]?.events.map(({ type }) => type)).toEqual(['environment-disabled']);
    await flags.history.undo({ changeSet: String(items[0]?.id) });
    expect(flags.isEnabled('checkout')).toBe(true);
    expect((await flags.fork().history.list(ref)).items).toHaveLength(3);
  });

  it.each<[string, (flags: TestFlags) => unknown]>([
    ['isEnabled', (flags) => flags.isEnabled('chekout')],
    ['isEnabled with a fallback', (flags) => flags.isEnabled('chekout', {}, { fallback: true })],
    ['getVariant', (flags) => flags.getVariant('chekout')],
    ['getPayload', (flags) => flags.getPayload('chekout')],
    ['explain', (flags) => flags.explain('chekout')],
    ['forContext', (flags) => flags.forContext({}).isEnabled('chekout')],
    ['evaluator', (flags) => flags.evaluator.isEnabled('chekout')],
    ['as', (flags) => flags.as('ada').isEnabled('chekout')],
    ['override', (flags) => flags.override({ chekout: true }, () => undefined)],
    ['vary', (flags) => flags.vary(['chekout'], () => undefined)],
    ['fork', (flags) => flags.fork().isEnabled('chekout')],
  ])('throws for an unknown flag in %s, and names the closest ones', (_name, use) => {
    expect(() => use(testFlags({ checkout: true, checkout2: false, banner: 'red' }))).toThrow(
      expect.objectContaining({
        code: 'flag_not_found',
        message: 'There is no flag chekout; did you mean checkout or checkout2?',
      }),
    );
  });

  it('lists all flags where none is similar', () => {
    expect(() => testFlags({ b: true, a: true }).isEnabled('checkout')).toThrow(
      'There is no flag checkout; the flags are a, b.',
    );
  });

  it('finds archived flags', async () => {
    const flags = testFlags({ checkout: true });
    await flags.archiveFlag({ project, flag: 'checkout' });
    expect(flags.isEnabled('checkout')).toBe(false);
  });

  it('counts ids, and accepts a clock and ids', async () => {
    const [one, other] = [testFlags({ checkout: true }), testFlags({ checkout: true })];
    const ref = { project, flag: 'checkout' };
    expect((await one.getFlag(ref)).environments).toEqual((await other.getFlag(ref)).environments);
    const now = () => new Date('2026-01-01T00:00:00.000Z');
    const given = testFlags({ checkout: true }, { now, newId: () => 'given', actor: 'tests' });
    const detail = await given.getFlag(ref);
    expect(detail.createdAt).toBe('2026-01-01T00:00:00.000Z');
    expect(detail.environments[0]?.strategies[0]?.id).toBe('given');
    const { items: events } = await given.events.list({ flag: 'checkout' });
    expect(new Set(events.map(({ actor }) => actor))).toEqual(new Set(['tests']));
  });

  it.each<[unknown, unknown, string]>([
    [{ checkout: 1 }, {}, '/checkout must be true, false'],
    [{ checkout: { payload: 1 } }, {}, '/checkout must be true, false'],
    [{ checkout: null }, {}, '/checkout must be true, false'],
    [{}, { stroage: 1 }, 'testFlags has no option stroage'],
  ])('refuses %j with %j', (values, options, message) => {
    expect(() => testFlags(values as never, options as never)).toThrow(message);
  });
});

describe('testFlags with a schema', () => {
  const schema = defineFlags(
    {
      checkout: { type: 'experiment' },
      banner: { variants: { red: { color: 'string' }, blue: { color: 'string' } } },
    },
    { environments: ['test'], context: { plan: ['free', 'pro'] } },
  );

  it('has all declared flags, off without a value', async () => {
    const flags = testFlags({ banner: { variant: 'red', payload: { color: '#f00' } } }, { schema });
    expect(flags.isEnabled('checkout')).toBe(false);
    expect(flags.getVariant('banner').name).toBe('red');
    expect(flags.getPayload('banner')?.color).toBe('#f00');
    expect((await flags.drift()).map(({ kind, variant }) => [kind, variant])).toEqual([['payload', 'blue']]);
    expect(flags.settings.environments.map(({ name }) => name)).toEqual(['test']);
    const fork = flags.fork();
    expect(fork.isEnabled('banner', { plan: 'pro' })).toBe(true);
  });

  it('has declared flags off that are named like inherited members', () => {
    const named = defineFlags({ toString: {}, constructor: { variants: ['a', 'b'] }, ['__proto__']: {} });
    const flags = testFlags({}, { schema: named });
    for (const flag of ['toString', 'constructor', '__proto__'] as const) {
      expect(flags.explain(flag)).toMatchObject({ enabled: false, reason: 'disabled' });
    }
    const values: unknown[] = [];
    vary(flags, ['constructor', '__proto__'], (combination) => void values.push(combination));
    expect(values).toHaveLength(6);
  });

  it.each(['checkout', 5, null, [true]])('refuses values that are not an object: %j', (values) => {
    expect(() => testFlags(values as never)).toThrow('takes an object of values');
  });

  it('refuses unknown flags and variants', () => {
    expect(() => testFlags({ chekout: true } as never, { schema })).toThrow(
      'There is no flag chekout; did you mean checkout?',
    );
    expect(() => testFlags({ banner: 'green' } as never, { schema })).toThrow(
      '/banner names the variant green; the variants are red, blue.',
    );
    const flags = testFlags({ checkout: true }, { schema });
    expect(() => flags.override({ banner: 'green' } as never, () => undefined)).toThrow('names the variant green');
  });

  it('has types', () => {
    // @ts-expect-error: not a flag of the schema
    expect(() => testFlags({ chekout: true }, { schema })).toThrow('did you mean checkout?');
    // @ts-expect-error: not a variant of the flag
    expect(() => testFlags({ banner: 'green' }, { schema })).toThrow('names the variant green');
    const flags = testFlags({ checkout: true }, { schema });
    // @ts-expect-error: not a flag of the schema
    expect(() => flags.isEnabled('chekout')).toThrow();
    // @ts-expect-error: not a variant of the flag
    expect(() => flags.override({ banner: 'green' }, () => undefined)).toThrow();
    // @ts-expect-error: not a flag of the schema
    expect(() => flags.vary(['chekout'], () => undefined)).toThrow();
    // @ts-expect-error: not a flag of the schema
    expect(() => withFlags(flags, { chekout: true }, () => undefined)).toThrow();
    // @ts-expect-error: not a flag of the schema
    expect(() => vary(flags, ['chekout'], () => undefined)).toThrow();
    flags.vary(['checkout', 'banner'], ({ checkout, banner }) => expect([typeof checkout, banner]).toHaveLength(2));
  });
});

describe('override', () => {
  it('changes values within the function, and stores nothing', async () => {
    const flags = testFlags({ checkout: true, banner: 'red' });
    const result = flags.override({ checkout: false, banner: 'blue' }, () => {
      const mine = flags.forContext({ userId: '7' });
      expect(mine.isEnabled('checkout')).toBe(false);
      expect(mine.evaluateAll().map(({ name, enabled }) => [name, enabled])).toEqual([
        ['banner', true],
        ['checkout', false],
      ]);
      expect(flags.isEnabled('checkout', {}, { environment: 'development' })).toBe(false);
      return flags.getVariant('banner').name;
    });
    expect(result).toBe('blue');
    expect(flags.isEnabled('checkout')).toBe(true);
    expect((await flags.getFlag({ project, flag: 'checkout' })).environments[0]?.enabled).toBe(true);
  });

  it('applies to every context: strategies and parents do not matter', async () => {
    const flags = testFlags({ checkout: false, parent: false });
    await flags.addDependency({ project, flag: 'checkout' }, { flag: 'parent' });
    expect(flags.override({ checkout: true }, () => flags.isEnabled('checkout'))).toBe(true);
  });

  it('reaches children of an overridden flag', async () => {
    const flags = testFlags({ checkout: true, parent: true });
    await flags.addDependency({ project, flag: 'checkout' }, { flag: 'parent' });
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(flags.override({ parent: false }, () => flags.isEnabled('checkout'))).toBe(false);
  });

  it('keeps the payload of a known variant, or uses another one', () => {
    const flags = testFlags({ banner: { variant: 'red', payload: 'a' } });
    expect(flags.override({ banner: 'red' }, () => flags.getPayload('banner'))).toBe('a');
    const blue = { variant: 'blue', payload: 2 };
    expect(flags.override({ banner: blue }, () => flags.getPayload('banner'))).toBe(2);
    expect(flags.override({ banner: true }, () => flags.getVariant('banner').name)).toBe('red');
  });

  it('does not affect code that runs at the same time', async () => {
    const flags = testFlags({ checkout: true });
    const [seen, others] = await Promise.all([
      flags.override({ checkout: false }, async () => {
        await turn();
        return flags.isEnabled('checkout');
      }),
      withFlags(flags, {}, async () => {
        await turn();
        return flags.isEnabled('checkout');
      }),
    ]);
    expect([seen, others, flags.isEnabled('checkout')]).toEqual([false, true, true]);
  });

  it('adds to outer overrides, for these flags only', () => {
    const [flags, others] = [testFlags({ a: false, b: false }), testFlags({ a: false, b: false })];
    flags.override({ a: true }, () =>
      withFlags(flags, { b: true }, () => {
        expect([flags.isEnabled('a'), flags.isEnabled('b')]).toEqual([true, true]);
        expect([others.isEnabled('a'), others.isEnabled('b')]).toEqual([false, false]);
        expect(flags.override({ a: false }, () => flags.isEnabled('a'))).toBe(false);
      }),
    );
  });

  it('sees changes that are made meanwhile', async () => {
    const flags = testFlags({ a: false, b: false });
    await flags.override({ a: true }, async () => {
      await flags.createFlag({ project }, { name: 'c' });
      expect(flags.isEnabled('c')).toBe(false);
      expect(flags.isEnabled('a')).toBe(true);
    });
  });

  it('needs the flags of testFlags as a function', async () => {
    const flags = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
    expect(() => withFlags(flags as never, {}, () => undefined)).toThrow('withFlags needs the flags of testFlags');
    expect(() => vary(flags as never, [], () => undefined)).toThrow('vary needs the flags of testFlags');
    await flags.close();
  });
});

describe('vary', () => {
  const combinations = [
    { checkout: false, banner: false },
    { checkout: false, banner: 'red' },
    { checkout: true, banner: false },
    { checkout: true, banner: 'red' },
  ];

  it('runs all combinations', async () => {
    const flags = testFlags({ checkout: true, banner: 'red' });
    const seen: unknown[] = [];
    const look = (values: unknown) => {
      const { name, enabled } = flags.getVariant('banner');
      seen.push({ checkout: flags.isEnabled('checkout'), banner: enabled && name });
      expect(seen.at(-1)).toEqual(values);
    };
    flags.vary(['checkout', 'banner'], look);
    expect(seen).toEqual(combinations);
    await vary(flags, ['checkout', 'banner'], async (values) => {
      await turn();
      look(values);
    });
    expect(seen).toEqual([...combinations, ...combinations]);
  });

  it('runs all of them, then says which failed', async () => {
    const flags = testFlags({ checkout: true, banner: 'red' });
    const message = '1 of 4 combinations failed.\n{"checkout":true,"banner":"red"}: both';
    let runs = 0;
    const fail = () => {
      runs += 1;
      if (flags.isEnabled('checkout') && flags.isEnabled('banner')) throw new Error('both');
    };
    expect(() => flags.vary(['checkout', 'banner'], fail)).toThrow(message);
    await expect(flags.vary(['banner', 'checkout'], async () => fail())).rejects.toMatchObject({
      message: message.replace('"checkout":true,"banner":"red"', '"banner":"red","checkout":true'),
      errors: [{ message: 'both' }],
    });
    expect(runs).toBe(8);
  });

  it('refuses too many combinations', () => {
    const names = Array.from({ length: 11 }, (_, at) => `f${at}`);
    const flags = testFlags(Object.fromEntries(names.map((name) => [name, true])));
    expect(() => flags.vary(names, () => undefined)).toThrow('more than 1000 combinations');
  });
});

describe('fork', () => {
  it('copies the state: later changes of either are independent', async () => {
    const base = testFlags({ checkout: true, banner: 'red' });
    await base.createFlag({ project }, { name: 'later' });
    const fork = base.fork();
    const ref = { project, flag: 'checkout', environment };
    await base.disable(ref);
    expect(fork.isEnabled('checkout')).toBe(true);
    expect(fork.getVariant('banner').name).toBe('red');
    await fork.createFlag({ project }, { name: 'own' });
    expect(fork.isEnabled('checkout')).toBe(true);
    expect(fork.isEnabled('later')).toBe(false);
    expect(base.configuration().flags.map(({ name }) => name)).toEqual(['banner', 'checkout', 'later']);
    expect((await fork.listFlags({ project })).items.map(({ name }) => name)).toEqual([
      'banner',
      'checkout',
      'later',
      'own',
    ]);
    const { items: events } = await fork.events.list({ flag: 'later' });
    expect(events.map(({ type }) => type)).toEqual(['flag-created']);
    await fork.disable(ref);
    expect(fork.isEnabled('checkout')).toBe(false);
  });

  it('copies revisions and deletions', async () => {
    const base = testFlags({ checkout: true, gone: false });
    await base.updateFlag({ project, flag: 'checkout' }, { stale: true });
    await base.archiveFlag({ project, flag: 'gone' });
    await base.deleteFlag({ flag: 'gone' });
    await base.createFlag({ project }, { name: 'gone', description: 'again' });
    const fork = base.fork().fork();
    for (const flag of ['checkout', 'gone']) {
      expect(await fork.getFlag({ project, flag })).toEqual(await base.getFlag({ project, flag }));
    }
    await fork.updateFlag({ project, flag: 'gone' }, { description: 'new' }, { ifRevision: 4 });
    expect(fork.configuration().flags.find(({ name }) => name === 'gone')?.description).toBe('new');
  });

  it('has overrides of its own, and continues the ids', async () => {
    const base = testFlags({ checkout: true });
    const fork = base.fork();
    base.override({ checkout: false }, () => {
      expect([base.isEnabled('checkout'), fork.isEnabled('checkout')]).toEqual([false, true]);
      expect(base.fork().isEnabled('checkout')).toBe(true);
    });
    expect(fork.override({ checkout: false }, () => fork.isEnabled('checkout'))).toBe(false);
    const { id } = await fork.addStrategy({ project, flag: 'checkout', environment }, { name: 'default' });
    expect(id).toBe('00000000-0000-4000-8000-000000000003');
    expect(await Promise.resolve(fork)).toBe(fork);
    expect({ ...base.fork() }.isEnabled('checkout')).toBe(true);
  });

  it('takes microseconds', async () => {
    const base = testFlags(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`flag-${at}`, true])));
    const fork = () => base.fork().isEnabled('flag-7');
    for (let warm = 0; warm < 1000; warm++) fork();
    const forkOften = () => {
      for (let run = 0; run < 1000; run++) fork();
    };
    // About 2 ms. Opening an engine with 500 flags takes milliseconds.
    expect(await isWithin(200, forkOften)).toBe(true);
  });
});

describe('the environment of a test file', () => {
  // By its whole path: relative ones that end in .cjs mean sources of TypeScript.
  const Environment = require(join(__dirname, '../../../../test/environment.cjs'));

  it('ends the asynchronous stores that a test file has started', async () => {
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
});
