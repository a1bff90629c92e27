import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type ErrorDetail, FlagsError, shorten } from '../errors.js';
import { LIMITS } from './limits.js';
import { type JsonSchema, parseIsoDate } from './primitives.js';

/**
 * Creates a validator. The validator returns its input, typed, or throws `invalid_input` with one detail per issue,
 * each with a JSON Pointer. It converts nothing and adds no defaults. Unknown members pass unless the schema forbids
 * them.
 *
 * Validation stops at 100 issues. It does not look into a list or object that is too large.
 *
 * @param schema compiled at the first use
 * @param findIssues rules that a schema cannot state; called only with input that the schema accepts. Use a generator if
 * there may be many issues: the validator reads at most 100.
 * @example
 * const validate = createValidator<{ name: string }>({
 *   type: 'object', properties: { name: { type: 'string' } }, required: ['name'],
 * });
 * validate({ name: 1 }); // FlagsError invalid_input: /name must be string
 */
export function createValidator<T>(
  schema: JsonSchema,
  findIssues: (input: T) => Iterable<ErrorDetail> = () => [],
): (input: unknown, stored?: unknown) => T {
  let decide: ValidateFunction<T> | undefined;
  let node: ReturnType<typeof toSchemaNode> | undefined;
  return (input, stored) => {
    decide ??= compileSchema<T>(schema);
    if (!decide(input)) {
      node ??= toSchemaNode(schema);
      const { issues, isExcused } = listIssues(node, input, stored);
      // Ajv also validates inherited members, which the list of issues does not cover.
      if (issues.length > 0 || !isExcused) throw invalidInput(issues.length > 0 ? issues : WRONG_SHAPE);
    }
    const issues = takeIssues(findIssues(input as T));
    if (issues.length > 0) throw invalidInput(issues);
    return input as T;
  };
}

/**
 * Returns its input, typed, or throws `invalid_input`.
 *
 * @param stored what the input replaces. It may exceed limits that older releases did not have: the input may then have as
 * many items, and texts as long, as the same part of what is stored.
 */
export type Validator<T> = (input: unknown, stored?: unknown) => T;

const WRONG_SHAPE: readonly ErrorDetail[] = [{ message: 'has the wrong shape', path: '' }];

function takeIssues(found: Iterable<ErrorDetail>): readonly ErrorDetail[] {
  const issues: ErrorDetail[] = [];
  for (const issue of found) {
    issues.push(issue);
    if (issues.length >= LIMITS.issues) break;
  }
  return issues;
}

/** Returns a rule: a list has no text twice. `uniqueItems` would compare every two items of a list of any length. */
export function uniqueTexts<T>(member: keyof T & string): (input: T) => readonly ErrorDetail[] {
  const message = `must be unique among the ${member}`;
  return (input) =>
    ((input[member] ?? []) as readonly string[]).flatMap((text, index, texts) =>
      texts.indexOf(text) < index ? [{ message, path: `/${member}/${index}` }] : [],
    );
}

/** Creates the `invalid_input` error for these issues. The message names the first one. */
export function invalidInput(issues: readonly ErrorDetail[]): FlagsError {
  const [first] = issues;
  const place = first?.path ? `${first.path} ` : '';
  const message = `The input is not valid: ${place}${first?.message ?? 'it has the wrong shape'}${othersOf(issues)}`;
  return new FlagsError('invalid_input', /[.?]$/.test(message) ? message : `${message}.`, issues);
}

/** At the limit, the total number of issues is unknown. */
function othersOf({ length }: readonly ErrorDetail[]): string {
  if (length < 2) return '';
  return length < LIMITS.issues ? ` (and ${length - 1} more)` : ` (and at least ${LIMITS.issues - 1} more)`;
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

/** All schemas are our own, and tested: comparing them with the schema of schemas would take a third of the first use. */
const OPTIONS = { allowUnionTypes: true, validateFormats: true, validateSchema: false, meta: false };
/** Stops at the first error. Not verbose, because each function would keep its last invalid input. */
const firstErrorAjv = withFormats(new Ajv(OPTIONS));
/**
 * Returns all errors, with their schemas for the messages. Ajv cannot stop early, so it only checks schemas with few
 * possible errors.
 */
const allErrorsAjv = withFormats(new Ajv({ ...OPTIONS, allErrors: true, verbose: true }));

/** Keywords about the items or members of a value. */
const CONTENT_KEYWORDS = ['items', 'properties', 'additionalProperties', 'propertyNames'];
/** Keywords that give at most one error, or one per member that the schema names. */
const OWN_KEYWORDS = [
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'required'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'description', 'default', 'title', 'examples'],
];
/** Keywords that combine schemas. */
const COMBINING_KEYWORDS = ['if', 'then', 'else', 'not', 'allOf', 'anyOf', 'oneOf'];

