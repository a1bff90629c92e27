import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import {
  type CustomStrategy,
  type EvaluationContext,
  type EvaluationProblem,
  type Flags,
  memoryStorage,
  openFlags,
} from '../../src/index.js';
import { inputSchemas } from '../../src/input-schemas.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { someConstraints, someContext, someStrategies, someVariants } from './any-flags.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

jest.setTimeout(60_000);

const DEPARTMENT: CustomStrategy = {
  name: 'department',
  isEnabled: ({ departments }, { properties }) =>
    String(departments).split(',').includes(String(properties?.department)),
};
const FAILING: CustomStrategy = {
  name: 'failing',
  isEnabled: () => {
    throw new Error('The directory is down.');
  },
};
const SALES = { properties: { department: 'sales' } };

async function withStrategies(start: Start, strategies: readonly CustomStrategy[]) {
  const problems: EvaluationProblem[] = [];
  const flags = await start({ ...SILENT, strategies, onProblem: (problem) => problems.push(problem) });
  return { flags, problems };
}

onEveryStorage((start) => {
  describe('a strategy of the host', () => {
    it('receives its parameters and the context, and decides', async () => {
      const { flags } = await withStrategies(start, [DEPARTMENT]);
      const strategies = [{ name: 'department', parameters: { departments: 'sales,legal' } }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect(flags.isEnabled('checkout', SALES)).toBe(true);
      expect(flags.isEnabled('checkout', { properties: { department: 'it' } })).toBe(false);
      expect(flags.explain('checkout', SALES).strategies).toMatchObject([{ name: 'department', test: true }]);
    });

    it('cannot change the parameters that later evaluations get', async () => {
      const greedy: CustomStrategy = {
        name: 'department',
        isEnabled: (parameters, context) => {
          Reflect.set(parameters, 'departments', 'it');
          return DEPARTMENT.isEnabled(parameters, context);
        },
      };
      const { flags } = await withStrategies(start, [greedy]);
      const strategies = [{ name: 'department', parameters: { departments: 'sales' } }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect([flags.isEnabled('checkout', SALES), flags.isEnabled('checkout', SALES)]).toEqual([true, true]);
    });

    it('holds only if its constraints hold, too', async () => {
      const { flags } = await withStrategies(start, [DEPARTMENT]);
      const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['ada'] }];
      const strategies = [{ name: 'department', parameters: { departments: 'sales' }, constraints }];
      await createSwitchedOn(flags, { flag: 'checkout', strategies });
      expect(flags.isEnabled('checkout', SALES)).toBe(false);
      expect(flags.isEnabled('checkout', { ...SALES, userId: 'ada' })).toBe(true);
    });

    it('does not hold when it throws, and the problem is reported once', async () => {
      const { flags, problems } = await withStrategies(start, [FAILING]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'failing' }] });
      for (let call = 0; call < 3; call++) expect(flags.isEnabled('checkout')).toBe(false);
      expect(flags.getVariant('checkout').enabled).toBe(false);
      expect(problems).toMatchObject([{ code: 'strategy_failed', flag: 'checkout' }]);
      expect(problems[0]?.message).toContain('The directory is down.');
    });

    it('does not keep later strategies from holding when it throws', async () => {
      const { flags } = await withStrategies(start, [FAILING]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'failing' }, { name: 'default' }] });
      expect(flags.isEnabled('checkout')).toBe(true);
    });

    it('holds only if it returns true', async () => {
      const truthy = { name: 'truthy', isEnabled: () => 'yes' } as unknown as CustomStrategy;
      const later = { name: 'later', isEnabled: async () => true } as unknown as CustomStrategy;
      const { flags } = await withStrategies(start, [truthy, later]);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'truthy' }, { name: 'later' }] });
      expect(flags.isEnabled('checkout')).toBe(false);
    });

    it('replaces a built-in one', async () => {
      const { flags } = await withStrategies(start, [{ name: 'default', isEnabled: () => false }]);
      await createSwitchedOn(flags, { flag: 'checkout' });
      expect(flags.isEnabled('checkout')).toBe(false);
    });
  });

  describe('an unknown strategy', () => {
    it('does not hold, and is reported once, however often the flag is changed and evaluated', async () => {
      const { flags, problems } = await withStrategies(start, []);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'department' }] });
      expect([flags.isEnabled('checkout', SALES), flags.isEnabled('checkout', SALES)]).toEqual([false, false]);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      await flags.disable(PRODUCTION);
      await flags.enable(PRODUCTION);
      expect(problems).toMatchObject([{ code: 'unknown_strategy', flag: 'checkout' }]);
    });

    it.each(['__proto__', 'constructor', 'toString'])('may have the name %s', async (name) => {
      const { flags } = await withStrategies(start, []);
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name }] });
      expect(flags.isEnabled('checkout')).toBe(false);
    });

    it('is reported for each flag that has it', async () => {
      const { flags, problems } = await withStrategies(start, []);
      for (const flag of ['one', 'two']) await createSwitchedOn(flags, { flag, strategies: [{ name: 'department' }] });
      expect(problems.map(({ flag }) => flag)).toEqual(['one', 'two']);
      expect((await flags.listFlags(DEFAULT)).items.map(({ name }) => name)).toEqual(['one', 'two']);
    });

    it('is a process warning without a listener', async () => {
      const emitWarning = jest.spyOn(process, 'emitWarning').mockReturnValue();
      const flags = await start({ pollInterval: 0, usage: { interval: 0 } });
      await createSwitchedOn(flags, { flag: 'checkout', strategies: [{ name: 'unheard-of\u001b[2J\u202e' }] });
      expect(emitWarning.mock.calls).toEqual([
        [expect.stringMatching(/unheard-of\[2J\.?$/), { type: 'FlagsWarning', code: 'unknown_strategy' }],
      ]);
      emitWarning.mockRestore();
    });
  });
});

