import { type Change, type Flags, paginate } from '../../src/index.js';

const DEFAULT = { project: 'default' };
/** Every set changes the first two flags, and two of the others. */
const SHARED = ['x', 'y'];
const OTHERS = ['f0', 'f1', 'f2', 'f3'];

export async function createCrossedFlags(flags: Flags): Promise<void> {
  await flags.apply(
    [...SHARED, ...OTHERS].map((name): Change => ({ op: 'createFlag', ref: DEFAULT, input: { name } })),
  );
}

/** The set of one of four nodes in a round. The nodes name the flags in different orders. */
export function crossingSet(round: number, node: number): readonly Change[] {
  const names = [...SHARED, ...[node, node + 1].map((index) => OTHERS[index % 4] ?? '')];
  const rotated = names.map((_, index) => names[(index + node + round) % names.length] ?? '');
  return rotated.map((flag): Change => {
    return { op: 'updateFlag', ref: { ...DEFAULT, flag }, input: { description: `${round}-${node}` } };
  });
}

/** Watches the shared flags of an instance. Returns the states that show a part of a set only. */
export function watchForParts(flags: Flags): readonly string[][] {
  const parts: string[][] = [];
  flags.onConfigurationChange(() => {
    const all = flags.configuration({ environment: 'production' }).flags;
    const shown = SHARED.map((shared) => `${all.find(({ name }) => name === shared)?.description}`);
    if (new Set(shown).size > 1) parts.push(shown);
  });
  return parts;
}

/** Expects that every set of these rounds was applied once, and as a whole. */
export async function expectWholeSets(flags: Flags, rounds: number): Promise<void> {
  const { total } = await flags.events.list({ type: 'flag-updated', limit: 0 });
  expect(total).toBe(rounds * 4 * 4);
  for (const flag of SHARED) expect((await flags.getFlag({ ...DEFAULT, flag })).revision).toBe(1 + rounds * 4);
  for (const flag of OTHERS) expect((await flags.getFlag({ ...DEFAULT, flag })).revision).toBe(1 + rounds * 2);
  const sets = new Map<string, string[]>();
  for await (const { changeSet, flag } of paginate((page) => flags.events.list({ type: 'flag-updated', ...page }))) {
    sets.set(`${changeSet}`, [...(sets.get(`${changeSet}`) ?? []), `${flag}`]);
  }
  expect(sets.size).toBe(rounds * 4);
  expect([...sets.values()].filter((named) => new Set(named).size !== 4)).toEqual([]);
}
