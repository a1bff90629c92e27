import { type Change, createFlags, type EvaluationContext, type Flags, memoryStorage } from '@flags/core';
import { table } from '../markdown.js';

const ROUNDS = 30;
const CONTEXTS = 1_000;
const PRODUCTION = { project: 'default', environment: 'production' };

/** What a preview of one changed flag costs, among few flags and among many. */
export async function previewTable(): Promise<string> {
  const header = ['flags', 'preview, ms', 'slowest preview, ms', 'longest stall, ms'];
  const rows: (readonly string[])[] = [];
  for (const count of [100, 1_000, 10_000]) rows.push(await rowOf(count));
  return table(header, rows);
}

async function rowOf(count: number): Promise<readonly string[]> {
  const flags = await createFlags({ storage: memoryStorage(), usageInterval: 0 });
  for (let first = 0; first < count; first += 100) await flags.apply(changesOf(first, Math.min(100, count - first)));
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
    ref: { ...PRODUCTION, flag: 'flag-50' },
    input: { enabled: true, strategies: [rollout('flag-50', round)] },
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

function changesOf(first: number, count: number): readonly Change[] {
  return Array.from({ length: count }, (_, at) => `flag-${first + at}`).flatMap((name): Change[] => [
    { op: 'createFlag', ref: PRODUCTION, input: { name } },
    {
      op: 'configureEnvironment',
      ref: { ...PRODUCTION, flag: name },
      input: { enabled: true, strategies: [rollout(name, 50)] },
    },
  ]);
}

function rollout(name: string, percentage: number) {
  return { name: 'flexibleRollout', parameters: { rollout: `${percentage}`, stickiness: 'default', groupId: name } };
}
