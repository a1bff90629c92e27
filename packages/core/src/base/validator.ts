import type { Awaitable } from './common.types.js';
import { type ErrorDetail, FlagsError, isFlagsError, isStorageFailure, shorten } from './errors.js';
import { invalidInput } from './invalid-input.js';
import { LIMITS } from './limits.js';
import { parseIsoDate } from './primitives.js';

export { invalidInput };

/** What the options permit, which a schema does not say: it is the same for every engine. */
export interface Choices {
  /** The texts that are permitted, by the member's name. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
  /** The members of the schema, in its order, which is that of the issues. */
  readonly members: readonly string[];
}

/**
 * Creates a validator. The validator returns its input, typed, or throws `invalid_input` with one detail per issue,
 * each with a JSON Pointer. It does not convert values or add defaults. Unknown members pass unless the schema forbids
 * them.
 *
 * An error lists at most 100 issues, and none inside a list or object that is too large. For an input of more than
 * 10,000 values it lists the first issue only.
 *
 * @param compiled an export of `compiled-schemas.js`: the schemas of each package are compiled when it is built
 * @param findIssues rules that a schema cannot state; called only with input that the schema accepts. Use a generator
 * if there may be many issues: the validator reads at most 100.
 * @example
 * const validate = createValidator<Parent>(compiled.parent);
 * validate({ name: 1 }); // FlagsError invalid_input: /name must be string
 */
export function createValidator<T>(
  compiled: CompiledSchema,
  findIssues: (input: T) => Iterable<ErrorDetail> = () => [],
  choices?: Choices,
): Validator<T> {
  return (input) => {
    const found = findSchemaIssues(compiled, input, choices);
    if (found.length > 0) throw invalidInput(found);
    const issues = takeIssues(findIssues(input as T));
    if (issues.length > 0) throw invalidInput(issues);
    return input as T;
  };
}

/** Checks an input by its schema: returns it, typed, or throws `invalid_input`. */
export type Validator<T> = (input: unknown) => T;

/** Lists the issues that the schema and the options find, at most {@link LIMITS.issues}. */
function findSchemaIssues(compiled: CompiledSchema, input: unknown, choices?: Choices): readonly ErrorDetail[] {
  const run = new SchemaRun(input);
  const found = run.findIssues(compiled);
  const unknown = choices ? findUnknown(input, choices) : [];
  return choices && unknown.length > 0 ? merge(found, unknown, choices).slice(0, run.most) : found;
}

/** Returns the issues of the members whose texts the options do not permit. */
function findUnknown(input: unknown, { texts }: Choices): readonly ErrorDetail[] {
  return Object.entries(texts).flatMap(([member, permitted]) => {
    const value: unknown = Object(input)[member];
    if (typeof value !== 'string' || permitted.includes(value)) return [];
    return [{ message: `must be one of ${permitted.join(', ')}`, path: `/${member}` }];
  });
}

/** Puts the issues of members that the options do not permit where the schema has these members. */
function merge(
  issues: readonly ErrorDetail[],
  unknown: readonly ErrorDetail[],
  { members }: Choices,
): readonly ErrorDetail[] {
  const placeOf = ({ path = '' }: ErrorDetail) => members.indexOf(path.split('/')[1] ?? '');
  return unknown.reduce((merged, one) => {
    const before = merged.findLastIndex((issue) => placeOf(issue) < placeOf(one));
    return merged.toSpliced(before + 1, 0, one);
  }, issues);
}

function takeIssues(found: Iterable<ErrorDetail>): readonly ErrorDetail[] {
  const issues: ErrorDetail[] = [];
  for (const issue of found) {
    issues.push(issue);
    if (issues.length >= LIMITS.issues) break;
  }
  return issues;
}

/**
 * Returns a rule against repeated texts. `uniqueItems` compares every two items, which takes too long for long lists.
 */
export function uniqueTexts<T>(member: keyof T & string): (input: T) => readonly ErrorDetail[] {
  const message = `must be unique among the ${member}`;
  return (input) =>
    ((input[member] ?? []) as readonly string[]).flatMap((text, index, texts) =>
      texts.indexOf(text) < index ? [{ message, path: `/${member}/${index}` }] : [],
    );
}

/**
 * Runs a check of one part of the input. Its refusals name the part: the paths of their details begin there. Passes on
 * storage failures and defects unchanged.
 *
 * @param path a JSON Pointer to the part; undefined if the input has no such part
 * @param member where the paths of details begin below the part. Details without a path are about the part itself.
 */
export async function locateRefusals<T>(
  path: string | undefined,
  check: () => Awaitable<T>,
  member: '' | '/input' = '',
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (path === undefined || !isFlagsError(error) || isStorageFailure(error)) throw error;
    const details = error.details.map((detail) => {
      return { ...detail, path: detail.path === undefined ? path : `${path}${member}${detail.path}` };
    });
    // The message of such an error names the path of its first issue.
    const namesPath = error.code === 'invalid_input' && error.details.some((detail) => detail.path !== undefined);
    if (namesPath) throw invalidInput(details);
    throw new FlagsError(error.code, error.message, details, { cause: error });
  }
}

/**
 * Copies the members of an input that are known and present. Inputs are not copied whole, because a request may have a
 * hundred thousand unknown members.
 */
export function pickMembers<T extends object>(input: T, members: readonly string[]): T {
  const given = input as Readonly<Record<string, unknown>>;
  const present = members.filter((member) => given[member] !== undefined);
  return Object.fromEntries(present.map((member) => [member, given[member]])) as T;
}

/**
 * Throws `invalid_input` unless the first argument of a method is an object. It may be absent if all its members are
 * optional.
 *
 * @param members the names of its members, for the message; those of optional members end in `?`
 */
export function assertReference(method: string, members: readonly string[], reference: unknown): void {
  if (typeof reference === 'object' && reference !== null) return;
  if (reference === undefined && members.every((member) => member.endsWith('?'))) return;
  const call = `${method}({ ${members.join(', ').replaceAll('?', '')} })`;
  throw invalidInput([{ message: `${method} needs an object as its first argument, as in ${call}`, path: '' }]);
}

/** Throws `invalid_input` for options that are neither absent nor an object. */
export function assertOptions(method: string, options: unknown): void {
  if (options === undefined || (typeof options === 'object' && options !== null)) return;
  throw invalidInput([{ message: `the options of ${method} must be an object`, path: '' }]);
}

/** Throws `invalid_input` for a reference that is not a string. */
export function assertText(kind: string, id: unknown): void {
  if (typeof id === 'string') return;
  const member = kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  throw invalidInput([{ message: `must name ${withArticle(toNoun(kind))}, as a string`, path: `/${member}` }]);
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Returns the words for a kind of document, for messages. */
export function toNoun(kind: string): string {
  return kind.replaceAll('-', ' ');
}

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
