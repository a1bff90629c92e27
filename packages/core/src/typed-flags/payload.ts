import { deepFreeze, isContainer } from '../base/json.js';
import { parseNumber } from '../base/primitives.js';
import type { Payload } from '../evaluation/definitions.types.js';
import type { PayloadReader, PayloadReading } from '../evaluation/evaluation.types.js';
import { reasonOf } from '../evaluation/problem.js';
import type { FlagDeclaration, FlagsSchema, PayloadDescription, StandardSchema } from './schema.types.js';

/** The value of a payload. Objects and lists are deeply frozen. */
export type PayloadValue = string | number | boolean | PayloadObject;

/** A JSON object or list. */
export interface PayloadObject {
  readonly [member: string]: unknown;
}

/** Deeper JSON would exhaust the stack of recursive readers. */
const MAX_DEPTH = 100;

const values = new WeakMap<Payload, PayloadValue | undefined>();

/**
 * Converts a variant's payload to its value: text for `string` and `csv`, a number for `number`, the parsed JSON for
 * `json`.
 *
 * Returns undefined for text that does not match its type, for the JSON `null`, and for JSON nested more than 100
 * levels deep. Caches the value per payload object, so do not modify payloads; those of `getVariant` are frozen.
 *
 * @example
 * const { payload } = flags.getVariant('checkout', { userId: '7' });
 * const limits = payload && payloadValue(payload);
 */
export function payloadValue(payload: Payload): PayloadValue | undefined {
  if (payload.type === 'string' || payload.type === 'csv') return payload.value;
  if (!values.has(payload)) values.set(payload, read(payload));
  return values.get(payload);
}

function read({ type, value }: Payload): PayloadValue | undefined {
  return type === 'number' ? parseNumber(value) : parseJson(value);
}

