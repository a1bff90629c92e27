import {
  defineFlags,
  type EvaluationProblem,
  type FlagDrift,
  type FlagsStorage,
  memoryStorage,
  openFlags,
  type Payload,
} from '../../src/index.js';
import type { StandardSchema } from '../../src/types.js';

const project = 'default';

describe('typed flags', () => {
  const environment = 'production';
  const json = (value: unknown): Payload => ({ type: 'json', value: JSON.stringify(value) });

  /** Accepts `{ requests }` with a number as text, and converts it. */
  const limits: StandardSchema<{ requests: number }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate(value) {
        const { requests } = Object(value) as { requests?: unknown };
        if (typeof requests !== 'string') return { issues: [{ message: 'requests must be text' }] };
        return { value: { requests: Number(requests) } };
      },
    },
  };
  const asynchronous: StandardSchema<string> = {
    '~standard': { version: 1, vendor: 'test', validate: async (value) => ({ value: String(value) }) },
  };
  const throwing: StandardSchema<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => {
        throw new Error('broken');
      },
    },
  };

  const schema = defineFlags(
    {
      banner: { variants: { red: { color: 'string', size: 'number?' }, plain: null } },
      limits: { variants: { small: limits } },
      later: { variants: { one: asynchronous } },
      broken: { variants: { one: throwing } },
      theme: { variants: { dark: { side: ['left', 'right'], tags: 'string[]', inner: { deep: 'boolean' } } } },
      level: { variants: { high: 'number' } },
      checkout: {},
    },
    { context: { plan: ['free', 'pro'] } },
  );

  async function open() {
    const problems: EvaluationProblem[] = [];
    const onProblem = (problem: EvaluationProblem) => void problems.push(problem);
    const options = { storage: memoryStorage(), onDrift: () => undefined, pollInterval: 0, onProblem };
    const flags = await openFlags({ ...options, schema, declare: 'create' });
    for (const flag of Object.keys(schema.flags)) {
      await flags.addStrategy({ project, flag, environment }, { name: 'default' });
      await flags.enable({ project, flag, environment });
    }
    const give = async (flag: string, name: string, payload: Payload) => {
      await flags.setVariants({ project, flag }, [{ name, payload }]);
    };
    return { flags, problems, give };
  }

  describe('payloads of declared flags', () => {
    it('returns a payload that fits', async () => {
      const { flags, problems, give } = await open();
      await give('banner', 'red', json({ color: '#f00', more: true }));
      await give('limits', 'small', json({ requests: '7' }));
      await give('level', 'high', { type: 'number', value: '7' });
      await give('theme', 'dark', json({ side: 'left', tags: ['a'], inner: { deep: true } }));
      expect(flags.getPayload('banner')).toEqual({ color: '#f00', more: true });
      expect(flags.getPayload('limits')).toEqual({ requests: 7 });
      expect(flags.getPayload('limits')).toBe(flags.getPayload('limits'));
      expect(Object.isFrozen(flags.getPayload('limits'))).toBe(true);
      expect(flags.getPayload('level')).toBe(7);
      expect(flags.getPayload('theme')).toEqual({ side: 'left', tags: ['a'], inner: { deep: true } });
      expect(flags.forContext({ userId: '7' }).getPayload('banner')?.color).toBe('#f00');
      expect(flags.getPayload('checkout')).toBeUndefined();
      expect(problems).toEqual([]);
      await flags.close();
    });

    it.each([
      ['banner', 'red', json({ color: 1 }), '/color must be string'],
      ['banner', 'red', json({ color: 'red', size: '1' }), '/size must be number'],
      ['banner', 'red', json([]), 'it must be an object'],
      ['banner', 'red', json({}), '/color must be string'],
      ['theme', 'dark', json({ side: 'top', tags: [], inner: { deep: true } }), '/side must be one of left, right'],
      ['theme', 'dark', json({ side: 'left', tags: [1], inner: { deep: true } }), '/tags must be string[]'],
      ['theme', 'dark', json({ side: 'left', tags: [], inner: {} }), '/inner/deep must be boolean'],
      ['level', 'high', { type: 'string', value: '7' } as const, 'it must be number'],
      ['limits', 'small', json({ requests: 7 }), 'requests must be text'],
      ['later', 'one', { type: 'string', value: 'x' } as const, 'its schema is asynchronous'],
      ['broken', 'one', { type: 'string', value: 'x' } as const, 'its schema threw broken'],
    ] as const)('falls back for %s %s %j, and reports it once', async (flag, variant, payload, reason) => {
      const { flags, problems, give } = await open();
      await give(flag, variant, payload);
      const fallback = { color: 'none' };
      expect(flags.getPayload(flag)).toBeUndefined();
      expect(flags.getPayload('banner' as never, {}, { fallback: fallback as never })).toBe(fallback);
      expect(flags.forContext({}).getPayload(flag)).toBeUndefined();
      const message = `The payload of variant ${variant} of flag ${flag} does not match its declaration: ${reason}.`;
      expect(problems.filter(({ code }) => code === 'invalid_payload')).toEqual([
        { code: 'invalid_payload', flag, message },
      ]);
      await flags.close();
    });

    it('falls back for a variant that is not declared', async () => {
      const { flags, problems, give } = await open();
      await give('banner', 'green', json({ color: 'green' }));
      expect(flags.getPayload('banner')).toBeUndefined();
      expect(problems).toEqual([
        { code: 'invalid_payload', flag: 'banner', message: 'The variant green of flag banner is not declared.' },
      ]);
      await flags.close();
    });

    it('does not read the payload of a variant that is declared without one', async () => {
      const { flags, problems, give } = await open();
      await give('banner', 'plain', json({ color: 'green' }));
      expect(flags.getPayload('banner')).toBeUndefined();
      expect(problems).toEqual([]);
      await flags.close();
    });
  });

  describe('payloads without a schema', () => {
    it('returns the value of the payload, and reports text that does not match its type', async () => {
      const problems: EvaluationProblem[] = [];
      const onProblem = (problem: EvaluationProblem) => void problems.push(problem);
      const flags = await openFlags({ storage: memoryStorage(), pollInterval: 0, onProblem });
      await flags.createFlag({ project }, { name: 'banner' });
      await flags.addStrategy({ project, flag: 'banner', environment }, { name: 'default' });
      await flags.enable({ project, flag: 'banner', environment });
      expect(flags.getPayload('banner', {}, { fallback: 1 })).toBe(1);
      await flags.setVariants({ project, flag: 'banner' }, [{ name: 'red', payload: json({ color: '#f00' }) }]);
      expect(flags.getPayload('banner')).toEqual({ color: '#f00' });
      expect(flags.getPayload('unknown', {}, { fallback: 2 })).toBe(2);
      expect(problems).toMatchObject([{ code: 'unknown_flag', flag: 'unknown' }]);
      await flags.close();
    });
  });

  describe('declared context properties', () => {
    it.each([
      ['beside the members', { plan: 'pro' } as const],
      ['in properties', { properties: { plan: 'pro' } } as const],
    ])('are read %s', async (_where, context) => {
      const { flags, give } = await open();
      await flags.createFlag({ project }, { name: 'extra' });
      const ref = { project, flag: 'checkout', environment };
      const [strategy] = (await flags.getFlag(ref)).environments[1]?.strategies ?? [];
      const constraints = [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] as const;
      await flags.updateStrategy({ ...ref, strategy: String(strategy?.id) }, { constraints });
      expect(flags.isEnabled('checkout', context)).toBe(true);
      expect(flags.isEnabled('checkout', { plan: 'free' })).toBe(false);
      expect(flags.isEnabled('checkout')).toBe(false);
      expect(flags.getVariant('checkout', context).flagEnabled).toBe(true);
      expect(flags.forContext(context).isEnabled('checkout')).toBe(true);
      expect(flags.explain('checkout', context).enabled).toBe(true);
      await give('banner', 'red', json({ color: 'red' }));
      expect(flags.getPayload('banner', context)?.color).toBe('red');
      await flags.close();
    });

    it('never throw', async () => {
      const { flags } = await open();
      const hostile = Object.defineProperty({}, 'plan', {
        enumerable: true,
        get() {
          throw new Error('no plan');
        },
      });
      expect(flags.isEnabled('checkout', hostile)).toBe(true);
      expect(flags.isEnabled('checkout', null as never)).toBe(true);
      await flags.close();
    });
  });

  describe('the schema', () => {
    it('defines the environments of the instance', async () => {
      const environments = ['test', 'live'] as const;
      const declared = defineFlags({}, { environments });
      const flags = await openFlags({ storage: memoryStorage(), schema: declared });
      expect(flags.settings.environments.map(({ name }) => name)).toEqual(environments);
      expect(flags.as('ada').schema).toBe(declared);
      await flags.close();
    });

    it.each([
      [
        { environments: [{ name: 'elsewhere' }] },
        'declares the environment test, which the option environments does not contain',
      ],
      [{ flagTypes: [{ name: 'odd', lifetimeDays: null }] }, 'declares a with the type release; the types are odd'],
      [{ schema: { a: {} } }, 'must be the result of defineFlags({ … })'],
      [{ declare: 'always' }, 'must be one of report, create'],
    ])('is refused by openFlags with %j', async (options, reason) => {
      const declared = defineFlags({ a: { type: 'release' } }, { environments: ['test'] });
      const start = openFlags({ storage: memoryStorage(), schema: declared, ...(options as object) });
      await expect(start).rejects.toMatchObject({
        code: 'invalid_input',
        details: [{ message: expect.stringContaining(reason) }],
      });
    });

    it.each<[unknown, unknown, string]>([
      [{ 'a b': {} }, {}, '/a b'],
      [{ a: null }, {}, '/a'],
      [{ a: { varaints: [] } }, {}, '/a'],
      [{ a: { variants: { '..': null } } }, {}, '/a/variants/..'],
      [{ a: { variants: { red: { color: 'strng' } } } }, {}, '/a/variants/red'],
      [{ a: { variants: 'red' } }, {}, '/a/variants'],
      [{ a: { type: 1 } }, {}, '/a/type'],
      [{ a: { project: '' } }, {}, '/a/project'],
      [null, {}, ''],
      [{}, { environments: [] }, '/environments'],
      [{}, { context: { userId: 'string' } }, '/context/userId'],
      [{}, { context: { plan: 'text' } }, '/context/plan'],
    ])('is refused by defineFlags: %j with %j', (flags, options, path) => {
      expect(() => defineFlags(flags as never, options as never)).toThrow(
        expect.objectContaining({ code: 'invalid_input', details: [expect.objectContaining({ path })] }),
      );
    });

    it('ends a message with one punctuation mark', () => {
      const message = 'The input is not valid: /a has no option varaints; did you mean variants?';
      expect(() => defineFlags({ a: { varaints: [] } } as never)).toThrow(expect.objectContaining({ message }));
      expect(() => defineFlags({ a: { x: 1 } } as never)).toThrow(/description, project, variants\.$/);
    });
  });
});

