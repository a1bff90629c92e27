import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import type { FlagState } from '../../src/flags/flag.js';
import { type Effect, type EvaluationContext, type Flags, memoryStorage, type Storage } from '../../src/index.js';
import { operations } from './random-operations.js';
import { applicable } from './random-sets.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

const ENVIRONMENTS = ['development', 'constructor'];
/** All have ids, so that nothing is drawn at random. */
const CONTEXTS: readonly EvaluationContext[] = [
  { userId: '7', sessionId: '7' },
  { userId: '8', sessionId: '8', properties: { __proto__: 'a', age: 20, version: '1.2.3', a: '1', b: '2' } },
  { userId: '9', sessionId: '9', properties: { age: 10, a: '3', b: '4' } },
];

/** What every flag answers in every environment, by `environment flag`. */
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
async function environmentsIn(storage: Storage): Promise<readonly string[]> {
  const listed = await storage.list({ kind: 'flag', part: 'body' });
  const live = listed.map(({ content }) => content as FlagState).filter(({ archived }) => !archived);
  const environments = live.flatMap((flag) => flag.environments);
  return environments.filter(({ strategies }) => strategies.length > 0).map(({ name }) => name);
}

const keyOf = ({ environment, flag, project, before, after, changed }: Effect) =>
  JSON.stringify([environment, flag, project, before, after, changed]);
const mirrored = ({ before, after, ...effect }: Effect): Effect => ({ ...effect, before: after, after: before });

describe('the effects of any change set', () => {
  it('have every flag whose answers change, and their undo has them the other way round', async () => {
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
        const undone = id === null ? [] : (await flags.planUndo(id)).effects;
        expect(undone.map(keyOf).sort()).toEqual(effects.map(mirrored).map(keyOf).sort());
        await flags.close();
      }),
      { numRuns: extent({ short: 40, full: 800 }) },
    );
    expect(made).toEqual({ changes: expect.any(Number), effects: expect.any(Number) });
    expect(made.changes).toBeGreaterThan(0);
    expect(made.effects).toBeGreaterThan(0);
  });
});
