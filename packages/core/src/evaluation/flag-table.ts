import type { CompiledFlag } from './compiled-flag.js';

const CHUNK_BITS = 6;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;
const UNUSED_NUMBERS_ALLOWED = 1024;

type Chunk = readonly (CompiledFlag | undefined)[];

/**
 * An immutable map of flags by name. A change creates a table that shares all unchanged chunks with the previous one.
 *
 * Names have numbers, in a map that related tables share and only append to. A table holds chunks of flags by number. A
 * look-up costs one map access. A change copies one chunk of 64 slots, and one pointer per chunk.
 */
export class FlagTable {
  private constructor(
    private readonly numbers: Map<string, number>,
    private readonly chunks: readonly Chunk[],
    /** The number of flags. */
    readonly size: number,
  ) {}

  static empty(): FlagTable {
    return new FlagTable(new Map(), [], 0);
  }

  get(name: string): CompiledFlag | undefined {
    const number = this.numbers.get(name);
    return number === undefined ? undefined : this.chunks[number >> CHUNK_BITS]?.[number & IN_CHUNK];
  }

  /** Returns a table with these flags set, and with flags that are undefined removed. */
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

  /** Whether both tables number names alike. False if one of them was renumbered. */
  sharesNumbering(other: FlagTable): boolean {
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

  /** Renumbers the flags if most numbers belong to removed flags. */
  private compacted(): FlagTable {
    if (this.numbers.size <= 2 * this.size + UNUSED_NUMBERS_ALLOWED) return this;
    return FlagTable.empty().with(new Map(this));
  }
}

/** A chunk is either empty or has all its slots. */
function copyOf(chunk: Chunk | undefined): (CompiledFlag | undefined)[] {
  return chunk?.length ? chunk.slice() : new Array<CompiledFlag | undefined>(CHUNK_SIZE).fill(undefined);
}

/**
 * Which flags use a segment, or used it before. Related snapshots share this index and only add to it, so it may list
 * too many flags, never too few.
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
