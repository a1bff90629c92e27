import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Awaitable } from './common.types.js';
import { type ErrorDetail, FlagsError, isFlagsError, isStorageFailure, shorten } from './errors.js';
import { invalidInput } from './invalid-input.js';
import { LIMITS } from './limits.js';
import { type JsonSchema, parseIsoDate } from './primitives.js';

export { invalidInput };

/** The texts that options permit for members of an input, by the member's name. */
export type Choices = Readonly<Record<string, readonly string[]>>;

/**
 * Creates a validator. The validator returns its input, typed, or throws `invalid_input` with one detail per issue,
 * each with a JSON Pointer. It does not convert values or add defaults. Unknown members pass unless the schema forbids
 * them.
 *
 * An error lists at most 100 issues, and none inside a list or object that is too large. For an input of more than
 * 10,000 values it lists the first issue only.
 *
 * @param schema compiled at the first use
 * @param findIssues rules that a schema cannot state; called only with input that the schema accepts. Use a generator
 * if there may be many issues: the validator reads at most 100.
 * @param choices what the options permit, which the schema does not say: it is the same for every engine
 * @example
 * const validate = createValidator<{ name: string }>({
 *   type: 'object', properties: { name: { type: 'string' } }, required: ['name'],
 * });
 * validate({ name: 1 }); // FlagsError invalid_input: /name must be string
 */
export function createValidator<T>(
  schema: JsonSchema,
  findIssues: (input: T) => Iterable<ErrorDetail> = () => [],
  choices: Choices = {},
): Validator<T> {
  let accepts: ValidateFunction | undefined;
  return (input) => {
    accepts ??= compileToFirstError(schema);
    const isAccepted = accepts(input);
    const unknown = findUnknown(input, choices);
    if (!isAccepted || unknown.length > 0) throw invalidInput(issuesOf({ accepts, schema, input, unknown }));
    const issues = takeIssues(findIssues(input as T));
    if (issues.length > 0) throw invalidInput(issues);
    return input as T;
  };
}

/** Returns its input, typed, or throws `invalid_input`. */
export type Validator<T> = (input: unknown) => T;

/** Returns the issues of the members whose texts the options do not permit. */
function findUnknown(input: unknown, choices: Choices): readonly ErrorDetail[] {
  return Object.entries(choices).flatMap(([member, permitted]) => {
    const value: unknown = Object(input)[member];
    if (typeof value !== 'string' || permitted.includes(value)) return [];
    return [{ message: oneOf(permitted), path: `/${member}` }];
  });
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

/** `verbose`: messages need the schemas. No `validateSchema`: every schema belongs to the library and is tested. */
const OPTIONS = { allowUnionTypes: true, validateSchema: false, meta: false, verbose: true };
const compileToFirstError = createCompiler(new Ajv(OPTIONS));
const compileToAllErrors = createCompiler(new Ajv({ ...OPTIONS, allErrors: true }));

/**
 * Returns a function that compiles each schema once. Schemas are known by their text, so that instances with equal
 * settings share one compilation: Ajv never releases a compiled schema.
 */
function createCompiler(ajv: Ajv): (schema: JsonSchema) => ValidateFunction {
  ajv.addFormat('date-time', (text: string) => parseIsoDate(text) !== undefined);
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, validate);
    return validate;
  };
}

/** Ajv creates an error object per invalid value and cannot stop early. Larger inputs get one issue only. */
const MOST_VALUES = 10_000;

interface Refusal {
  /** The validation function that has just refused the input. */
  readonly accepts: ValidateFunction;
  readonly schema: JsonSchema;
  readonly input: unknown;
  /** What the options do not permit. */
  readonly unknown: readonly ErrorDetail[];
}

/** Lists the issues of a refused input, at most {@link LIMITS.issues}. */
function issuesOf({ accepts, schema, input, unknown }: Refusal): readonly ErrorDetail[] {
  const found = takeErrors(accepts);
  if (hasMoreValues(input, MOST_VALUES)) return merge(schema, found.map(toDetail), unknown).slice(0, 1);
  const validate = compileToAllErrors(schema);
  validate(input);
  return merge(schema, takeErrors(validate).map(toDetail), unknown).slice(0, LIMITS.issues);
}

/** Puts the issues of members that the options do not permit where the schema has these members. */
function merge(
  schema: JsonSchema,
  issues: readonly ErrorDetail[],
  unknown: readonly ErrorDetail[],
): readonly ErrorDetail[] {
  const members = Object.keys(Object(schema.properties));
  const placeOf = ({ path = '' }: ErrorDetail) => members.indexOf(path.split('/')[1] ?? '');
  return unknown.reduce((merged, one) => {
    const before = merged.findLastIndex((issue) => placeOf(issue) < placeOf(one));
    return merged.toSpliced(before + 1, 0, one);
  }, issues);
}

/** Returns the errors to report. The function forgets them: they refer to the input. */
function takeErrors(validate: ValidateFunction): readonly ErrorObject[] {
  const errors = validate.errors ?? [];
  validate.errors = null;
  return errorsToReport(errors);
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

/**
 * Drops repeated errors: `if` repeats the errors of its branch, and `enum` those of `type`. Drops the errors inside a
 * list or object that is too large.
 */
function errorsToReport(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const placesOf = (...keywords: readonly string[]) =>
    new Set(errors.filter(({ keyword }) => keywords.includes(keyword)).map(({ instancePath }) => instancePath));
  const mistyped = placesOf('type');
  const large = [...placesOf('maxItems', 'maxProperties')];
  return errors.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'if' &&
      !(keyword === 'enum' && mistyped.has(instancePath)) &&
      !large.some((path) => instancePath.startsWith(`${path}/`)),
  );
}

function toDetail(error: ErrorObject): ErrorDetail {
  const path = error.instancePath;
  const member = error.params.missingProperty ?? error.params.additionalProperty ?? error.params.propertyName;
  return { message: messageOf(error), path: member === undefined ? path : childPath(path, String(member)) };
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known here';
    case 'enum':
      return oneOf(error.params.allowedValues);
    case 'pattern':
      return `must be ${String(error.parentSchema?.description ?? `text that matches ${error.params.pattern}`)}`;
    case 'format':
      return 'must be an ISO 8601 date and time';
    case 'type':
      return Array.isArray(error.params.type)
        ? `must be ${describeTypes(error.params.type)}`
        : `must be ${error.params.type}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.join(', ')}`;
}

const ALTERNATIVES = new Intl.ListFormat('en', { type: 'disjunction' });

/** Words alternative JSON types: `an integer or null`. Ajv would join them by commas. */
function describeTypes(types: readonly string[]): string {
  return ALTERNATIVES.format(types.map((type) => (type === 'null' ? type : withArticle(type))));
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Creates a JSON Pointer (RFC 6901) to a member. Shortens the name: it may be as long as the input. */
function childPath(path: string, name: string): string {
  return `${path}/${shorten(name, LIMITS.issuePath).replaceAll('~', '~0').replaceAll('/', '~1')}`;
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

/** Returns the words for a kind of document, for messages. */
export function toNoun(kind: string): string {
  return kind.replaceAll('-', ' ');
}
