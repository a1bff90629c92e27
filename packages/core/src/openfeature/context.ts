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
  const { targetingKey, userId, sessionId, remoteAddress, environment, appName, currentTime, properties, ...others } =
    context;
  // Evaluation takes any value as its text, whatever type it has.
  const members = readable({ userId: userId ?? targetingKey, sessionId, remoteAddress, environment, appName });
  return {
    ...(members as EvaluationContext),
    currentTime: timeOf(currentTime),
    properties: { ...readable(others), ...(isPlain(properties) && readable(properties)) },
  };
}

function readable(members: OpenFeatureContext): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'object' ? textOf(value) : value]),
  );
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