async function threeFlags(start: Start): Promise<Flags<string>> {
  const flags = await start(SILENT);
  await createSwitchedOn(flags, { flag: 'zebra', strategies: [onlyFor('ada')] });
  await createSwitchedOn(flags, { flag: 'checkout' });
  await flags.createFlag(DEFAULT, { name: 'off', impressionData: true });
  await flags.setVariants(CHECKOUT, [{ name: 'blue', payload: { type: 'string', value: 'b' } }]);
  return flags;
}

const OFF = { name: 'disabled', enabled: false, flagEnabled: false };
const ALL_FOR_ADA = [
  {
    name: 'checkout',
    enabled: true,
    variant: { name: 'blue', enabled: true, flagEnabled: true, payload: { type: 'string', value: 'b' } },
    impressionData: false,
  },
  { name: 'off', enabled: false, variant: OFF, impressionData: true },
  {
    name: 'zebra',
    enabled: true,
    variant: { name: 'disabled', enabled: false, flagEnabled: true },
    impressionData: false,
  },
];

onEveryStorage((start) => {
  describe('a pinned context', () => {
    it('evaluates its context', async () => {
      const flags = await threeFlags(start);
      expect(flags.forContext({ userId: 'ada' }).isEnabled('zebra')).toBe(true);
      expect(flags.forContext({ userId: 'bob' }).isEnabled('zebra')).toBe(false);
    });

    it('does not show concurrent changes', async () => {
      const flags = await threeFlags(start);
      const { id } = await flags.segments.create({ name: 'all', constraints: [] });
      await createSwitchedOn(flags, { flag: 'segmented', strategies: [{ name: 'default', segments: [id] }] });
      const pinned = flags.forContext({ userId: 'ada' });
      const before = pinned.evaluateAll();
      const nobody = [{ contextName: 'userId', operator: 'IN' as const, values: ['nobody'] }];
      await flags.segments.update({ segment: id }, { constraints: nobody });
      await flags.disable(PRODUCTION);
      await flags.setVariants(CHECKOUT, []);
      await flags.archiveFlag({ ...DEFAULT, flag: 'zebra' });
      await createSwitchedOn(flags, { flag: 'later' });
      expect(pinned.evaluateAll()).toEqual(before);
      expect([pinned.isEnabled('checkout'), pinned.getVariant('checkout').name]).toEqual([true, 'blue']);
      expect([pinned.isEnabled('later'), pinned.isEnabled('later', { fallback: true })]).toEqual([false, true]);
      const now = flags.forContext({ userId: 'ada' }).evaluateAll();
      expect(now.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['later']);
    });

    it('refuses a fallback outside of the options', async () => {
      const pinned = (await threeFlags(start)).forContext({});
      for (const method of ['isEnabled', 'getVariant', 'getPayload'] as const) {
        expect(() => pinned[method]('checkout', true as never)).toThrow(
          'the options of an evaluation must be an object',
        );
      }
    });

    it('evaluates all flags that are not archived, in name order', async () => {
      const flags = await threeFlags(start);
      await createSwitchedOn(flags, { flag: 'archived' });
      await flags.archiveFlag({ ...DEFAULT, flag: 'archived' });
      expect(flags.forContext({ userId: 'ada' }).evaluateAll()).toEqual(ALL_FOR_ADA);
    });

    it('counts single evaluations, not evaluations of all flags', async () => {
      const flags = await start({ ...SILENT, usage: { interval: 5 } });
      await createSwitchedOn(flags, { flag: 'all-at-once' });
      await createSwitchedOn(flags, { flag: 'asked' });
      const impressions: string[] = [];
      flags.onImpression(({ flag }) => impressions.push(flag));
      await flags.updateFlag({ ...DEFAULT, flag: 'asked' }, { impressionData: true });
      await flags.updateFlag({ ...DEFAULT, flag: 'all-at-once' }, { impressionData: true });
      const pinned = flags.forContext({ userId: 'ada' });
      pinned.evaluateAll();
      pinned.isEnabled('asked');
      await until(async () => (await flags.usage.count()).lastHour.size > 0);
      const { lastHour } = await flags.usage.count();
      expect(Object.fromEntries(lastHour)).toEqual({ asked: { yes: 1, no: 0 } });
      expect(impressions).toEqual(['asked']);
    });
  });
});

