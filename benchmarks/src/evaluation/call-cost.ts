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
 * Bytes that one call allocates on the heap. A few calls are enough for a call that allocates: with a large young
 * generation, no collection runs between them. A million calls show that a call allocates nothing.
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