/** Compiles a schema to a function that only decides whether a value is valid. */
function compileSchema<T>(schema: JsonSchema): ValidateFunction<T> {
  const text = JSON.stringify(schema);
  const compiled = compiledSchemas.get(text) ?? firstErrorAjv.compile(schema);
  compiledSchemas.set(text, compiled);
  return compiled as ValidateFunction<T>;
}

/**
 * Keyed by the schema's text, so that instances with equal settings share one compilation. Ajv never releases a
 * compiled schema, so a process that opens many instances must not compile copies.
 */
const compiledSchemas = new Map<string, ValidateFunction>();

/**
 * Lists the issues of an invalid value, in the order of Ajv, at most {@link LIMITS.issues}. Does not look into a list
 * or object that is too large: Ajv itself would create an error object for each of half a million items.
 *
 * An indivisible part of the schema, such as `anyOf` about items, gives its first issue only.
 */
function listIssues(schema: SchemaNode, value: unknown, stored: unknown): Found {
  const found: Found = { issues: [], isExcused: false };
  collectIssues(schema, { value, path: '', found, stored: stored === undefined ? [] : [stored] });
  return found;
}

interface Found {
  readonly issues: ErrorDetail[];
  /** Whether the value is too long somewhere, and no longer than what is stored there. */
  isExcused: boolean;
}

/** A schema, divided into its rules for the value itself and its rules for items and members. */
interface SchemaNode {
  readonly own: () => ValidateFunction;
  readonly items: SchemaNode | undefined;
  readonly members: ReadonlyMap<string, SchemaNode>;
  /** For members that the schema does not name; false forbids them. */
  readonly otherMembers: SchemaNode | false | undefined;
  readonly names: SchemaNode | undefined;
}

function toSchemaNode(schema: JsonSchema): SchemaNode {
  const isDivisible = isFlat(withoutContents(schema));
  const { items, properties = {}, additionalProperties, propertyNames } = isDivisible ? schema : {};
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  return {
    own: isDivisible ? compileLazily(allErrorsAjv, withoutContents(schema)) : compileLazily(firstErrorAjv, schema),
    items: nodeOf(items),
    members: new Map(members.map(([name, member]) => [name, toSchemaNode(member)])),
    otherMembers: additionalProperties === false ? false : nodeOf(additionalProperties),
    names: nodeOf(propertyNames),
  };
}

/** Whether a schema has no rules for items and members, and so gives few errors. */
function isFlat(schema: JsonSchema): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    if (OWN_KEYWORDS.includes(keyword)) return true;
    if (keyword === 'properties') return Object.values(value as object).every(isWithoutRules);
    return COMBINING_KEYWORDS.includes(keyword) && [value].flat().every((part) => isFlat(part as JsonSchema));
  });
}

/** Returns whether a schema has no rules. Such a schema documents a member, and accepts every value. */
function isWithoutRules(schema: object): boolean {
  return Object.keys(schema).length === 0;
}

interface Location {
  readonly value: unknown;
  readonly path: string;
  readonly found: Found;
  /** The stored values that this value may have been. */
  readonly stored: readonly unknown[];
}

const LENGTHS = ['maxItems', 'maxProperties', 'maxLength'];

function collectIssues(schema: SchemaNode, { value, path, found, stored }: Location): void {
  const own = schema.own();
  if (!own(value)) {
    const all = own.errors ?? [];
    // Releases the input, which verbose errors hold until the next error.
    own.errors = null;
    const errors = stored.some((one) => lengthOf(one) >= lengthOf(value))
      ? all.filter(({ keyword }) => !LENGTHS.includes(keyword))
      : all;
    found.isExcused ||= errors.length < all.length;
    append(
      found,
      errorsToReport(errors).map((error) => toDetail(error, path)),
    );
    if (errors.some(({ keyword }) => keyword === 'maxItems' || keyword === 'maxProperties')) return;
  }
  if (Array.isArray(value)) collectFromItems(schema, { items: value, path, found, stored });
  else if (typeof value === 'object' && value !== null) collectFromMembers(schema, { value, path, found, stored });
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : -1;
}