describe('the results of a caller', () => {
  const USER = { userId: '7' };

  /** A flag with every part that evaluation reads. */
  async function lived(): Promise<Flags<string>> {
    const flags = await openFlags<string>({ storage: memoryStorage(), ...SILENT });
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
    const { id } = await flags.segments.create({ name: 'beta', constraints });
    for (const name of ['checkout', 'parent']) await flags.createFlag(DEFAULT, { name, impressionData: true });
    const variants = [{ name: 'own', weightType: 'variable', weight: 1000, stickiness: 'default' }] as const;
    const strategy = { name: 'flexibleRollout', parameters: { rollout: 100 }, segments: [id], constraints, variants };
    await flags.addStrategy(PRODUCTION, strategy);
    await flags.addStrategy({ ...DEFAULT, flag: 'parent', environment: 'production' }, { name: 'default' });
    await flags.setVariants({ ...DEFAULT, flag: 'parent' }, [
      {
        name: 'blue',
        payload: { type: 'string', value: 'b' },
        overrides: [{ contextName: 'userId', values: ['7'] }],
      },
    ]);
    await flags.addDependency(CHECKOUT, { flag: 'parent', variants: ['blue'] });
    for (const flag of ['checkout', 'parent']) {
      await flags.enable({ ...DEFAULT, flag, environment: 'production' });
    }
    return flags;
  }

  /** All results that evaluation returns to its callers. */
  const GIVEN: readonly (readonly [string, (flags: Flags<string>) => unknown])[] = [
    ['settings', (flags) => flags.settings],
    ['the settings of another actor', (flags) => flags.as('ada').settings],
    ['the configuration', (flags) => flags.configuration()],
    ['the configuration of another environment', (flags) => flags.configuration({ environment: 'development' })],
    ['an explanation', (flags) => flags.explain('checkout', USER)],
    ['an explanation of a flag that is off', (flags) => flags.explain('checkout', { userId: '8' })],
    ['an explanation of an unknown flag', (flags) => flags.explain('unknown', USER)],
    ['a variant', (flags) => flags.getVariant('parent', USER)],
    ['the variant of an unknown flag', (flags) => flags.getVariant('unknown', USER)],
    ['all answers', (flags) => flags.forContext(USER).evaluateAll()],
    ['the status', (flags) => flags.status()],
    ['the schemas of inputs', (flags) => inputSchemas(flags.settings)],
  ];

  function answersOf(flags: Flags<string>): unknown {
    return JSON.stringify(GIVEN.map(([, give]) => give(flags)));
  }

  /** Changes every mutable member, at every depth. */
  function vandalize(value: unknown, seen = new Set<unknown>()): void {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const member of Object.values(value)) vandalize(member, seen);
    for (const key of [...Object.keys(value), 'vandal']) Reflect.set(value, key, 'vandal');
    if (Array.isArray(value)) Reflect.set(value, value.length, 'vandal');
    for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
  }

  it.each(GIVEN)('can be changed without an effect on the engine: %s', async (_, give) => {
    const flags = await lived();
    const before = answersOf(flags);
    vandalize(give(flags));
    expect(answersOf(flags)).toBe(before);
    await flags.createFlag(DEFAULT, { name: 'another', type: 'release' });
    await flags.removeDependency(CHECKOUT, { flag: 'parent' });
    expect(flags.isEnabled('checkout', USER)).toBe(true);
    expect(flags.isEnabled('checkout', { userId: '8' })).toBe(false);
    await flags.close();
  });

  it('can be changed by the listener to impressions, too', async () => {
    const flags = await lived();
    const before = answersOf(flags);
    flags.onImpression((impression) => {
      const { context: _ours, ...rest } = impression;
      vandalize(rest);
    });
    flags.isEnabled('checkout', USER);
    flags.getVariant('parent', USER);
    expect(answersOf(flags)).toBe(before);
    await flags.close();
  });
});