describe('drift between the schema and the storage', () => {
  const schema = defineFlags({
    checkout: { type: 'experiment', description: 'The new checkout' },
    banner: { variants: { red: { color: 'string' }, blue: { color: 'string' } } },
  });

  /** A storage that stays open when the flags are closed. */
  function kept(storage: FlagsStorage): FlagsStorage {
    return { ...storage, close: async () => undefined };
  }

  async function driftOf(storage: FlagsStorage, ...options: readonly object[]): Promise<readonly FlagDrift[][]> {
    const reports: FlagDrift[][] = [];
    const onDrift = (drift: readonly FlagDrift[]) => void reports.push([...drift]);
    const flags = await openFlags({ storage, schema, onDrift, pollInterval: 0, ...Object.assign({}, ...options) });
    await flags.close();
    return reports;
  }

  it('reports missing flags once at the start, and creates none', async () => {
    const storage = kept(memoryStorage());
    const [drift, ...others] = await driftOf(storage);
    expect(others).toEqual([]);
    expect(drift?.map(({ kind, flag }) => [kind, flag])).toEqual([
      ['missing', 'banner'],
      ['missing', 'checkout'],
    ]);
    expect(await storage.list({ kind: 'flag', part: 'body' })).toEqual([]);
  });

  it('reports undeclared flags, other types, other variants and payloads that do not match', async () => {
    const flags = await openFlags({ storage: memoryStorage(), schema, onDrift: () => undefined, pollInterval: 0 });
    for (const name of ['checkout', 'banner', 'stray']) await flags.createFlag({ project }, { name });
    const value = JSON.stringify({ color: 1 });
    await flags.setVariants({ project, flag: 'banner' }, [
      { name: 'red', payload: { type: 'json', value } },
      { name: 'blue' },
      { name: 'green' },
    ]);
    expect(await flags.drift()).toEqual([
      {
        kind: 'variants',
        flag: 'banner',
        message:
          'The flag banner is declared with the variants blue, red, and stored with the variants blue, green, red.',
      },
      {
        kind: 'payload',
        flag: 'banner',
        variant: 'red',
        message: 'The payload of variant red of flag banner does not match its declaration: /color must be string.',
      },
      {
        kind: 'payload',
        flag: 'banner',
        variant: 'blue',
        message: 'The variant blue of flag banner is declared with a payload, and stored without one.',
      },
      {
        kind: 'type',
        flag: 'checkout',
        message: 'The flag checkout is declared with the type experiment, and stored with the type release.',
      },
      { kind: 'undeclared', flag: 'stray', message: 'The flag stray is stored, but not declared.' },
    ]);
    await flags.archiveFlag({ project, flag: 'checkout' });
    expect(await flags.drift()).toContainEqual({
      kind: 'missing',
      flag: 'checkout',
      message: 'The flag checkout is declared, but archived.',
    });
    await flags.close();
    await expect(flags.drift()).rejects.toMatchObject({ code: 'closed' });
  });

  it('reports no drift if the stored flags match the schema', async () => {
    const storage = kept(memoryStorage());
    const flags = await openFlags({ storage, pollInterval: 0 });
    await flags.createFlag({ project }, { name: 'checkout', type: 'experiment' });
    await flags.createFlag({ project }, { name: 'banner' });
    const payload = { type: 'json', value: '{"color":"#f00","more":1}' } as const;
    await flags.setVariants({ project, flag: 'banner' }, [
      { name: 'red', payload },
      { name: 'blue', payload },
    ]);
    await flags.close();
    expect(await driftOf(storage)).toEqual([]);
  });

  it('creates missing flags with `declare: create`, disabled everywhere, without a report', async () => {
    const storage = kept(memoryStorage());
    expect(await driftOf(storage, { declare: 'create', actor: 'deploy' })).toEqual([]);
    expect(await driftOf(storage, { declare: 'create' })).toEqual([]);
    const flags = await openFlags({ storage, pollInterval: 0 });
    expect(await flags.getFlag({ project, flag: 'checkout' })).toMatchObject({
      type: 'experiment',
      description: 'The new checkout',
      environments: [{ enabled: false }, { enabled: false }],
    });
    const { variants } = await flags.getFlag({ project, flag: 'banner' });
    expect(variants.map(({ name, weight }) => [name, weight])).toEqual([
      ['red', 500],
      ['blue', 500],
    ]);
    const { items } = await flags.history.list({});
    const [set] = items;
    expect(set).toMatchObject({ actor: 'deploy', reason: 'Declared in the schema' });
    expect(set?.events.map(({ type, flag }) => [type, flag])).toEqual([
      ['flag-created', 'checkout'],
      ['flag-created', 'banner'],
      ['variants-updated', 'banner'],
    ]);
    await flags.close();
  });

  it('reports a created variant without payload once the flag is on', async () => {
    const flags = await openFlags({ storage: memoryStorage(), schema, declare: 'create', pollInterval: 0 });
    expect(await flags.drift()).toEqual([]);
    const production = { project, flag: 'banner', environment: 'production' };
    await flags.addStrategy(production, { name: 'default' });
    await flags.enable(production);
    const missing = ['red', 'blue'].map((variant) => expect.objectContaining({ kind: 'payload', variant }));
    expect(await flags.drift()).toEqual(missing);
    await flags.close();
  });

  it('never creates an existing flag again, and changes none', async () => {
    const storage = kept(memoryStorage());
    await driftOf(storage, { declare: 'create' });
    const before = await storage.list({ kind: 'flag', part: 'body' });
    await driftOf(storage, { declare: 'create' });
    expect(await storage.list({ kind: 'flag', part: 'body' })).toEqual(before);
  });

  it('creates more flags than one change set may have', async () => {
    const storage = memoryStorage();
    const names = Array.from({ length: 300 }, (_, at) => `flag-${at}`);
    const many = defineFlags(Object.fromEntries(names.map((name) => [name, { variants: ['red', 'blue'] }])));
    const flags = await openFlags({ storage, schema: many, declare: 'create', pollInterval: 0 });
    expect(await flags.drift()).toEqual([]);
    expect(new Set((await flags.events.list({ limit: 1000 })).items.map(({ changeSet }) => changeSet)).size).toBe(3);
    await flags.close();
  });

  it('lets processes that start together create each flag once', async () => {
    const storage = kept(memoryStorage());
    await Promise.all(Array.from({ length: 5 }, () => driftOf(storage, { declare: 'create' })));
    const flags = await openFlags({ storage, pollInterval: 0 });
    const { items: events } = await flags.events.list({});
    expect(events.filter(({ type }) => type === 'flag-created')).toHaveLength(2);
    await flags.close();
  });

  it('refuses a start that cannot create the flags, and closes the storage', async () => {
    const elsewhere = defineFlags({ checkout: { project: 'nowhere' } });
    const storage = memoryStorage();
    const start = openFlags({ storage, schema: elsewhere, declare: 'create' });
    await expect(start).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(storage.get({ kind: 'flag', id: 'checkout' })).rejects.toMatchObject({ code: 'closed' });
  });

  it('passes an error of onDrift to onError, and starts', async () => {
    const errors: unknown[] = [];
    const onDrift = () => {
      throw new Error('no log');
    };
    await driftOf(memoryStorage(), { onDrift, onError: (error: unknown) => errors.push(error) });
    expect(errors).toMatchObject([{ message: 'no log' }]);
  });

  it('warns once without onDrift', async () => {
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const flags = await openFlags({ storage: memoryStorage(), schema, pollInterval: 0 });
    await flags.close();
    expect(emitWarning.mock.calls).toEqual([
      [
        'The stored flags differ from the schema.',
        {
          type: 'FlagsWarning',
          code: 'drift',
          detail: 'The flag banner is declared, but not stored.\nThe flag checkout is declared, but not stored.',
        },
      ],
    ]);
    emitWarning.mockRestore();
  });
});
