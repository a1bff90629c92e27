import { isDate } from 'node:util/types';
import { isContainer } from '../base/json.js';
import { parseNumber } from '../base/primitives.js';
import type { Payload } from '../evaluation/definitions.types.js';
import type { EvaluationContext } from '../evaluation/evaluation.types.js';

/** An OpenFeature context: `targetingKey` and any other members. */
export type OpenFeatureContext = Readonly<Record<string, unknown>>;

/**
 * Converts an OpenFeature context to an evaluation context. Does not throw.
 *
 * `targetingKey` becomes the `userId`, unless the context has a `userId`. Known members keep their names; `properties`
 * and all other members become properties. Dates in properties become ISO 8601 text.
 */
export function toEvaluationContext(context: OpenFeatureContext): EvaluationContext {
  const { targetingKey, userId, sessionId, remoteAddress, environment, appName, currentTime, properties } = context;
  // Evaluation converts values of any type to text.
  const members = toProperties({ userId: userId ?? targetingKey, sessionId, remoteAddress, environment, appName });
  const sources = isPlain(properties) ? [properties, context] : [context];
  const isLarge = sources.some((source) => Object.keys(source).length > MAX_COPIED);
  return {
    ...(members as EvaluationContext),
    currentTime: timeOf(currentTime),
    properties: isLarge ? lazyProperties(sources) : copiedProperties(context, properties),
  };
}

/** Larger contexts are read lazily: copying takes milliseconds, but strategies read only a few members. */
const MAX_COPIED = 1000;

function copiedProperties(context: OpenFeatureContext, properties: unknown): Record<string, unknown> {
  const others = Object.entries(context).filter(([name]) => !CONTEXT_MEMBERS.has(name));
  return { ...toProperties(Object.fromEntries(others)), ...(isPlain(properties) && toProperties(properties)) };
}

/** Members that are not properties, or have another name. */
const CONTEXT_MEMBERS: ReadonlySet<string> = new Set([
  ...['targetingKey', 'userId', 'sessionId', 'remoteAddress', 'environment', 'appName', 'currentTime', 'properties'],
]);

/** Reads a property only when evaluation asks for it: from `properties`, or else from the context itself. */
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

/** Converts a value once, because several constraints may read the same large array. */
function textOf(value: object | null): string | undefined {
  if (value === null) return undefined;
  if (isDate(value)) return isoOf(value);
  try {
    return String(value);
  } catch {
    return undefined;
  }
}

/** Returns undefined for an invalid date. */
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
