/** The sum of two counts. It stops at the largest exact number, as it does on every storage. */
export function boundedSum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** The same in SQL, of an expression. */
export function bounded(sum: string): string {
  return `least(${sum}, ${Number.MAX_SAFE_INTEGER})`;
}
