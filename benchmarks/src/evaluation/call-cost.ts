import { do_not_optimize, measure } from 'mitata';

type Call = (number: number) => unknown;

/** Nanoseconds of one call, the median; every call gets the next number. */
export async function nanosecondsPerCall(call: Call): Promise<number> {
  let number = 0;
  const { p50 } = await measure(() => do_not_optimize(call(number++)), {});
  return p50;
}

const FEW = 50_000;
const MANY = 1_000_000;
const ROUNDS = 5;

/**
 * Bytes that one call allocates on the heap. Few calls are enough where something is allocated, and no collection falls
 * between them when the young generation is large; that nothing is, is told of a million calls.
 */
export function bytesPerCall(call: Call): number {
  const roughly = heapGrowth(call, FEW) / FEW;
  return roughly > 1 ? roughly : heapGrowth(call, MANY) / MANY;
}

function heapGrowth(call: Call, calls: number): number {
  if (globalThis.gc === undefined) throw new Error('Run node with --expose-gc.');
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (let number = 0; number < calls; number++) call(number);
    smallest = Math.min(smallest, process.memoryUsage().heapUsed - before);
  }
  return smallest;
}
