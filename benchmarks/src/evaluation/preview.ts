import { type Change, type EvaluationContext, type Flags, memoryStorage, openFlags } from '@flags/core';
import { table } from '../markdown.js';
import { placeAt, populate, rolloutOf } from '../population.js';

const ROUNDS = 30;
const CONTEXTS = 1_000;

/** The cost of a preview of one changed flag, among few flags and among many. */
export async function previewTable(): Promise<string> {
  const header = ['flags', 'preview, ms', 'slowest preview, ms', 'longest stall, ms'];
  const rows: (readonly string[])[] = [];
  for (const count of [100, 1_000, 10_000]) rows.push(await rowOf(count));
  return table(header, rows);
}

async function rowOf(count: number): Promise<readonly string[]> {
  const flags = await openFlags({ storage: memoryStorage(), usage: { interval: 0 } });
  await populate(flags, { flags: count, projects: 1 });
  const contexts = Array.from({ length: CONTEXTS }, (_, at): EvaluationContext => ({ userId: `user-${at * 7919}` }));
  const costs: number[] = [];
  let stall = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { cost, longest } = await measure(flags, round, contexts);
    costs.push(cost);
    stall = Math.max(stall, longest);
  }
  await flags.close();
  costs.sort((a, b) => a - b);
  const figures = [costs[ROUNDS / 2] ?? 0, costs.at(-1) ?? 0, stall];
  return [count.toLocaleString('en'), ...figures.map((figure) => figure.toFixed(1))];
}

/** Returns the time of one preview, and the longest time without a turn of the event loop, in milliseconds. */
async function measure(flags: Flags, round: number, contexts: readonly EvaluationContext[]) {
  const change: Change = {
    op: 'configureEnvironment',
    ref: placeAt(50),
    input: { enabled: true, strategies: [rolloutOf('flag-00050', round)] },
  };
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const begun = performance.now();
  const { flags: previewed } = await flags.preview([change], { environment: 'production', contexts });
  const cost = performance.now() - begun;
  isOver = true;
  if (previewed.length !== 1) throw new Error('The preview concerns other flags.');
  return { cost, longest };
}
