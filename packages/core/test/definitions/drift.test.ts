import { createFlags, defineFlags, type FlagDrift, memoryStorage, type Storage } from '@flags/core';

const schema = defineFlags({
  checkout: { type: 'experiment', description: 'The new checkout' },
  banner: { variants: { red: { color: 'string' }, blue: { color: 'string' } } },
});
const project = 'default';

/** A storage that stays open when the flags are closed. */
function kept(storage: Storage): Storage {
  return { ...storage, close: async () => undefined };
}

async function driftOf(storage: Storage, ...options: readonly object[]): Promise<readonly FlagDrift[][]> {
  const reports: FlagDrift[][] = [];
  const onDrift = (drift: readonly FlagDrift[]) => void reports.push([...drift]);
  const flags = await createFlags({ storage, schema, onDrift, pollInterval: 0, ...Object.assign({}, ...options) });
  await flags.close();
  return reports;
}

describe('drift between the schema and the storage', () => {
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

  it('names undeclared flags, other types, other variants and payloads that do not fit', async () => {
    const flags = await createFlags({ storage: memoryStorage(), schema, onDrift: () => undefined, pollInterval: 0 });
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
        message: 'The payload of variant red of flag banner does not fit its declaration: /color must be string.',
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

  it('reports nothing where everything fits', async () => {
    const storage = kept(memoryStorage());
    const flags = await createFlags({ storage, pollInterval: 0 });
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
    const flags = await createFlags({ storage, pollInterval: 0 });
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
    const { items } = await flags.history({});
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
    const flags = await createFlags({ storage: memoryStorage(), schema, declare: 'create', pollInterval: 0 });
    expect(await flags.drift()).toEqual([]);
    const production = { project, flag: 'banner', environment: 'production' };
    await flags.addStrategy(production, { name: 'default' });
    await flags.enable(production);
    const missing = ['red', 'blue'].map((variant) => expect.objectContaining({ kind: 'payload', variant }));
    expect(await flags.drift()).toEqual(missing);
    await flags.close();
  });

  it('creates an existing flag no second time, and changes none', async () => {
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
    const flags = await createFlags({ storage, schema: many, declare: 'create', pollInterval: 0 });
    expect(await flags.drift()).toEqual([]);
    expect(new Set((await flags.listEvents({ limit: 1000 })).events.map(({ changeSet }) => changeSet)).size).toBe(3);
    await flags.close();
  });

  it('lets processes that start together create each flag once', async () => {
    const storage = kept(memoryStorage());
    await Promise.all(Array.from({ length: 5 }, () => driftOf(storage, { declare: 'create' })));
    const flags = await createFlags({ storage, pollInterval: 0 });
    const { events } = await flags.listEvents({});
    expect(events.filter(({ type }) => type === 'flag-created')).toHaveLength(2);
    await flags.close();
  });

  it('refuses a start that cannot create the flags, and closes the storage', async () => {
    const elsewhere = defineFlags({ checkout: { project: 'nowhere' } });
    const storage = memoryStorage();
    const start = createFlags({ storage, schema: elsewhere, declare: 'create' });
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
    const flags = await createFlags({ storage: memoryStorage(), schema, pollInterval: 0 });
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
