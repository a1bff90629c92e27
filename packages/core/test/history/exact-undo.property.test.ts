import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { hasHistory, stateAt } from '../../src/history/event-log.js';
import type { Storage } from '../../src/storage/port.js';
import { operations } from '../properties/random-operations.js';
import { applicable } from '../properties/random-sets.js';
import { STORAGES } from '../storage-kinds.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/** The JSON text of every document and summary, without revisions. */
async function textsOf(storage: Storage): Promise<Readonly<Record<string, string>>> {
  const texts: [string, string][] = [];
  for (const kind of ['project', 'segment', 'flag', 'dependency']) {
    for (const part of ['body', 'summary'] as const) {
      for (const { key, content } of await storage.list({ kind, part })) {
        texts.push([`${part} of ${kind} ${key.id}`, JSON.stringify(content)]);
        if (part === 'summary' || !hasHistory(key)) continue;
        expect(JSON.stringify((await stateAt(storage, key))?.state)).toBe(JSON.stringify(content));
      }
    }
  }
  return Object.fromEntries(texts);
}

describe.each(STORAGES)('undo of any change set on $name', ({ open }) => {
  it('stores the documents before byte for byte, and undoing it those after', async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, dispose } = await open();
        const { flags, changes } = await applicable(storage, sequence);
        try {
          const before = await textsOf(storage);
          const { id } = await flags.apply(changes);
          const after = await textsOf(storage);
          const undone = id === null ? undefined : await flags.undo(id);
          expect(await textsOf(storage)).toEqual(before);
          if (typeof undone?.id === 'string') await flags.undo(undone.id);
          expect(await textsOf(storage)).toEqual(after);
          changed += id === null ? 0 : 1;
        } finally {
          await flags.close();
          await dispose();
        }
      }),
      { numRuns: extent({ short: 12, full: 400 }) },
    );
    expect(changed).toBeGreaterThan(0);
  });
});
