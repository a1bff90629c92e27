import { createFlags } from '../../src/create-flags.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

describe('a listener for changes of the configuration', () => {
  it('is called when the change shows, and not for what changes nothing that is evaluated', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const seen: string[][] = [];
    flags.onConfigurationChange(() => seen.push(flags.configuration().flags.map(({ name }) => name)));
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.disable(PRODUCTION);
    await flags.archiveFlag(PRODUCTION);
    expect(seen).toEqual([['checkout'], []]);
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

  it('is called no more once it has ended, and one that throws keeps nobody else from being called', async () => {
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
