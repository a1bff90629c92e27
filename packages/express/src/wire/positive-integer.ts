/** The positive integer that a part of a path is, or undefined: no leading zeros, nothing that a number cannot hold. */
export function positiveInteger(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
