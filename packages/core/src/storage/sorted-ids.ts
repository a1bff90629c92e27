import { compareCodePoints } from '../code-point-order.js';

/** Puts an id into its place in code-point order; the list must not hold it yet. */
export function insertSorted(ids: string[], id: string): void {
  ids.splice(placeOf(ids, id), 0, id);
}

/** Takes an id out of a list in code-point order, if it is there. */
export function removeSorted(ids: string[], id: string): void {
  const place = placeOf(ids, id);
  if (ids[place] === id) ids.splice(place, 1);
}

/** The index of the first id that is not before `id`. */
function placeOf(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareCodePoints(ids[middle] ?? '', id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
