import type { CompiledFlag } from './compiled-flag.js';

const CHUNK_BITS = 6;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;
const SPARE_NUMBERS = 1024;

type Chunk = readonly (CompiledFlag | undefined)[];

/**
 * Flags by name, immutable: a change makes a new table that shares all but the touched chunks with the old one. Names are
 * numbered in a map that all tables of one line share and only ever append to; a table holds chunks by number. So a
 * look-up costs one map access, and a change 64 slots and a pointer per 64 flags.
 */
export class FlagTable {
  private constructor(
    private readonly numbers: Map<string, number>,
    private readonly chunks: readonly Chunk[],
    /** How many flags there are. */
    readonly size: number,
  ) {}

  static empty(): FlagTable {
    return new FlagTable(new Map(), [], 0);
  }

  get(name: string): CompiledFlag | undefined {
    const number = this.numbers.get(name);
    return number === undefined ? undefined : this.chunks[number >> CHUNK_BITS]?.[number & IN_CHUNK];
  }

  /** The table with these flags put in, and those that are undefined taken out. */
  with(changes: ReadonlyMap<string, CompiledFlag | undefined>): FlagTable {
    const chunks = [...this.chunks];
    const touched = new Map<number, (CompiledFlag | undefined)[]>();
    let size = this.size;
    for (const [name, flag] of changes) {
      const number = this.numberOf(name);
      const at = number >> CHUNK_BITS;
      const chunk = touched.get(at) ?? copyOf(this.chunks[at]);
      touched.set(at, chunk);
      size += Number(flag !== undefined) - Number(chunk[number & IN_CHUNK] !== undefined);
      chunk[number & IN_CHUNK] = flag;
    }
    for (const at of touched.keys()) while (chunks.length <= at) chunks.push([]);
    for (const [at, chunk] of touched) chunks[at] = chunk;
    return new FlagTable(this.numbers, chunks, size).compacted();
  }

  /** Whether the two share their numbering: not so when one of them was numbered anew since. */
  isOfLine(other: FlagTable): boolean {
    return this.numbers === other.numbers;
  }

  *[Symbol.iterator](): Generator<[name: string, flag: CompiledFlag]> {
    for (const name of this.numbers.keys()) {
      const flag = this.get(name);
      if (flag !== undefined) yield [name, flag];
    }
  }

  private numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(name, number);
    return number;
  }

  /** Numbers the flags anew when most numbers are those of flags that are gone. */
  private compacted(): FlagTable {
    if (this.numbers.size <= 2 * this.size + SPARE_NUMBERS) return this;
    return FlagTable.empty().with(new Map(this));
  }
}

/** Chunks are empty or full. */
function copyOf(chunk: Chunk | undefined): (CompiledFlag | undefined)[] {
  return chunk?.length ? chunk.slice() : new Array<CompiledFlag | undefined>(CHUNK_SIZE).fill(undefined);
}

/**
 * Which flags use, or once used, a segment. Snapshots of one line share it and only add to it: for each of them it names
 * at least the users that it has.
 */
export class SegmentUsers {
  private readonly users = new Map<number, Set<string>>();

  add(name: string, flag: CompiledFlag): void {
    for (const id of flag.segments) {
      const names = this.users.get(id) ?? new Set();
      this.users.set(id, names.add(name));
    }
  }

  of(segment: number): Iterable<string> {
    return this.users.get(segment) ?? [];
  }
}
