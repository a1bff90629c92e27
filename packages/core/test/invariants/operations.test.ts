import fc, { readConfigureGlobal, sample, string } from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { createRandom, SEED } from '../../../../test/seed.js';
import type { FlagState } from '../../src/features/flags/flag.js';
import {
  type EvaluationContext,
  type FlagEffect,
  type Flags,
  type FlagsStorage,
  isFlagsError,
  memoryStorage,
  type Segment,
} from '../../src/index.js';
import { PROPERTY_STORAGES } from '../storage-kinds.js';
import { engineOn, type Outcome, outcomeOf } from './engine-under-test.js';
import { expectInvariants } from './invariants.js';
import { carryOut, type Operation, operationsWithRollouts as operations, withSetId } from './random-operations.js';
import { applicable } from './random-sets.js';
import { expectSameOutcomes } from './same-outcomes.js';
import { contentOf } from './stored-content.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

describe('any sequence of operations', () => {
  it('keeps every rule, can be replayed from its events, and fails without any effect', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) await outcomeOf(flags, storage, one);
        await expectInvariants(storage);
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
  });

  it('gives no segment an id that another one has had', async () => {
    let created = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const flags = await engineOn(storage);
        for (const one of sequence) {
          const filter = { type: 'segment-created' };
          const { events } = await storage.events({ order: 'newest-first', limit: 1000, filter });
          const { result } = await outcomeOf(flags, storage, one);
          if (one.call !== 'segments.create' || !result) continue;
          created += 1;
          expect(events.map(({ subject }) => Number(subject.id))).not.toContain((result as Segment).id);
        }
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
    expect(created).toBeGreaterThan(0);
  });
});

describe('repeating operations with their ids', () => {
  /** A UUID for each number. */
  const idOf = (index: number) => `6f1c1f7e-6d0a-4c57-9b8e-${index.toString(16).padStart(12, '0')}`;

  it('gives the first results of any prefix, and changes nothing', async () => {
    let repeated = 0;
    await fc.assert(
      fc.asyncProperty(operations, fc.nat({ max: 100 }), async (sequence, cut) => {
        const storage = memoryStorage();
        const nodes = [await engineOn(storage), await engineOn(storage)] as const;
        const remembered: { readonly operation: Operation; readonly outcome: Outcome }[] = [];
        for (const [index, one] of sequence.entries()) {
          const [flags] = nodes;
          const operation = await withSetId(flags, one, idOf(index));
          const outcome = await outcomeOf(flags, storage, operation);
          const { events } = await storage.events({
            order: 'newest-first',
            limit: 1,
            filter: { changeSet: idOf(index) },
          });
          if (events.length > 0) remembered.push({ operation, outcome });
          if (index % 20 !== cut % 20 && index < sequence.length - 1) continue;
          const before = await contentOf(storage);
          for (const { operation, outcome } of remembered) {
            expect([operation, await outcomeOf(nodes[1], storage, operation)]).toEqual([operation, outcome]);
          }
          repeated += remembered.length;
          expect(await contentOf(storage)).toEqual(before);
        }
        await expectInvariants(storage);
      }),
      { numRuns: extent({ short: 15, full: 300 }) },
    );
    expect(repeated).toBeGreaterThan(0);
  });
});

describe('any change set', () => {
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
          const bodies = async (storage: FlagsStorage) =>
            (await storage.list({ kind, part: 'body' })).map(({ key, content }) => ({ key, content }));
          expect(withNumberedIds(await bodies(one))).toEqual(withNumberedIds(await bodies(other)));
        }
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
  });
});

describe.each(PROPERTY_STORAGES)('operations at the same time, on $name', ({ open }) => {
  it('keep every rule, and can be replayed from their events', async () => {
    await fc.assert(
      fc.asyncProperty(operations, fc.integer({ min: 2, max: 20 }), async (sequence, width) => {
        const { storage, dispose } = await open();
        const flags = await engineOn(storage);
        for (let start = 0; start < sequence.length; start += width) {
          const together = sequence.slice(start, start + width).map((operation) => carryOut(flags, operation));
          for (const outcome of await Promise.allSettled(together)) {
            if (outcome.status === 'rejected' && !isFlagsError(outcome.reason)) throw outcome.reason;
          }
        }
        await expectInvariants(storage);
        await dispose();
      }),
      { numRuns: extent({ short: 8, full: 60 }) },
    );
  });

  it('keep every rule when two instances share the storage', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, dispose } = await open();
        const instances = [await engineOn(storage), await engineOn(storage)] as const;
        const together = sequence.map((operation, index) => carryOut(instances[index % 2 === 0 ? 0 : 1], operation));
        for (const outcome of await Promise.allSettled(together)) {
          if (outcome.status === 'rejected' && !isFlagsError(outcome.reason)) throw outcome.reason;
        }
        await expectInvariants(storage);
        await dispose();
      }),
      { numRuns: extent({ short: 5, full: 30 }) },
    );
  });
});

