/**
 * Orders text by Unicode code points, as databases order UTF-8. JavaScript's `<` compares UTF-16 units and so puts
 * U+10000 and above (surrogate pairs) before U+E000–U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** The index of the first item whose name is not before `name`, of items that are in the order of their names. */
export function lowerBound<Item>(items: readonly Item[], name: string, nameOf: (item: Item) => string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareCodePoints(nameOf(items[middle] as Item), name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Ranks a UTF-16 unit so that surrogates come after every other unit. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Items in groups by a key, groups and their items in the order in which they first come. */
export function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
