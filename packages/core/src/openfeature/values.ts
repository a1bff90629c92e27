import { isDate } from 'node:util/types';
import { CONTEXT_MEMBERS } from '../evaluation/context.js';
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
  const others = Object.entries(context).filter(([name]) => !NO_PROPERTIES.has(name));
  return { ...toProperties(Object.fromEntries(others)), ...(isPlain(properties) && toProperties(properties)) };
}

/** Members that are not properties, or have another name. */
const NO_PROPERTIES: ReadonlySet<string> = new Set(['targetingKey', ...CONTEXT_MEMBERS]);

/** Reads a property only when evaluation asks for it: from `properties`, or else from the context itself. */
function lazyProperties(sources: readonly OpenFeatureContext[]): Record<string, unknown> {
  const context = sources.at(-1);
  const sourceOf = (name: PropertyKey) =>
    sources.find((source) => Object.hasOwn(source, name) && !(source === context && NO_PROPERTIES.has(String(name))));
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

/** Converts the values of fields to properties: lists, objects and dates become text, and null becomes undefined. */
export function toProperties(members: OpenFeatureContext): Record<string, unknown> {
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
