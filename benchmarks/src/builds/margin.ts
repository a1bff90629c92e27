/** A release may cost a fifth more than the last one in reads, evaluation and opening. */
const MARGIN = 1.2;

/** @param ratio the cost beside that of the other build */
export function isWithin(ratio: number): 'yes' | 'no' {
  return ratio <= MARGIN ? 'yes' : 'no';
}
