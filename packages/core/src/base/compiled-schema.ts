import { type ErrorDetail, shorten } from './errors.js';
import { LIMITS } from './limits.js';
import { parseIsoDate } from './primitives.js';

/**
 * A JSON Schema as a function, which reports what the schema does not accept. `scripts/compile-schemas.mjs` writes them, so
 * that no code is compiled from strings at run time.
 *
 * @param path the JSON Pointer to the value
 */
export type CompiledSchema = (value: unknown, path: string, run: SchemaRun) => void;

/** A keyword whose issue makes others superfluous; or `member`: the issue is about a member of the value. */
type ReportedKeyword = 'type' | 'enum' | 'maxItems' | 'maxProperties' | 'member';

/** An input with more values than this gets one issue only. */
const MOST_VALUES = 10_000;

/** Ends a run that has found enough. */
const ENOUGH = Symbol('enough');

/** The validation of one input by a compiled schema, which calls these methods. */
export class SchemaRun {
  private readonly issues: ErrorDetail[] = [];
  private readonly mistyped = new Set<string>();
  private readonly large: string[] = [];
  private limit: number | undefined;

  constructor(private readonly input: unknown) {}

  /** The largest number of issues: an input of very many values gets one. Counted only for input with an issue. */
  get most(): number {
    this.limit ??= hasMoreValues(this.input, MOST_VALUES) ? 1 : LIMITS.issues;
    return this.limit;
  }

  findIssues(compiled: CompiledSchema): readonly ErrorDetail[] {
    try {
      compiled(this.input, '', this);
    } catch (error) {
      if (error !== ENOUGH) throw error;
    }
    return this.issues;
  }

  /**
   * Adds an issue. Drops it inside of a list or object that is too large, and for a value that is of the wrong type and not in
   * the enum either.
   */
  add(path: string, message: string, keyword?: ReportedKeyword, member?: string): void {
    if (keyword === 'enum' && this.mistyped.has(path)) return;
    if (this.large.some((place) => path.startsWith(`${place}/`))) return;
    if (keyword === 'type') this.mistyped.add(path);
    if (keyword === 'maxItems' || keyword === 'maxProperties') this.large.push(path);
    this.issues.push({ message, path: member === undefined ? path : childPath(path, member) });
    if (this.issues.length >= this.most) throw ENOUGH;
  }

  /** Counts the characters of a text as JSON Schema does: a surrogate pair is one. */
  lengthOf(text: string): number {
    const { length } = text;
    let pairs = 0;
    for (let index = 1; index < length; index += 1) {
      if (!isLowSurrogate(text.charCodeAt(index)) || !isHighSurrogate(text.charCodeAt(index - 1))) continue;
      pairs += 1;
      index += 1;
    }
    return length - pairs;
  }

  isDateTime(text: string): boolean {
    return parseIsoDate(text) !== undefined;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Counts members and items at every depth, up to the limit. */
function hasMoreValues(input: unknown, limit: number): boolean {
  const open = [input];
  let count = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    // The keys of a long list would be as many texts in memory.
    if (Array.isArray(value)) {
      count += value.length;
      if (count > limit) return true;
      for (const item of value) open.push(item);
      continue;
    }
    // `Object.values` would copy a hundred thousand members before the first is counted, which takes 60 ms.
    for (const key in value) {
      count += 1;
      if (count > limit) return true;
      open.push((value as Readonly<Record<string, unknown>>)[key]);
    }
  }
  return false;
}

/** Creates a JSON Pointer (RFC 6901) to a member. Shortens the name: it may be as long as the input. */
function childPath(path: string, name: string): string {
  return `${path}/${shorten(name, LIMITS.issuePath).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
