import { type Change, type Flags, type FlagsStorage, isFlagsError } from '../../src/index.js';
import { openFlags } from '../../src/open-flags.js';
import { operationOfMethod } from '../method-names.js';
import { carryOut, type Operation, strategyOf } from './random-operations.js';

const CANDIDATES = 25;

/** An engine whose ids can be restarted, so that a plan and its application create the same ones. */
async function engineOn(storage: FlagsStorage) {
  let ids = 0;
  const flags = await openFlags({
    storage,
    environments: [{ name: 'development' }, { name: 'constructor' }],
    now: () => new Date(Date.UTC(2026, 0, 1)),
    newId: () => `id-${ids++}`,
    pollInterval: 0,
    due: { run: 'elsewhere' },
  });
  const nextIdIs = (id: number) => {
    ids = id;
  };
  return { flags, nextIdIs };
}

/** Operations whose only parameter is the input. */
const INPUT_ONLY: readonly string[] = ['createProject', 'segments.create'];
const SINGLE_ONLY: readonly string[] = [
  ...['changeLabels', 'removeDependencies', 'tokens.create', 'tokens.delete', 'definitions.import'],
];

/** Returns an operation as a change, if change sets may contain it. */
async function toChange(flags: Flags, { call, input }: Operation): Promise<Change | undefined> {
  if (SINGLE_ONLY.includes(call)) return undefined;
  const [first, second] = input;
  const { op } = operationOfMethod(call);
  if (INPUT_ONLY.includes(call)) return { op, input: first } as Change;
  return { op, ref: await strategyOf(flags, first), input: second } as Change;
}

/** A state, and changes that can be made one after the other. Other changes are omitted one by one. */
export async function applicable(storage: FlagsStorage, sequence: readonly Operation[]) {
  const { flags, nextIdIs } = await engineOn(storage);
  for (const one of sequence.slice(0, -CANDIDATES)) await carryOut(flags, one).catch(ignoreRefusal);
  let changes: readonly Change[] = [];
  for (const one of sequence.slice(-CANDIDATES)) {
    const change = await toChange(flags, one);
    if (!change) continue;
    const longer = [...changes, change];
    if (await flags.plan(longer).then(() => true, ignoreRefusal)) changes = longer;
  }
  return { flags, nextIdIs, changes };
}

function ignoreRefusal(error: unknown): false {
  if (!isFlagsError(error)) throw error;
  return false;
}