describe('ten thousand flags', () => {
  const COUNT = 10_000;
  const CHANGED = 'flag-05000';

  function flagBody(name: string) {
    const strategies = [{ id: `${name}-1`, name: 'default', parameters: {}, constraints: [] }];
    return {
      ...{ name, project: 'default', description: '', type: 'release', impressionData: false, stale: false },
      ...{ archived: false, createdAt: '2026-01-01T00:00:00.000Z', variants: [], dependencies: [] },
      environments: [{ name: 'production', enabled: true, strategies }],
    };
  }

  /** A storage with very many flags, written at once. */
  async function filledStorage(): Promise<FlagsStorage> {
    const storage = memoryStorage();
    const names = Array.from({ length: COUNT }, (_, at) => `flag-${String(at).padStart(5, '0')}`);
    const writes = names.map((name) => {
      const body = flagBody(name);
      const summary = { type: body.type, stale: false, archived: false, createdAt: body.createdAt, enabledIn: [] };
      return { key: { kind: 'flag', id: name }, expected: 0, parent: 'default', body, summary };
    });
    await storage.commit({ writes, events: [] });
    return storage;
  }

  function definitionsOf(flags: Flags<string>) {
    return new Map(flags.configuration().flags.map((flag) => [flag.name, flag]));
  }

  let flags: Flags<string>;

  beforeAll(async () => {
    flags = await openFlags<string>({ ...SILENT, storage: await filledStorage() });
  });

  afterAll(() => flags.close());

  it('are all available as soon as the instance is open', () => {
    expect(
      flags
        .forContext({})
        .evaluateAll()
        .filter(({ enabled }) => enabled),
    ).toHaveLength(COUNT);
  });

  it('keep all definitions except the one of the changed flag', async () => {
    const before = definitionsOf(flags);
    await flags.disable({ ...PRODUCTION, flag: CHANGED });
    const after = definitionsOf(flags);
    const changed = [...after].filter(([name, flag]) => before.get(name) !== flag).map(([name]) => name);
    expect(changed).toEqual([CHANGED]);
    expect([flags.isEnabled(CHANGED), flags.isEnabled('flag-04999')]).toEqual([false, true]);
  });

  it('are in name order in every environment, with the changes made meanwhile', async () => {
    const environment = 'development';
    const [first, last] = ['flag-00001', 'flag-09999'];
    expect(flags.configuration({ environment }).flags).toHaveLength(COUNT);
    await flags.archiveFlag({ project: 'default', flag: first });
    await flags.updateFlag({ project: 'default', flag: last }, { description: 'changed' });
    const loaded = flags.configuration({ environment });
    expect(flags.configuration({ environment })).toBe(loaded);
    const names = loaded.flags.map(({ name }) => name);
    expect([names.length, names]).toEqual([COUNT - 1, names.toSorted()]);
    expect(loaded.flags.at(-1)).toMatchObject({ name: last, description: 'changed' });
    expect(loaded.flags.every((flag) => Object.isFrozen(flag.strategies))).toBe(true);
  });
});

