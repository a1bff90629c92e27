import fc from 'fast-check';
import { createDocumentCache } from '../../src/replica/document-cache.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';

const NAMES = ['checkout', '__proto__', 'constructor'] as const;
const LATEST = 6;

interface News {
  readonly name: (typeof NAMES)[number];
  readonly revision: number;
}

/** What each flag is at a revision: at 3 archived, at 5 deleted, else there; the rest tells revisions apart. */
function stateAt({ name, revision }: News): unknown {
  return revision === 5 ? undefined : { name, archived: revision === 3, description: `${revision}` };
}

const ALL: readonly News[] = NAMES.flatMap((name) =>
  Array.from({ length: LATEST }, (_, at) => ({ name, revision: at + 1 })),
);
const NEWS = fc.array(fc.constantFrom(...ALL), { maxLength: 60 });

describe('documents in memory', () => {
  it('end at the latest revision that was told of, in any order and however often', () => {
    fc.assert(
      fc.property(NEWS, (news) => {
        const documents = createDocumentCache(memoryStorage());
        for (const one of news) documents.applyUpdate({ kind: 'flag', id: one.name }, one.revision, stateAt(one));
        for (const name of NAMES) {
          const revision = Math.max(0, ...news.filter((one) => one.name === name).map((one) => one.revision));
          const isThere = revision > 0 && revision !== 5;
          expect(documents.flags.get(name)).toEqual(isThere ? stateAt({ name, revision }) : undefined);
          expect(documents.isNewer({ kind: 'flag', id: name }, revision)).toBe(false);
          expect(documents.isNewer({ kind: 'flag', id: name }, revision + 1)).toBe(true);
        }
      }),
    );
  });

  it('do not change by a repetition, nor by a revision that changes nothing', () => {
    const documents = createDocumentCache(memoryStorage());
    const key = { kind: 'flag', id: 'checkout' };
    const state = { name: 'checkout', archived: false };
    expect(documents.applyUpdate(key, 1, state)).toBe(true);
    expect(documents.applyUpdate(key, 1, { ...state, description: 'late' })).toBe(false);
    expect(documents.applyUpdate(key, 2, { ...state })).toBe(false);
    expect(documents.flags.get('checkout')).toBe(state);
    expect(documents.applyUpdate(key, 3, undefined)).toBe(true);
    expect(documents.applyUpdate(key, 4, undefined)).toBe(false);
  });

  it('are flags and segments, and nothing else', () => {
    const documents = createDocumentCache(memoryStorage());
    expect(documents.applyUpdate({ kind: 'project', id: 'default' }, 1, { id: 'default' })).toBe(false);
    expect(documents.applyUpdate({ kind: 'segment', id: '1' }, 1, { id: 1, name: 'beta', constraints: [] })).toBe(true);
    expect([documents.flags.size, documents.segments.size]).toEqual([0, 1]);
  });
});