describe('the same operations', () => {
  it('have the same results, refusals, documents and events on every storage', async () => {
    await expectSameOutcomes(PROPERTY_STORAGES, extent({ short: 4, full: 60 }));
  });
});

describe('the effects of any change set', () => {
  const ENVIRONMENTS = ['development', 'constructor'];
  /** All have ids, so that nothing is drawn at random. */
  const CONTEXTS: readonly EvaluationContext[] = [
    { userId: '7', sessionId: '7' },
    { userId: '8', sessionId: '8', properties: { __proto__: 'a', age: 20, version: '1.2.3', a: '1', b: '2' } },
    { userId: '9', sessionId: '9', properties: { age: 10, a: '3', b: '4' } },
  ];

  /** The results of every flag in every environment, by `environment flag`. */
  function answersOf(flags: Flags): ReadonlyMap<string, string> {
    const answers = new Map<string, string>();
    for (const environment of ENVIRONMENTS) {
      for (const { name } of flags.configuration({ environment }).flags) {
        const all = CONTEXTS.map((context) => flags.getVariant(name, context, { environment }));
        answers.set(`${environment} ${name}`, JSON.stringify(all));
      }
    }
    return answers;
  }

  /** The environments in which stored flags that are not archived have strategies. */
  async function environmentsIn(storage: FlagsStorage): Promise<readonly string[]> {
    const listed = await storage.list({ kind: 'flag', part: 'body' });
    const live = listed.map(({ content }) => content as FlagState).filter(({ archived }) => !archived);
    const environments = live.flatMap((flag) => flag.environments);
    return environments.filter(({ strategies }) => strategies.length > 0).map(({ name }) => name);
  }

  const keyOf = ({ environment, flag, project, before, after, changed }: FlagEffect) =>
    JSON.stringify([environment, flag, project, before, after, changed]);
  const mirrored = ({ before, after, ...effect }: FlagEffect): FlagEffect => ({
    ...effect,
    before: after,
    after: before,
  });

  it('include every flag whose answers change, and their undo has them reversed', async () => {
    const made = { changes: 0, effects: 0 };
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const storage = memoryStorage();
        const { flags, changes } = await applicable(storage, sequence);
        const before = answersOf(flags);
        const stored = await environmentsIn(storage);
        const { effects } = await flags.plan(changes);
        const { id } = await flags.apply(changes);
        const after = answersOf(flags);
        const environments = new Set([...stored, ...(await environmentsIn(storage))]);
        const seen = new Set(effects.map(({ environment, flag }) => `${environment} ${flag}`));
        for (const name of new Set([...before.keys(), ...after.keys()])) {
          const [environment = ''] = name.split(' ');
          if (before.get(name) === after.get(name) || !environments.has(environment)) continue;
          made.changes += 1;
          expect([...seen]).toContain(name);
        }
        made.effects += effects.length;
        const undone = id === null ? [] : (await flags.history.planUndo({ changeSet: id })).effects;
        expect(undone.map(keyOf).sort()).toEqual(effects.map(mirrored).map(keyOf).sort());
        await flags.close();
      }),
      { numRuns: extent({ short: 20, full: 800 }) },
    );
    expect(made).toEqual({ changes: expect.any(Number), effects: expect.any(Number) });
    expect(made.changes).toBeGreaterThan(0);
    expect(made.effects).toBeGreaterThan(0);
  });
});

describe('seeded properties', () => {
  it('tries the same inputs in every run with one seed', () => {
    expect(readConfigureGlobal().seed).toBe(SEED);
    expect(fc.readConfigureGlobal().seed).toBe(SEED);
    expect(sample(string(), 20)).toEqual(sample(string(), { numRuns: 20, seed: SEED }));
  });

  it('draws the same numbers from every source, spread over 0 to 1', () => {
    const [one, other] = [createRandom(), createRandom()];
    const drawn = Array.from({ length: 1_000 }, one);
    expect(Array.from({ length: 1_000 }, other)).toEqual(drawn);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(new Set(drawn).size).toBeGreaterThan(990);
  });
});
