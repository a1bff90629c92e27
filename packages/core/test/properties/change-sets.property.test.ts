import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { createFlags } from '../../src/create-flags.js';
import { type Change, type Flags, isFlagsError, memoryStorage, type Storage } from '../../src/index.js';
import { expectInvariants } from './invariants.js';
import { carryOut, type Operation, operations, strategyOf } from './random-operations.js';

jest.setTimeout(120_000);

const CANDIDATES = 25;

/** An engine whose ids can begin anew, so that a plan and its application make the same ones. */
async function engineOn(storage: Storage) {
  let ids = 0;
  const flags = await createFlags({
    storage,
    environments: [{ name: 'development' }, { name: 'constructor' }],
    now: () => new Date(Date.UTC(2026, 0, 1)),
    newId: () => `id-${ids++}`,
    pollInterval: 0,
  });
  const nextIdIs = (id: number) => {
    ids = id;
  };
  return { flags, nextIdIs };
}

/** Operations whose only parameter is the input. */
const INPUT_ONLY: readonly string[] = ['createProject', 'createSegment'];
const SINGLE_ONLY: readonly string[] = [
  ...[
    'patchFlag',
    'patchStrategy',
    'patchVariants',
    'changeLabels',
    'removeDependencies',
    'createToken',
    'deleteToken',
  ],
];

/** The change that an operation is, if change sets may contain it. */
async function toChange(flags: Flags, { call, input }: Operation): Promise<Change | undefined> {
  if (SINGLE_ONLY.includes(call)) return undefined;
  const [first, second] = input;
  if (INPUT_ONLY.includes(call)) return { op: call, input: first } as Change;
  return { op: call, ref: await strategyOf(flags, first), input: second } as Change;
}

/** A state, and changes that can be made one after the other. Others are left out one by one. */
async function applicable(sequence: readonly Operation[]) {
  const storage = memoryStorage();
  const { flags, nextIdIs } = await engineOn(storage);
  for (const one of sequence.slice(0, -CANDIDATES)) await carryOut(flags, one).catch(ignoreRefusal);
  let changes: readonly Change[] = [];
  for (const one of sequence.slice(-CANDIDATES)) {
    const change = await toChange(flags, one);
    if (!change) continue;
    const longer = [...changes, change];
    if (await flags.plan(longer).then(() => true, ignoreRefusal)) changes = longer;
  }
  return { storage, flags, nextIdIs, changes };
}

function ignoreRefusal(error: unknown): false {
  if (!isFlagsError(error)) throw error;
  return false;
}

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
  it('does what its plan shows', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const { storage, flags, nextIdIs, changes } = await applicable(sequence);
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
      { numRuns: extent({ short: 25, full: 400 }) },
    );
    expect(made).toBeGreaterThan(0);
  });

  it('does what its changes do one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (sequence) => {
        const together = await applicable(sequence);
        const apart = await applicable(sequence);
        const { events } = await together.flags.apply(together.changes);
        const single = [];
        for (const change of apart.changes) single.push(...(await apart.flags.apply([change])).events);
        expect(withNumberedIds(events.map((event) => essence({ ...event })))).toEqual(
          withNumberedIds(single.map((event) => essence({ ...event }))),
        );
        for (const kind of ['project', 'flag', 'segment', 'segment-registry', 'dependency', 'token']) {
          const bodies = async (storage: Storage) =>
            (await storage.list({ kind, part: 'body' })).map(({ key, content }) => ({ key, content }));
          expect(withNumberedIds(await bodies(together.storage))).toEqual(withNumberedIds(await bodies(apart.storage)));
        }
      }),
      { numRuns: extent({ short: 15, full: 400 }) },
    );
  });
});