function parseJson(text: string): PayloadValue | undefined {
  try {
    const value = JSON.parse(text) as PayloadValue | null;
    return value !== null && freezeToDepth(MAX_DEPTH, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Freezes level by level, without recursion. Returns false if the value is nested more deeply. */
function freezeToDepth(depth: number, value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let left = depth; level.length > 0; left--) {
    if (left === 0) return false;
    level = level.flatMap((object) => Object.values(Object.freeze(object)).filter(isContainer));
  }
  return true;
}

/** Creates a reader. It validates each payload object once: payloads are immutable. */
export function createPayloadReader(schema: FlagsSchema | undefined): PayloadReader {
  const declared = new Map(
    Object.entries(schema?.flags ?? {}).map(([flag, declaration]) => [flag, readersOf(flag, declaration)]),
  );
  return {
    read(flag, { name, payload }) {
      if (payload === undefined) return undefined;
      const variants = declared.get(flag);
      if (variants === undefined) return readUndeclared(flag, name, payload);
      const read = variants.get(name);
      if (read !== undefined) return read(payload);
      return { issue: `The variant ${name} of flag ${flag} is not declared.` };
    },
  };
}

/**
 * Creates a reader for flags that may have been created with a schema.
 *
 * @example
 * const value = payloadReaderOf(flags).read('banner', flags.getVariant('banner'))?.value;
 */
export function payloadReaderOf(flags: object): PayloadReader {
  return createPayloadReader('schema' in flags ? (flags.schema as FlagsSchema) : undefined);
}

function readUndeclared(flag: string, variant: string, payload: Payload): PayloadReading {
  const value = payloadValue(payload);
  return value === undefined ? unreadable(flag, variant, payload) : { value };
}

function unreadable(flag: string, variant: string, { type }: Payload): PayloadReading {
  return { issue: `The payload of variant ${variant} of flag ${flag} contains no value of type ${type}.` };
}

type ReadPayload = (payload: Payload) => PayloadReading | undefined;

function readersOf(flag: string, declaration: FlagDeclaration): ReadonlyMap<string, ReadPayload> {
  const readers = new Map<string, ReadPayload>();
  for (const [variant, description] of describedVariants(declaration)) {
    readers.set(variant, hasPayload(description) ? createReader({ flag, variant, description }) : () => undefined);
  }
  return readers;
}

function createReader(declared: DescribedVariant): ReadPayload {
  const known = new WeakMap<Payload, PayloadReading>();
  return (payload) => {
    const found = known.get(payload) ?? readDeclared(declared, payload);
    known.set(payload, found);
    return found;
  };
}

interface DescribedVariant {
  readonly flag: string;
  readonly variant: string;
  readonly description: PayloadDescription;
}

function readDeclared({ flag, variant, description }: DescribedVariant, payload: Payload): PayloadReading {
  const value = payloadValue(payload);
  if (value === undefined) return unreadable(flag, variant, payload);
  const reading = isStandardSchema(description) ? validate(description, value) : match(value, description);
  if (reading.issue === undefined) return reading;
  return {
    issue: `The payload of variant ${variant} of flag ${flag} does not match its declaration: ${reading.issue}.`,
  };
}

function validate(schema: StandardSchema, value: unknown): PayloadReading {
  try {
    const result = schema['~standard'].validate(value);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return { issue: 'its schema is asynchronous' };
    }
    if (result.issues) return { issue: result.issues[0]?.message ?? 'its schema rejects it' };
    return { value: freezePlain(result.value) };
  } catch (error) {
    return { issue: `its schema threw ${reasonOf(error)}` };
  }
}

/** All callers share the value. Does not freeze class instances such as dates. */
function freezePlain(value: unknown): unknown {
  if (!isRecord(value) && !Array.isArray(value)) return value;
  for (const member of Object.values(Object.freeze(value))) if (!Object.isFrozen(member)) freezePlain(member);
  return value;
}

/** A description without a Standard Schema is plain. */
function match(value: unknown, description: PayloadDescription): PayloadReading {
  const issue = findMismatch(value, description as PlainDescription, '');
  return issue === undefined ? { value: deepFreeze(value) } : { issue };
}

type PlainDescription = string | readonly unknown[] | { readonly [member: string]: PlainDescription };

function findMismatch(value: unknown, description: PlainDescription, path: string): string | undefined {
  const place = path === '' ? 'it' : path;
  if (typeof description === 'string') {
    const type = description.replace(/\?$/, '');
    return isOfType(value, type) ? undefined : `${place} must be ${type}`;
  }
  if (Array.isArray(description)) {
    return description.includes(value) ? undefined : `${place} must be one of ${description.join(', ')}`;
  }
  if (!isRecord(value)) return `${place} must be an object`;
  for (const [member, inner] of Object.entries(description as Readonly<Record<string, PlainDescription>>)) {
    const isGiven = Object.hasOwn(value, member) && value[member] !== undefined;
    if (!isGiven && typeof inner === 'string' && inner.endsWith('?')) continue;
    const issue = findMismatch(isGiven ? value[member] : undefined, inner, `${path}/${member}`);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (!type.endsWith('[]')) return typeof value === type;
  const item = type.slice(0, -2);
  return Array.isArray(value) && value.every((one) => typeof one === item);
}

/** The variants of a declaration by name. Those of a list have no payload. */
export function describedVariants({ variants = [] }: FlagDeclaration): ReadonlyMap<string, PayloadDescription> {
  if (Array.isArray(variants)) return new Map(variants.map((name: string) => [name, null]));
  return new Map(Object.entries(variants));
}

/** Whether a variant of this description has a payload. */
export function hasPayload(description: PayloadDescription): boolean {
  if (description === null) return false;
  return isStandardSchema(description) || typeof description === 'string' || Object.keys(description).length > 0;
}

export const PAYLOAD_RULE =
  "a Standard Schema, null, or a description such as 'string', ['left', 'right'] or { color: 'string' }";

const TYPES = /^(string|number|boolean)(\[\])?\??$/;

/** Whether a value is a Standard Schema, `null` or a plain description. */
export function isPayloadDescription(value: unknown): value is PayloadDescription {
  return value === null || isStandardSchema(value) || isPlainDescription(value);
}

function isPlainDescription(value: unknown): boolean {
  if (typeof value === 'string') return TYPES.test(value);
  if (Array.isArray(value)) return value.every((one) => ['string', 'number', 'boolean'].includes(typeof one));
  return isRecord(value) && Object.values(value).every(isPlainDescription);
}

/** Schemas of some libraries are functions. */
function isStandardSchema(value: unknown): value is StandardSchema {
  const isCarrier = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isCarrier && typeof (value as Partial<StandardSchema>)['~standard']?.validate === 'function';
}

/** Whether a value is a plain object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
