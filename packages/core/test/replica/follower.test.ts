import { createFlags, memoryStorage } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { CHECKOUT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

/** A feed that brings every page backwards and every event twice, as no storage may. */
function disorderly(storage: Storage): Storage {
  return {
    get: (key) => storage.get(key),
    list: (query) => storage.list(query),
    commit: (commit) => storage.commit(commit),
    close: () => storage.close(),
    async events(query) {
      const { events } = await storage.events(query);
      return { events: query.order === 'newest-first' ? events : [...events, ...events].reverse() };
    },
  };
}

/** A storage that keeps the names of the documents that are read one by one. */
function observing(storage: Storage): { readonly storage: Storage; readonly read: string[] } {
  const read: string[] = [];
  const get: Storage['get'] = (key) => {
    read.push(key.id);
    return storage.get(key);
  };
  return { storage: { ...storage, get }, read };
}

describe('following the feed', () => {
  it('ends at the same state in whatever order, and however often, events come', async () => {
    const shared = memoryStorage();
    const writer = await createFlags({ ...SILENT, storage: shared });
    const reader = await createFlags({ ...SILENT, storage: disorderly(shared) });
    await createSwitchedOn(writer, { flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'second' });
    await writer.archiveFlag(CHECKOUT);
    await writer.deleteFlag({ flag: 'checkout' });
    await createSwitchedOn(writer, { flag: 'checkout', strategies: [onlyFor('ada')] });
    await writer.disable({ ...PRODUCTION, flag: 'second' });
    await reader.refresh();
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
    expect([reader.isEnabled('checkout'), reader.isEnabled('checkout', { userId: 'ada' })]).toEqual([false, true]);
    await writer.close();
  });

  it('reads a document once, however many pages of events tell of it', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const writer = await createFlags({ ...SILENT, storage: shared });
    const reader = await createFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(writer, { flag: 'checkout' });
    for (let change = 0; change < 1_200; change++) await writer.updateFlag(CHECKOUT, { description: `${change}` });
    read.length = 0;
    await reader.refresh();
    expect(read).toEqual(['checkout']);
    expect(reader.configuration().flags).toEqual(writer.configuration().flags);
    await writer.close();
  });

  it('reads a document once, however many events tell of it', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const writer = await createFlags({ ...SILENT, storage: shared });
    const reader = await createFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(writer, { flag: 'checkout' });
    for (const flag of ['blue', 'green']) await writer.setVariants(CHECKOUT, [{ name: flag }]);
    read.length = 0;
    await reader.refresh();
    await reader.refresh();
    expect(read).toEqual(['checkout']);
    await writer.close();
  });

  it('reads nothing that this process has written itself', async () => {
    const shared = memoryStorage();
    const { storage: observed, read } = observing(shared);
    const flags = await createFlags({ ...SILENT, storage: observed });
    await createSwitchedOn(flags, { flag: 'checkout' });
    read.length = 0;
    await flags.refresh();
    expect(read).toEqual([]);
    await flags.close();
  });
});
