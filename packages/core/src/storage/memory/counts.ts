import { type CountRow, mergeCount } from '../usage/rules.js';

/** A count in memory. */
export type HeldCount = Omit<CountRow, 'resolution'>;

/** The counts of one resolution. */
export interface MemoryCounts {
  readonly size: number;
  /** Adds to the count with the same key. */
  add(row: CountRow): void;
  rows(): Iterable<HeldCount>;
  removeWhere(isRemoved: (row: HeldCount) => boolean): void;
}

export function memoryCounts(): MemoryCounts {
  const places = new Map<string, Place>();
  let size = 0;

  function placeOf(row: CountRow): Place {
    const { application, environment, start, variant } = row;
    const key = `${start} ${variant === '' ? '' : 'variants'} ${application.length} ${application}${environment}`;
    const place = places.get(key) ?? { application, environment, start, counts: new Map() };
    places.set(key, place);
    return place;
  }

  return {
    get size() {
      return size;
    },
    add(row) {
      const place = placeOf(row);
      // The flag as it is, because its text is in memory anyway.
      const key = row.variant === '' ? row.flag : `${row.flag.length} ${row.flag}${row.variant}`;
      const known = place.counts.get(key);
      if (known) return mergeCount(known, row);
      place.counts.set(key, new Count(place, row));
      size += 1;
    },
    *rows() {
      for (const { counts } of places.values()) yield* counts.values();
    },
    removeWhere(isRemoved) {
      for (const [placeKey, { counts }] of places) {
        for (const [key, count] of counts) if (isRemoved(count) && counts.delete(key)) size -= 1;
        if (counts.size === 0) places.delete(placeKey);
      }
    },
  };
}

/** An application, environment and period, with its counts of flags or of variants. A report may have thousands. */
interface Place extends Pick<CountRow, 'application' | 'environment' | 'start'> {
  readonly counts: Map<string, Count>;
}

/** Shares its place: so it needs less than half of the memory of a row. */
class Count implements HeldCount {
  private readonly place: Place;
  readonly flag: string;
  readonly variant: string;
  yes: number;
  no: number;
  at: number;
  isPublic: boolean;
  isUnknown: boolean;

  constructor(place: Place, { flag, variant, yes, no, at, isPublic, isUnknown }: CountRow) {
    this.place = place;
    this.flag = flag;
    this.variant = variant;
    this.yes = yes;
    this.no = no;
    this.at = at;
    this.isPublic = isPublic;
    this.isUnknown = isUnknown;
  }

  get application(): string {
    return this.place.application;
  }

  get environment(): string {
    return this.place.environment;
  }

  get start(): number {
    return this.place.start;
  }
}
