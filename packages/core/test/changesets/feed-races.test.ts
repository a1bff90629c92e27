import { createFeed } from '../../src/events/feed.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { Storage } from '../../src/storage/port.js';
import { faultyStorage } from '../../src/testing.js';
import { happen, hearing } from './listening.js';

const options = { pollInterval: 0, onError: (error: unknown) => expect(error).toBeUndefined() };

describe('a subscription that begins now', () => {
  it('asks once where to begin, so that nothing committed after the answer is taken for the beginning', async () => {
    const memory = memoryStorage();
    const storage = faultyStorage(memory);
    const late = storage.inject({
      when: ({ method, input }) => method === 'events' && input[0].order === 'newest-first',
      nth: 2,
      times: 100,
      hang: true,
    });
    const feed = createFeed({ storage, ...options });
    const { heard, listener } = hearing();
    feed.subscribe(listener);
    await feed.ready();
    await happen(memory, 'a');
    late.release();
    feed.wake();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(heard).toEqual(['a']);
    await feed.close();
  });
});

describe('a wake', () => {
  it.each(Array.from({ length: 30 }, (_, ticks) => ticks))(
    'is heard when it comes %i ticks after a read that found nothing',
    async (ticks) => {
      const memory = memoryStorage();
      for (const id of ['before', 'a']) await happen(memory, id);
      const [before] = (await memory.events({ order: 'oldest-first', limit: 1 })).events;
      let visible = false;
      let isRead = false;
      const storage: Storage = {
        ...memory,
        async events(query) {
          const page = visible ? await memory.events(query) : { events: [] };
          isRead = true;
          return page;
        },
      };
      const feed = createFeed({ storage, ...options });
      const { heard, listener } = hearing();
      feed.subscribe(listener, before?.position);
      while (!isRead) await Promise.resolve();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      visible = true;
      feed.wake();
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      expect(heard).toEqual(['a']);
      await feed.close();
    },
  );
});
