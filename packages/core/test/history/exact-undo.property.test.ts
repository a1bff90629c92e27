import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { hasHistory } from '../../src/changesets/aggregates.js';
import { type FlagState, inFull } from '../../src/flags/flag.js';
import { stateAt } from '../../src/history/event-log.js';
import type { Storage } from '../../src/storage/port.js';
import { operations } from '../properties/random-operations.js';
import { applicable } from '../properties/random-sets.js';
import { STORAGES } from '../storage-kinds.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/** The value of every document and summary, without revisions. A flag is in full, because an undo keeps its empty parts. */
async function valuesOf(storage: Storage): Promise<Readonly<Record<string, unknown>>> {
  const values: [string, unknown][] = [];
  for (const kind of ['project', 'segment', 'flag', 'dependency']) {
    for (const part of ['body', 'summary'] as const) {
      for (const { key, content } of await storage.list({ kind, part })) {
        values.push([`${part} of ${kind} ${key.id}`, kind === 'flag' && part === 'body' ? toFull(content) : content]);
        if (part === 'summary' || !hasHistory(key)) continue;
        expect((await stateAt(storage, key))?.state).toEqual(content);
      }
    }
  }
  return Object.fromEntries(values);
}

/** Environments have no order of their own: every answer lists them as they are configured. */
function toFull(content: unknown): unknown {
  const { environments, ...flag } = inFull(content as FlagState, ['development', 'constructor']);
  return { ...flag, environments: Object.fromEntries(environments.map((one) => [one.name, one])) };
}

describe.each(STORAGES)('undo of any change set on $name', ({ open }) => {
  it('stores the values of before, and undoing it those after', async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, dispose } = await open();
        const { flags, changes } = await applicable(storage, sequence);
        try {
          const before = await valuesOf(storage);
          const { id } = await flags.apply(changes);
          const after = await valuesOf(storage);
          const undone = id === null ? undefined : await flags.undo(id);
          expect(await valuesOf(storage)).toEqual(before);
          if (typeof undone?.id === 'string') await flags.undo(undone.id);
          expect(await valuesOf(storage)).toEqual(after);
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
