import { createFlags, type Flags, memoryStorage } from '../../src/index.js';
import { type FaultyStorage, faultyStorage } from '../../src/testing.js';
import { CHECKOUT } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const FAILURE = new Error('The disk is gone.');
const INTERVAL = 1000;

describe('an instance that has polled in vain for a long time', () => {
  const heard: string[] = [];
  let storage: FaultyStorage;
  let writer: Flags;
  let reader: Flags;

  beforeEach(async () => {
    const shared = memoryStorage();
    storage = faultyStorage(shared);
    writer = await createFlags({ ...SILENT, storage: shared });
    await createSwitchedOn(writer, { flag: 'checkout' });
    jest.useFakeTimers();
    reader = await createFlags({ ...SILENT, storage, pollInterval: INTERVAL, onError: () => undefined });
    reader.subscribe((event) => void heard.push(event.type));
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(120 * INTERVAL);
    storage.heal();
  });

  afterEach(async () => {
    storage.heal();
    jest.useRealTimers();
    await reader.close();
    await writer.close();
  });

  it('polls at its interval again once the storage was seen to work, whoever asked', async () => {
    expect(await reader.refresh()).toMatchObject({ state: 'current' });
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(INTERVAL);
    expect(reader.status()).toMatchObject({ state: 'stale', error: FAILURE });
  });

  it('does not read any more once it is closed, although it was seen to work just before', async () => {
    const told: unknown[] = [];
    const other = await createFlags({
      ...SILENT,
      storage,
      pollInterval: INTERVAL,
      onError: (error) => told.push(error),
    });
    storage.inject({ error: FAILURE });
    await jest.advanceTimersByTimeAsync(10 * INTERVAL);
    storage.heal();
    const refreshed = other.refresh();
    await other.close();
    await refreshed;
    await jest.advanceTimersByTimeAsync(60 * INTERVAL);
    expect(told).toEqual([FAILURE]);
  });

  it('brings events to its listeners at its interval again once it has changed something itself', async () => {
    await reader.createFlag({ project: 'default' }, { name: 'own' });
    await jest.advanceTimersByTimeAsync(0);
    heard.length = 0;
    await writer.setVariants(CHECKOUT, [{ name: 'blue' }]);
    await jest.advanceTimersByTimeAsync(INTERVAL);
    expect(heard).toEqual(['variants-updated']);
  });
});
