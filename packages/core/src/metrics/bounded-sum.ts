/** The sum of two counts. It stops at the largest exact number, so that no report can make later ones fail. */
export function boundedSum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}
