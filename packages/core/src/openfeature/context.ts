import { isDate } from 'node:util/types';
import type { EvaluationContext } from '../api/evaluation-context.js';

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
  const members = readable({ userId: userId ?? targetingKey, sessionId, remoteAddress, environment, appName });
  const sources = isPlain(properties) ? [properties, context] : [context];
  const isLarge = sources.some((source) => Object.keys(source).length > MANY);
  return {
    ...(members as EvaluationContext),
    currentTime: timeOf(currentTime),
    properties: isLarge ? lazyProperties(sources) : copiedProperties(context, properties),
  };
}

/** Copying more members than these takes milliseconds; strategies ask for a few of them. */
const MANY = 1000;

function copiedProperties(context: OpenFeatureContext, properties: unknown): Record<string, unknown> {
  const others = Object.entries(context).filter(([name]) => !KNOWN.has(name));
  return { ...readable(Object.fromEntries(others)), ...(isPlain(properties) && readable(properties)) };
}

/** Members that are no properties, or are read by another name. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['targetingKey', 'userId', 'sessionId', 'remoteAddress', 'environment', 'appName', 'currentTime', 'properties'],
]);

/** The same properties, each read when it is asked for: from `properties`, or else from the context itself. */
function lazyProperties(sources: readonly OpenFeatureContext[]): Record<string, unknown> {
  const context = sources.at(-1);
  const sourceOf = (name: PropertyKey) =>
    sources.find((source) => Object.hasOwn(source, name) && !(source === context && KNOWN.has(String(name))));
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

function readable(members: OpenFeatureContext): Record<string, unknown> {
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
