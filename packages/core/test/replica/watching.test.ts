import { until } from '../../../../test/until.js';
import { createFlags, memoryStorage } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

/** A storage whose watchers are told by hand. */
function watched(storage: Storage) {
  const watchers = new Set<() => void>();
  return {
    watchers,
    tell: () => {
      for (const onChange of watchers) onChange();
    },
    storage: {
      ...storage,
      watch(onChange: () => void) {
        watchers.add(onChange);
        return () => void watchers.delete(onChange);
      },
    },
  };
}

describe('a storage that tells of changes', () => {
  it('has evaluation and subscriptions look at once, without polling', async () => {
    const shared = memoryStorage();
    const { storage, tell } = watched(shared);
    const writer = await createFlags({ ...SILENT, storage: shared, pollInterval: 0 });
    const reader = await createFlags({ ...SILENT, storage, pollInterval: 0 });
    const heard: string[] = [];
    reader.subscribe((event) => void heard.push(event.type));
    await createSwitchedOn(writer, { flag: 'checkout' });
    expect(reader.isEnabled('checkout')).toBe(false);
    tell();
    await until(() => reader.isEnabled('checkout') && heard.includes('flag-created'));
    await reader.close();
  });

  it('is not watched any more once the flags are closed', async () => {
    const { storage, watchers } = watched(memoryStorage());
    const flags = await createFlags({ ...SILENT, storage });
    expect(watchers.size).toBe(1);
    await flags.close();
    expect(watchers.size).toBe(0);
  });
});
