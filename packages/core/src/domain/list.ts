/** The list with the item that matches replaced in place, or with the new one at its end. */
export function replaceOrAppend<T>(list: readonly T[], matches: (item: T) => boolean, item: T): readonly T[] {
  const index = list.findIndex(matches);
  return index === -1 ? [...list, item] : list.with(index, item);
}
