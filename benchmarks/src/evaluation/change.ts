import type { FlagDefinition } from '../../../packages/core/dist/evaluation/definitions.types.js';
import { compileSnapshot } from '../../../packages/core/dist/evaluation/snapshot.js';
import { table } from '../markdown.js';

const ROUNDS = 2_000;

/** What changing one flag costs, among few flags and among many. */
export function changeTable(): string {
  const header = ['flags', 'compiling all, ms', 'one change, µs', '99 of 100 changes within, µs'];
  return table(header, [100, 1_000, 10_000, 100_000].map(rowOf));
}

function rowOf(count: number): readonly string[] {
  const flags = Array.from({ length: count }, (_, at) => flag(at, 50));
  const started = performance.now();
  let snapshot = compileSnapshot({ flags, now: Date.now });
  const compiled = performance.now() - started;
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const change = { flags: [flag((round * 7919) % count, round % 100)] };
    const before = performance.now();
    snapshot = snapshot.with(change);
    costs.push((performance.now() - before) * 1000);
  }
  costs.sort((a, b) => a - b);
  const [median, worst] = [costs[ROUNDS / 2] ?? 0, costs[Math.floor(ROUNDS * 0.99)] ?? 0];
  return [count.toLocaleString('en'), compiled.toFixed(1), median.toFixed(1), worst.toFixed(1)];
}

function flag(at: number, rollout: number): FlagDefinition {
  const name = `flag-${at}`;
  const parameters = { rollout: String(rollout), stickiness: 'default', groupId: name };
  return { name, enabled: true, strategies: [{ name: 'flexibleRollout', parameters }], variants: [] };
}
