import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { memoryStorage, type Storage } from '../../src/index.js';
import { expectInvariants } from './invariants.js';
import { operations } from './random-operations.js';
import { applicable } from './random-sets.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/** Numbers generated ids in the order of their appearance. */
function withNumberedIds(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value).replace(/"id-\d+"/g, (id) => {
    if (!ids.has(id)) ids.set(id, `"#${ids.size}"`);
    return ids.get(id) ?? id;
  });
  return JSON.parse(text);
}

const essence = ({ type, project, flag, environment, data, before }: Readonly<Record<string, unknown>>) => {
  return { type, project, flag, environment, data, before };
};

describe('any change set', () => {
  it('has the effect of its plan', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const { flags, nextIdIs, changes } = await applicable(storage, sequence);
        nextIdIs(10_000);
        const { documents } = await flags.plan(changes);
        nextIdIs(10_000);
        const { events, revisions } = await flags.apply(changes);
        made += events.length;
        const planned = documents.flatMap((document) => document.events);
        const sorted = (all: readonly object[]) => all.map((one) => JSON.stringify(essence({ ...one }))).sort();
        expect(sorted(planned)).toEqual(sorted(events));
        expect(documents.map(({ kind, id }) => `${kind}/${id}`).sort()).toEqual(Object.keys(revisions).sort());
        for (const { kind, id, after } of documents) {
          if (kind === 'token') continue;
          const stored = await storage.get({ kind, id });
          expect(JSON.parse(JSON.stringify(after))).toEqual(stored?.body ?? null);
        }
        await expectInvariants(storage);
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
    expect(made).toBeGreaterThan(0);
  });

  it('has the effect of its changes in sequence', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const [one, other] = [memoryStorage(), memoryStorage()];
        const together = await applicable(one, sequence);
        const apart = await applicable(other, sequence);
        const { events } = await together.flags.apply(together.changes);
        const single = [];
        for (const change of apart.changes) single.push(...(await apart.flags.apply([change])).events);
        expect(withNumberedIds(events.map((event) => essence({ ...event })))).toEqual(
          withNumberedIds(single.map((event) => essence({ ...event }))),
        );
        for (const kind of ['project', 'flag', 'segment', 'segment-registry', 'dependency', 'token']) {
          const bodies = async (storage: Storage) =>
            (await storage.list({ kind, part: 'body' })).map(({ key, content }) => ({ key, content }));
          expect(withNumberedIds(await bodies(one))).toEqual(withNumberedIds(await bodies(other)));
        }
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
  });
});
