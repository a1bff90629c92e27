/** Rows with a key of two parts, each key once: rows of one key are merged into one. */
export interface MergedRows<First, Row> {
  add(first: First, second: string, row: Row): void;
  /** By the order in which the keys came. */
  forEach(visit: (row: Row, first: First, second: string) => void): void;
}

export function mergedRows<First, Row>(merge: (one: Row, next: Row) => Row): MergedRows<First, Row> {
  const groups = new Map<First, Map<string, Row>>();
  return {
    add(first, second, row) {
      const group = groups.get(first) ?? new Map<string, Row>();
      const before = group.get(second);
      group.set(second, before === undefined ? row : merge(before, row));
      groups.set(first, group);
    },
    forEach(visit) {
      for (const [first, group] of groups) for (const [second, row] of group) visit(row, first, second);
    },
  };
}