describe('an explanation', () => {
  const someFlag = fc.record({ strategies: someStrategies, variants: someVariants, enabled: fc.boolean() });
  const someInstance = fc.record({
    parent: someFlag,
    child: someFlag,
    dependency: fc.record({
      enabled: fc.constant(true),
      variants: fc.constantFrom<readonly string[]>([], ['blue', 'red']),
    }),
    segment: someConstraints,
  });

  type Instance = typeof someInstance extends fc.Arbitrary<infer Value> ? Value : never;

  async function openWith({ segment, parent, child, dependency }: Instance): Promise<Flags<string>> {
    const flags = await openFlags<string>({ ...SILENT, storage: memoryStorage() });
    await flags.segments.create({ name: 'first', constraints: segment });
    await flags.segments.create({ name: 'second', constraints: [] });
    for (const [flag, { strategies, variants, enabled }] of Object.entries({ parent, child })) {
      await createSwitchedOn(flags, { flag, strategies });
      await flags.setVariants({ ...DEFAULT, flag }, variants);
      if (!enabled) await flags.disable({ ...DEFAULT, flag, environment: 'production' });
    }
    await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'parent', ...dependency });
    return flags;
  }

  function expectAgreement(flags: Flags<string>, flag: string, context: EvaluationContext): void {
    const explanation = flags.explain(flag, context);
    const pinned = flags.forContext(context);
    expect(flags.isEnabled(flag, context)).toBe(explanation.enabled);
    expect(flags.getVariant(flag, context)).toEqual(explanation.variant);
    expect(pinned.isEnabled(flag)).toBe(explanation.enabled);
    expect(pinned.getVariant(flag)).toEqual(explanation.variant);
    const { enabled, variant } = explanation;
    expect(pinned.evaluateAll()).toContainEqual({ name: flag, enabled, variant, impressionData: false });
  }

  it('agrees with isEnabled, getVariant and evaluateAll, whatever the flag and the context', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        someInstance,
        fc.array(someContext, { minLength: 5, maxLength: 5 }),
        async (instance, contexts) => {
          const flags = await openWith(instance);
          for (const context of contexts) {
            for (const flag of ['parent', 'child', 'none']) {
              reasons.add(flags.explain(flag, context).reason);
              if (flag !== 'none') expectAgreement(flags, flag, context);
            }
          }
          await flags.close();
        },
      ),
      { numRuns: extent({ short: 25, full: 80 }) },
    );
    const expected = ['dependency', 'disabled', 'no_strategy_holds', 'strategy', 'unknown_flag'];
    expect([...reasons].sort()).toEqual(expected);
  });
});
