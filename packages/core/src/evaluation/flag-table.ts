import type { CompiledFlag, FlagSource } from './compiled-flag.js';
import type { FlagDefinition } from './definitions.types.js';

const CHUNK_BITS = 6;
const CHUNK_SIZE = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK_SIZE - 1;
const UNUSED_NUMBERS_ALLOWED = 1024;

/** A flag in a table: compiled, or only its definition. */
export type TableEntry = CompiledFlag | UncompiledFlag;

/** A flag that is compiled when it is first evaluated. */
export interface UncompiledFlag {
  readonly candidates?: undefined;
  readonly definition: FlagDefinition;
  /** Ids of the segments that its strategies use. */
  readonly segments: ReadonlySet<number>;
}

/**
 * Empty, or with all slots. The table replaces entries by compiled ones; related tables that share a chunk compile to the
 * same result.
 */
type Chunk = (TableEntry | undefined)[];

/** Compiles a definition; undefined if it has no name. */
export type Compile = (definition: FlagDefinition) => CompiledFlag | undefined;

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
    private readonly compile: Compile,
  ) {}

  static empty(compile: Compile = () => undefined): FlagTable {
    return new FlagTable(new Map(), [], 0, compile);
  }

  /** Returns a flag, and compiles it if necessary. */
  get(name: string): CompiledFlag | undefined {
    const number = this.numbers.get(name);
    if (number === undefined) return undefined;
    const chunk = this.chunks[number >> CHUNK_BITS];
    if (chunk === undefined) return undefined;
    const slot = number & IN_CHUNK;
    const entry = chunk[slot];
    return entry === undefined || isCompiled(entry) ? entry : this.compileIn(chunk, slot, entry);
  }

  /** Returns a flag, compiled or not. */
  entry(name: string): TableEntry | undefined {
    const number = this.numbers.get(name);
    return number === undefined ? undefined : this.chunks[number >> CHUNK_BITS]?.[number & IN_CHUNK];
  }

  /** Returns a flag if it is compiled. */
  compiled(name: string): CompiledFlag | undefined {
    const entry = this.entry(name);
    return entry && isCompiled(entry) ? entry : undefined;
  }

  /** The flags that are compiled, for compilations that reuse their parts. */
  get compiledFlags(): FlagSource {
    return { get: (name) => this.compiled(name) };
  }

  private compileIn(chunk: Chunk, slot: number, { definition }: UncompiledFlag): CompiledFlag | undefined {
    const flag = this.compile(definition);
    if (flag) chunk[slot] = flag;
    return flag;
  }

  /**
   * Returns a table with these flags set, and with flags that are undefined removed.
   *
   * @param compile compiles flags of the new table that are not compiled yet
   */
  with(changes: ReadonlyMap<string, TableEntry | undefined>, compile: Compile): FlagTable {
    const chunks = [...this.chunks];
    const touched = new Map<number, Chunk>();
    let size = this.size;
    for (const [name, flag] of changes) {
      const number = this.numberOf(name);
      const at = number >> CHUNK_BITS;
      const slot = number & IN_CHUNK;
      const chunk = touched.get(at) ?? copyOf(this.chunks[at]);
      touched.set(at, chunk);
      size += Number(flag !== undefined) - Number(chunk[slot] !== undefined);
      chunk[slot] = flag;
    }
    for (const at of touched.keys()) while (chunks.length <= at) chunks.push([]);
    for (const [at, chunk] of touched) chunks[at] = chunk;
    return new FlagTable(this.numbers, chunks, size, compile).compacted();
  }

  /** Whether both tables number names alike. False if one of them was renumbered. */
  sharesNumbering(other: FlagTable): boolean {
    return this.numbers === other.numbers;
  }

  *[Symbol.iterator](): Generator<[name: string, flag: TableEntry]> {
    for (const name of this.numbers.keys()) {
      const flag = this.entry(name);
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
    return FlagTable.empty().with(new Map(this), this.compile);
  }
}

function copyOf(chunk: Chunk | undefined): Chunk {
  return chunk?.length ? chunk.slice() : new Array<TableEntry | undefined>(CHUNK_SIZE).fill(undefined);
}

function isCompiled(entry: TableEntry): entry is CompiledFlag {
  return entry.candidates !== undefined;
}

/**
 * Which flags use a segment, or used it before. Related snapshots share this index and only add to it, so it may list
 * too many flags, never too few.
 */
export class SegmentUsers {
  private readonly users = new Map<number, Set<string>>();

  add(name: string, { segments }: Pick<TableEntry, 'segments'>): void {
    for (const id of segments) {
      const names = this.users.get(id) ?? new Set();
      this.users.set(id, names.add(name));
    }
  }

  of(segment: number): Iterable<string> {
    return this.users.get(segment) ?? [];
  }
}
