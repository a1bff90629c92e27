import fc from 'fast-check';
import { copyJson, freezeJson } from '../../src/base/json.js';
import { flagDocumentsIn } from '../../src/features/environments/flag-documents.js';
import { REGISTRY } from '../../src/features.js';
import type { Flags } from '../../src/index.js';
import { DocumentCache } from '../../src/kernel/replica/document-cache.js';
import { openFlags } from '../../src/open-flags.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { SILENT } from './silent.js';
import { createSwitchedOn } from './switched-on.js';

const USERS = [{ contextName: 'userId', operator: 'IN' as const, values: ['ada'] }];
const OTHER = { ...DEFAULT, flag: 'other' } as const;

/** Two flags, and a segment that the first one uses. */
async function configured(start: Start): Promise<Flags> {
  const flags = await start(SILENT);
  const { id } = await flags.segments.create({ name: 'beta', constraints: USERS });
  await createSwitchedOn(flags, { flag: 'other', strategies: [{ name: 'default', segments: [id] }] });
  await createSwitchedOn(flags, { flag: 'checkout' });
  return flags;
}

async function movesStamp(flags: Flags, change: () => Promise<unknown>): Promise<boolean> {
  const before = flags.configuration();
  await change();
  const after = flags.configuration();
  expect(after === before).toBe(after.version === before.version);
  return after.version !== before.version;
}

function configurationOf(flags: Flags, flag: string) {
  return flags.configuration().flags.find(({ name }) => name === flag);
}

onEveryStorage((start) => {
  describe('the configuration', () => {
    it('has flags in name order and segments by id, as clients evaluate them, and nothing else', async () => {
      const flags = await configured(start);
      await flags.addDependency(CHECKOUT, { flag: 'other', variants: ['blue'] });
      const { flags: both, segments } = flags.configuration();
      expect(both).toEqual([
        {
          ...{ name: 'checkout', project: 'default', type: 'release', description: '', stale: false, enabled: true },
          ...{ impressionData: false, labels: [], variants: [] },
          strategies: [{ id: expect.any(String), name: 'default', parameters: {}, constraints: [] }],
          dependencies: [{ flag: 'other', enabled: true, variants: ['blue'] }],
        },
        expect.objectContaining({ name: 'other', dependencies: [] }),
      ]);
      expect(segments).toEqual([{ id: 1, name: 'beta', constraints: USERS }]);
    });

    it('is the same object until something changes', async () => {
      const flags = await configured(start);
      flags.isEnabled('checkout');
      expect(flags.configuration()).toBe(flags.configuration({ environment: 'production' }));
      expect(flags.configuration({ environment: 'development' })).toBe(
        flags.configuration({ environment: 'development' }),
      );
      expect(flags.configuration()).not.toBe(flags.configuration({ environment: 'development' }));
    });

    it('keeps the objects of flags that did not change', async () => {
      const flags = await configured(start);
      const [checkout, other] = [configurationOf(flags, 'checkout'), configurationOf(flags, 'other')];
      await flags.disable(PRODUCTION);
      expect(configurationOf(flags, 'checkout')).not.toBe(checkout);
      expect(configurationOf(flags, 'other')).toBe(other);
    });

    it.each<[string, (flags: Flags) => Promise<unknown>]>([
      ['a flag is created', (flags) => flags.createFlag(DEFAULT, { name: 'new' })],
      ['a flag is described', (flags) => flags.updateFlag(CHECKOUT, { description: 'new' })],
      ['a flag is switched off', (flags) => flags.disable(PRODUCTION)],
      ['a strategy is added', (flags) => flags.addStrategy(PRODUCTION, { name: 'default' })],
      [
        'a strategy is added elsewhere',
        (flags) => flags.addStrategy({ ...PRODUCTION, environment: 'development' }, { name: 'default' }),
      ],
      ['variants are set', (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue' }])],
      ['a dependency is added', (flags) => flags.addDependency(CHECKOUT, { flag: 'other' })],
      ['a flag is archived', (flags) => flags.archiveFlag(CHECKOUT)],
      ['a segment is created', (flags) => flags.segments.create({ name: 'second', constraints: [] })],
      ['a segment is changed', (flags) => flags.segments.update({ segment: 1 }, { constraints: [] })],
    ])('changes its stamp when %s', async (_what, change) => {
      const flags = await configured(start);
      flags.configuration({ environment: 'development' });
      expect(await movesStamp(flags, () => change(flags))).toBe(true);
    });

    it('changes its stamp when a flag is revived, not when an archived one is deleted', async () => {
      const flags = await configured(start);
      await flags.archiveFlag(CHECKOUT);
      expect(await movesStamp(flags, () => flags.reviveFlag({ flag: 'checkout' }))).toBe(true);
      await flags.archiveFlag(CHECKOUT);
      expect(await movesStamp(flags, () => flags.deleteFlag({ flag: 'checkout' }))).toBe(false);
    });

    it('keeps its stamp after changes without an effect on evaluation', async () => {
      const flags = await configured(start);
      const keep = async (change: () => Promise<unknown>) => expect(await movesStamp(flags, change)).toBe(false);
      await keep(() => flags.enable(PRODUCTION));
      await keep(() => flags.updateFlag(CHECKOUT, { stale: false }));
      await keep(() => flags.setVariants(CHECKOUT, []));
      await keep(() => flags.createProject({ id: 'second', name: 'Second' }));
      await keep(() => flags.addMember(DEFAULT, { userId: 7, roleId: 4 }));
      await keep(() => flags.refresh());
      await keep(async () => flags.isEnabled('checkout'));
      await keep(() => expect(flags.createFlag(DEFAULT, { name: 'checkout' })).rejects.toThrow());
    });

    it('keeps the objects of a parent and a segment that others start to refer to', async () => {
      const flags = await configured(start);
      const { flags: before } = flags.configuration();
      const parent = before.find(({ name }) => name === 'other');
      await flags.addDependency(CHECKOUT, { flag: 'other' });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] });
      expect(configurationOf(flags, 'other')).toBe(parent);
    });

    it('equals the state of the flag itself', async () => {
      const flags = await configured(start);
      const { environments } = await flags.getFlag(OTHER);
      const { enabled, strategies } = environments.find(({ name }) => name === 'production') ?? {};
      expect(configurationOf(flags, 'other')).toMatchObject({ enabled, strategies });
    });
  });
});