/** An item may have been any stored item. */
function collectFromItems(
  { items: schema }: SchemaNode,
  { items, path, found, stored }: Omit<Location, 'value'> & { readonly items: readonly unknown[] },
): void {
  if (!schema) return;
  const candidates = stored.flatMap((one) => (Array.isArray(one) ? one : []));
  for (let index = 0; index < items.length && !isFull(found); index++) {
    collectIssues(schema, { value: items[index], path: `${path}/${index}`, found, stored: candidates });
  }
}

function storedMembers(stored: readonly unknown[], name: string): readonly unknown[] {
  return stored.flatMap((one) => {
    const isPresent = typeof one === 'object' && one !== null && Object.hasOwn(one, name);
    return isPresent ? [memberOf(one, name)] : [];
  });
}

function collectFromMembers(
  { names, members, otherMembers }: SchemaNode,
  { value, path, found, stored }: Location & { readonly value: object },
): void {
  // Listing a hundred thousand members takes as long as a third of parsing them, and most schemas do not need the list.
  const own = names || otherMembers !== undefined ? Object.keys(value) : [];
  for (const name of names ? own : []) {
    if (isFull(found)) return;
    collectFromName(names as SchemaNode, { value: name, path, found, stored: [] });
  }
  for (const name of otherMembers === undefined ? [] : own) {
    if (isFull(found)) return;
    if (members.has(name)) continue;
    const place = {
      value: memberOf(value, name),
      path: childPath(path, name),
      found,
      stored: storedMembers(stored, name),
    };
    if (otherMembers) collectIssues(otherMembers, place);
    else found.issues.push({ message: 'is not known here', path: place.path });
  }
  for (const [name, member] of members) {
    if (isFull(found)) return;
    if (!Object.hasOwn(value, name) || memberOf(value, name) === undefined) continue;
    const place = { value: memberOf(value, name), path: childPath(path, name), found };
    collectIssues(member, { ...place, stored: storedMembers(stored, name) });
  }
}

function collectFromName(
  names: SchemaNode,
  { value: name, path, found, stored }: Location & { readonly value: string },
): void {
  const before = found.issues.length;
  collectIssues(names, { value: name, path, found, stored });
  if (found.issues.length === before) return;
  append(found, [{ message: 'property name must be valid', path: childPath(path, name) }]);
}

function append({ issues }: Found, more: readonly ErrorDetail[]): void {
  issues.push(...more.slice(0, LIMITS.issues - issues.length));
}

function isFull({ issues }: Found): boolean {
  return issues.length >= LIMITS.issues;
}

/** Drops repeated errors: `if` repeats the errors of its branch, and `enum` those of `type`. */
function errorsToReport(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return errors.filter(
    ({ keyword, instancePath }) => keyword !== 'if' && (keyword !== 'enum' || !mistyped.has(instancePath)),
  );
}

function toDetail(error: ErrorObject, parent: string): ErrorDetail {
  const path = `${parent}${error.instancePath}`;
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
      return `must be one of ${error.params.allowedValues.join(', ')}`;
    case 'pattern':
      return `must be ${String(error.parentSchema?.description ?? `text that matches ${error.params.pattern}`)}`;
    case 'format':
      return 'must be an ISO 8601 date and time';
    default:
      return error.message ?? 'is not valid';
  }
}

/** Creates a JSON Pointer (RFC 6901) to a member. Shortens the name, which may be as long as the input. */
function childPath(path: string, name: string): string {
  return `${path}/${shorten(name, LIMITS.issuePath).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function memberOf(value: object, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}

function nodeOf(schema: unknown): SchemaNode | undefined {
  return typeof schema === 'object' && schema !== null ? toSchemaNode(schema as JsonSchema) : undefined;
}

function withoutContents(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !CONTENT_KEYWORDS.includes(keyword)));
}

function withFormats(ajv: Ajv): Ajv {
  return ajv.addFormat('date-time', (text: string) => parseIsoDate(text) !== undefined);
}

function compileLazily(ajv: Ajv, schema: JsonSchema): () => ValidateFunction {
  let compiled: ValidateFunction | undefined;
  return () => {
    compiled ??= ajv.compile(schema);
    return compiled;
  };
}
