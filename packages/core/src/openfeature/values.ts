import { isDate } from 'node:util/types';
import type { EvaluationContext } from '../evaluation/evaluated.types.js';
import type { Payload } from '../flags/variant.types.js';
import { parseNumber } from '../validation/primitives.js';

/** A context as OpenFeature has it: `targetingKey`, and whatever else. */
export type OpenFeatureContext = Readonly<Record<string, unknown>>;

/**
 * The same as evaluation reads it. `targetingKey` is the `userId` unless the context has one of its own; members that
 * evaluation knows keep their names, `properties` and everything else are properties. A date there becomes its ISO 8601
 * text. Does not throw.
 */
export function toEvaluationContext(context: OpenFeatureContext): EvaluationContext {
  const { targetingKey, userId, sessionId, remoteAddress, environment, appName, currentTime, properties } = context;
  // Evaluation takes any value as its text, whatever type it has.
  const members = toProperties({ userId: userId ?? targetingKey, sessionId, remoteAddress, environment, appName });
  const sources = isPlain(properties) ? [properties, context] : [context];
  const isLarge = sources.some((source) => Object.keys(source).length > MAX_COPIED);
  return {
    ...(members as EvaluationContext),
    currentTime: timeOf(currentTime),
    properties: isLarge ? lazyProperties(sources) : copiedProperties(context, properties),
  };
}

/** Copying more members than these takes milliseconds; strategies ask for a few of them. */
const MAX_COPIED = 1000;

function copiedProperties(context: OpenFeatureContext, properties: unknown): Record<string, unknown> {
  const others = Object.entries(context).filter(([name]) => !CONTEXT_MEMBERS.has(name));
  return { ...toProperties(Object.fromEntries(others)), ...(isPlain(properties) && toProperties(properties)) };
}

/** Members that are no properties, or are read by another name. */
const CONTEXT_MEMBERS: ReadonlySet<string> = new Set([
  ...['targetingKey', 'userId', 'sessionId', 'remoteAddress', 'environment', 'appName', 'currentTime', 'properties'],
]);

/** The same properties, each read when it is asked for: from `properties`, or else from the context itself. */
function lazyProperties(sources: readonly OpenFeatureContext[]): Record<string, unknown> {
  const context = sources.at(-1);
  const sourceOf = (name: PropertyKey) =>
    sources.find((source) => Object.hasOwn(source, name) && !(source === context && CONTEXT_MEMBERS.has(String(name))));
  const read = (name: PropertyKey) => toProperty((sourceOf(name) as Record<PropertyKey, unknown> | undefined)?.[name]);
  return new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_target, name) => read(name),
      has: (_target, name) => sourceOf(name) !== undefined,
      ownKeys: () => [...new Set(sources.flatMap((source) => Object.keys(source).filter((name) => sourceOf(name))))],
      getOwnPropertyDescriptor: (_target, name) =>
        sourceOf(name) && { value: read(name), enumerable: true, configurable: true, writable: true },
    },
  );
}

function toProperties(members: OpenFeatureContext): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, toProperty(value)]));
}

function toProperty(value: unknown): unknown {
  return typeof value === 'object' ? textOf(value) : value;
}

/** Here, once: a large array would become text again with every constraint that reads it. */
function textOf(value: object | null): string | undefined {
  if (value === null) return undefined;
  if (isDate(value)) return isoOf(value);
  try {
    return String(value);
  } catch {
    return undefined;
  }
}

/** No value for a date that is none. */
function isoOf(date: Date): string | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Numbers are milliseconds since 1970. */
function timeOf(value: unknown): Date | string | undefined {
  if (typeof value === 'string' || isDate(value)) return value;
  return typeof value === 'number' ? new Date(value) : undefined;
}

function isPlain(value: unknown): value is OpenFeatureContext {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isDate(value);
}

/** What a payload can stand for. Objects and lists are frozen, throughout. */
export type PayloadValue = string | number | boolean | PayloadObject;

/** A JSON object or list. */
export interface PayloadObject {
  readonly [member: string]: unknown;
}

/** No application reads deeper JSON; what works on it recursively would exhaust the stack. */
const MAX_DEPTH = 100;

const values = new WeakMap<Payload, PayloadValue | undefined>();

/**
 * What a variant's payload stands for: the text of `string` and `csv`, the number of `number`, what the text of `json`
 * holds. Undefined for a text that holds no value: it is not of its type, is the JSON `null`, or nests deeper than 100
 * levels. Read once per payload object, which therefore may not be changed afterwards; those of `getVariant` are frozen.
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

/** Freezes level by level, without recursion. False when there are more levels than these. */
function freezeToDepth(depth: number, value: unknown): boolean {
  let level = [value].filter(isObject);
  for (let left = depth; level.length > 0; left--) {
    if (left === 0) return false;
    level = level.flatMap((object) => Object.values(Object.freeze(object)).filter(isObject));
  }
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
