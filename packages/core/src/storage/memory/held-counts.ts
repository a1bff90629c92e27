import type { Resolution } from '../usage-port.js';
import { type CountRow, type CountValues, mergeCount } from '../usage-rules.js';

/** The key of a count without its flag. */
type Place = Omit<CountRow, 'flag' | keyof CountValues>;

/** The counts of one resolution. */
export interface HeldCounts {
  readonly size: number;
  /** Adds to the count with the same key. */
  add(row: CountRow): void;
  remove(row: Place & { readonly flag: string }): void;
  /** Rows may be removed meanwhile. */
  rows(isWanted?: (place: Place) => boolean): Iterable<CountRow>;
}

interface HeldPlace {
  readonly place: Place;
  /** The index of each flag's count. */
  readonly indexes: Map<string, number>;
}

/**
 * Counts of one application and period share their place, and their values are in one array of numbers: an object per count
 * with all its names would take ten times the memory.
 */
export function createHeldCounts(resolution: Resolution): HeldCounts {
  const places = new Map<string, HeldPlace>();
  const values = createValues();
  let size = 0;

  function placeOf(row: Place): HeldPlace {
    const key = placeKey(row);
    const known = places.get(key);
    if (known) return known;
    const { application, environment, variant, start } = row;
    const held = { place: { resolution, application, environment, variant, start }, indexes: new Map() };
    places.set(key, held);
    return held;
  }

  return {
    get size() {
      return size;
    },
    add(row) {
      const { indexes } = placeOf(row);
      const index = indexes.get(row.flag);
      if (index === undefined) {
        size += 1;
        indexes.set(row.flag, values.add(row));
        return;
      }
      const known = values.get(index);
      mergeCount(known, row);
      values.set(index, known);
    },
    remove(row) {
      const key = placeKey(row);
      const indexes = places.get(key)?.indexes;
      const index = indexes?.get(row.flag);
      if (!indexes || index === undefined) return;
      size -= 1;
      values.remove(index);
      indexes.delete(row.flag);
      if (indexes.size === 0) places.delete(key);
    },
    *rows(isWanted = () => true) {
      for (const { place, indexes } of places.values()) {
        if (!isWanted(place)) continue;
        for (const [flag, index] of indexes) yield toRow(place, flag, values.get(index));
      }
    },
  };
}

/** The lengths tell where the names end. */
function placeKey({ application, environment, variant, start }: Place): string {
  return `${start} ${application.length} ${environment.length} ${application}${environment}${variant}`;
}

/** Without a spread: there may be tens of thousands of rows. */
function toRow(
  { resolution, application, environment, variant, start }: Place,
  flag: string,
  { yes, no, at, isPublic, isUnknown }: CountValues,
): CountRow {
  return { resolution, flag, application, environment, variant, start, yes, no, at, isPublic, isUnknown };
}

/** The numbers per count: yes, no, time, and the two conditions as bits. */
const NUMBERS = 4;
const PUBLIC = 1;
const UNKNOWN = 2;

/** Values of counts by index. The indexes of removed ones are used again. */
function createValues() {
  let numbers = new Float64Array(256 * NUMBERS);
  let used = 0;
  const free: number[] = [];

  function set(index: number, { yes, no, at, isPublic, isUnknown }: CountValues): void {
    const bits = (isPublic ? PUBLIC : 0) + (isUnknown ? UNKNOWN : 0);
    const first = index * NUMBERS;
    numbers[first] = yes;
    numbers[first + 1] = no;
    numbers[first + 2] = at;
    numbers[first + 3] = bits;
  }

  return {
    set,
    get(index: number): CountValues {
      const first = index * NUMBERS;
      const bits = numbers[first + 3] ?? 0;
      return {
        yes: numbers[first] ?? 0,
        no: numbers[first + 1] ?? 0,
        at: numbers[first + 2] ?? 0,
        isPublic: (bits & PUBLIC) !== 0,
        isUnknown: (bits & UNKNOWN) !== 0,
      };
    },
    add(given: CountValues): number {
      const index = free.pop() ?? used++;
      if (index * NUMBERS === numbers.length) {
        const longer = new Float64Array(2 * numbers.length);
        longer.set(numbers);
        numbers = longer;
      }
      set(index, given);
      return index;
    },
    remove(index: number): void {
      free.push(index);
    },
  };
}