describe('configuration changes', () => {
  const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

  describe('a listener for changes of the configuration', () => {
    it('is called when the change is visible, and not for changes without an effect on evaluation', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
      const seen: unknown[] = [];
      flags.onConfigurationChange((change) => {
        seen.push([change, flags.configuration().flags.map(({ name }) => name)]);
      });
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.disable(PRODUCTION);
      const { id } = await flags.segments.create({ name: 'beta', constraints: [] });
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

    it('is called for each affected environment', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
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
      const flags = await openFlags({ storage, pollInterval: 0 });
      const other = await openFlags({ storage, pollInterval: 0 });
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
      const flags = await openFlags({ storage: memoryStorage(), onError: (error) => errors.push(error) });
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
    it('is announced once, as soon as it starts, to every actor', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
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
});

describe('documents in memory', () => {
  const NAMES = ['checkout', '__proto__', 'constructor'] as const;
  const LATEST = 6;

  interface News {
    readonly name: (typeof NAMES)[number];
    readonly revision: number;
  }

  /**
   * What each flag is at a revision: at 3 archived, at 5 deleted, otherwise live. The description differs at each
   * revision.
   */
  function stateAt({ name, revision }: News): unknown {
    return revision === 5 ? undefined : { name, archived: revision === 3, description: `${revision}` };
  }

  const ALL: readonly News[] = NAMES.flatMap((name) =>
    Array.from({ length: LATEST }, (_, at) => ({ name, revision: at + 1 })),
  );
  const NEWS = fc.array(fc.constantFrom(...ALL), { maxLength: 60 });

  it('have the latest announced revision in the end, in any order and however often', () => {
    fc.assert(
      fc.property(NEWS, (news) => {
        const documents = new DocumentCache(REGISTRY);
        for (const one of news) documents.applyUpdate({ kind: 'flag', id: one.name }, one.revision, stateAt(one));
        for (const name of NAMES) {
          const revision = Math.max(0, ...news.filter((one) => one.name === name).map((one) => one.revision));
          const isThere = revision > 0 && revision !== 5;
          expect(flagDocumentsIn(documents).flags.get(name)).toEqual(isThere ? stateAt({ name, revision }) : undefined);
          expect(documents.isNewer({ kind: 'flag', id: name }, revision)).toBe(false);
          expect(documents.isNewer({ kind: 'flag', id: name }, revision + 1)).toBe(true);
        }
      }),
    );
  });

  it('do not change after a repetition, nor after a revision without a change', () => {
    const documents = new DocumentCache(REGISTRY);
    const key = { kind: 'flag', id: 'checkout' };
    const state = { name: 'checkout', archived: false };
    expect(documents.applyUpdate(key, 1, state)).toBe(true);
    expect(documents.applyUpdate(key, 1, { ...state, description: 'late' })).toBe(false);
    expect(documents.applyUpdate(key, 2, { ...state })).toBe(false);
    expect(flagDocumentsIn(documents).flags.get('checkout')).toBe(state);
    expect(documents.applyUpdate(key, 3, undefined)).toBe(true);
    expect(documents.applyUpdate(key, 4, undefined)).toBe(false);
  });

  it('include flags and segments, and nothing else', () => {
    const documents = new DocumentCache(REGISTRY);
    expect(documents.applyUpdate({ kind: 'project', id: 'default' }, 1, { id: 'default' })).toBe(false);
    expect(documents.applyUpdate({ kind: 'segment', id: '1' }, 1, { id: 1, name: 'beta', constraints: [] })).toBe(true);
    const { flags, segments } = flagDocumentsIn(documents);
    expect([flags.size, segments.size]).toEqual([0, 1]);
  });
});

describe('a copy of a JSON value beside a known one', () => {
  const KEYS = ['name', '__proto__', 'constructor', '0'] as const;

  /** Values of few members and leaves, so that two of them often have parts in common; some members are undefined. */
  const { value: someValue } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(null, true, '', 'a', 0, -0, 1),
      fc.array(fc.oneof(tie('value'), fc.constant(undefined)), { maxLength: 3 }),
      fc
        .uniqueArray(
          fc.tuple(fc.constantFrom(...KEYS), fc.oneof({ weight: 4, arbitrary: tie('value') }, fc.constant(undefined))),
          { selector: ([key]) => key },
        )
        .map((members) => Object.fromEntries(members)),
    ),
  }));

  const json = (value: unknown): unknown => freezeJson(JSON.parse(JSON.stringify(value)));

  /** As the replica keeps the state of a change: a copy, with the equal parts of the state before. */
  const kept = (value: unknown, known: unknown): unknown => freezeJson(copyJson(value), known);

  /** All objects and arrays in a value. */
  function partsOf(value: unknown): readonly object[] {
    if (typeof value !== 'object' || value === null) return [];
    return [value, ...Object.values(value).flatMap(partsOf)];
  }

  function reversed(value: unknown): unknown {
    return reordered(value, (members) => members.reverse());
  }

  function sorted(value: unknown): unknown {
    return reordered(value, (members) => members.sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  function reordered(value: unknown, order: (members: [string, unknown][]) => [string, unknown][]): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => reordered(item, order));
    const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, reordered(member, order)]);
    return Object.fromEntries(order(members));
  }

  it('equals the parsed JSON of the value', () => {
    fc.assert(
      fc.property(someValue, someValue, (value, known) => {
        const leaves = partsOf(kept([value], [])).flatMap(Object.values);
        expect(leaves.some((leaf) => Object.is(leaf, -0))).toBe(false);
        // As text first, because a comparison of members would ignore `__proto__`.
        expect(JSON.stringify(sorted(kept(value, json(known))))).toBe(JSON.stringify(sorted(json(value))));
      }),
    );
  });

  it('shares no part with the value', () => {
    fc.assert(
      fc.property(someValue, someValue, (value, known) => {
        const parts = new Set(partsOf(value));
        expect(partsOf(kept(value, json(known))).filter((part) => parts.has(part))).toEqual([]);
      }),
    );
  });

  it('is the known value where nothing has changed, whatever the order of members', () => {
    fc.assert(
      fc.property(someValue, (value) => {
        const known = json(value);
        expect(kept(reversed(value), known)).toBe(known);
      }),
    );
  });

  it('uses the known part for each equal part of the value', () => {
    fc.assert(
      fc.property(someValue, someValue, (one, other) => {
        const known = json([one]) as unknown[];
        const copy = kept([one, other], known);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(json([one, other])));
        expect((copy as unknown[])[0]).toBe(known[0]);
      }),
    );
  });

  it('keeps the known parts beside the changed ones', () => {
    const known = { variants: [{ name: 'a' }], environments: [{ name: 'one' }, { name: 'two' }] };
    const copy = kept({ ...known, environments: [{ name: 'one' }, { name: 'other' }] }, known) as typeof known;
    expect(copy).toEqual({ variants: [{ name: 'a' }], environments: [{ name: 'one' }, { name: 'other' }] });
    expect(copy.variants).toBe(known.variants);
    expect(copy.environments[0]).toBe(known.environments[0]);
    expect(kept({ variants: known.variants }, known)).toEqual({ variants: [{ name: 'a' }] });
  });
});
