import { createFlags } from '../../src/create-flags.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

describe('a listener for changes of the configuration', () => {
  it('is called when the change shows, and not for what changes nothing that is evaluated', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const seen: unknown[] = [];
    flags.onConfigurationChange((change) => {
      seen.push([change, flags.configuration().flags.map(({ name }) => name)]);
    });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.disable(PRODUCTION);
    const { id } = await flags.createSegment({ name: 'beta', constraints: [] });
    await flags.archiveFlag(PRODUCTION);
    await flags.deleteFlag({ flag: 'checkout' });
    const environment = 'production';
    expect(seen).toEqual([
      [{ environment, flags: ['checkout'], segments: [] }, ['checkout']],
      [{ environment, flags: [], segments: [id] }, ['checkout']],
      [{ environment, flags: ['checkout'], segments: [] }, []],
    ]);
    await flags.close();
  });

  it('is called for each environment that a change concerns', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    flags.configuration({ environment: 'development' });
    const seen: string[] = [];
    flags.onConfigurationChange(({ environment }) => seen.push(environment));
    await flags.updateFlag(PRODUCTION, { description: 'new' });
    await flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    expect(seen).toEqual(['production', 'development', 'development', 'production']);
    await flags.close();
  });

  it('is called for changes of another process', async () => {
    const storage = memoryStorage();
    const flags = await createFlags({ storage, pollInterval: 0 });
    const other = await createFlags({ storage, pollInterval: 0 });
    let calls = 0;
    flags.onConfigurationChange(() => {
      calls += 1;
    });
    await other.createFlag({ project: 'default' }, { name: 'checkout' });
    expect(calls).toBe(0);
    await flags.refresh();
    expect(calls).toBe(1);
    await flags.close();
  });

  it('is not called after its end, and a throwing listener does not affect others', async () => {
    const errors: unknown[] = [];
    const flags = await createFlags({ storage: memoryStorage(), onError: (error) => errors.push(error) });
    let calls = 0;
    flags.onConfigurationChange(() => {
      throw new Error('broken');
    });
    const stop = flags.onConfigurationChange(() => {
      calls += 1;
    });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    stop();
    stop();
    await flags.createFlag({ project: 'default' }, { name: 'search' });
    expect([calls, errors.length]).toEqual([1, 2]);
    await flags.close();
  });
});

describe('closing', () => {
  it('is told as soon as it begins, once, to every actor', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    let calls = 0;
    flags.as('ada').closing.addEventListener('abort', () => {
      calls += 1;
    });
    expect(flags.closing.aborted).toBe(false);
    const closing = flags.close();
    expect([flags.closing.aborted, calls]).toEqual([true, 1]);
    await closing;
    await flags.close();
    expect(calls).toBe(1);
  });
});
