import { LIMITS } from '../base/limits.js';
import type { EvaluationContext } from './evaluation.types.js';
import { notices } from './problem.js';

/** A condition on the context. Compiled once and called for every evaluation. */
export type Predicate = (context: EvaluationContext) => boolean;

export const always: Predicate = () => true;
export const never: Predicate = () => false;

/** Combines predicates: holds if all of them hold. Evaluates them in order. */
export function allOf(predicates: readonly Predicate[]): Predicate {
  const asked = predicates.filter((predicate) => predicate !== always);
  const [first, second, third] = asked;
  if (first === undefined) return always;
  if (second === undefined) return first;
  if (third === undefined) return bothOf(first, second);
  if (asked.length === 3) return threeOf(first, second, third);
  return (context) => {
    for (const predicate of asked) if (!predicate(context)) return false;
    return true;
  };
}

// Separate functions, so that the closures do not keep the list of predicates alive.

function bothOf(first: Predicate, second: Predicate): Predicate {
  return (context) => first(context) && second(context);
}

function threeOf(first: Predicate, second: Predicate, third: Predicate): Predicate {
  return (context) => first(context) && second(context) && third(context);
}

// Cached, because sandboxes such as jest's make every access to a global slow.
const hasOwn = Object.hasOwn;
const MAX_LENGTH = LIMITS.contextValue;

/** Reads one context field as text. Returns undefined for a missing or too long value. */
export type FieldReader = (context: EvaluationContext) => string | undefined;

/** Reads a known context member, or else an own property of `properties`. */
export function fieldReader(name: string): FieldReader {
  return MEMBER_READERS.get(name) ?? ((context) => propertyText(context, name));
}

/**
 * The id for the `default` stickiness of rollouts: the user, or else the session. This reader and those below read only
 * the members, not `properties`.
 */
export function userOrSession(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context);
}

/** The id for the `default` stickiness of variants: the user, the session, or else the address. */
export function userSessionOrAddress(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context) || remoteAddress(context);
}

export function userId(context: EvaluationContext): string | undefined {
  const value = context.userId;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'userId');
}

export function sessionId(context: EvaluationContext): string | undefined {
  const value = context.sessionId;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'sessionId');
}

export function remoteAddress(context: EvaluationContext): string | undefined {
  const value = context.remoteAddress;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'remoteAddress');
}

// One function per member: reading a constant name is faster.
const MEMBER_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ['userId', (context) => userId(context) ?? propertyText(context, 'userId')],
  ['sessionId', (context) => sessionId(context) ?? propertyText(context, 'sessionId')],
  ['remoteAddress', (context) => remoteAddress(context) ?? propertyText(context, 'remoteAddress')],
  ['environment', (context) => textOf(context.environment, 'environment') ?? propertyText(context, 'environment')],
  ['appName', (context) => textOf(context.appName, 'appName') ?? propertyText(context, 'appName')],
  ['currentTime', (context) => textOf(context.currentTime, 'currentTime') ?? propertyText(context, 'currentTime')],
]);

function propertyText(context: EvaluationContext, name: string): string | undefined {
  const properties = context.properties;
  if (properties === undefined || properties === null || !hasOwn(properties, name)) return undefined;
  return textOf(properties[name], name);
}

function textOf(value: unknown, field: string): string | undefined {
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : convertToText(value, field);
}

/** A separate function, so that the callers for ordinary text stay small. */
function convertToText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : stringify(value);
  if (text === undefined || text.length <= MAX_LENGTH) return text;
  notices.add({
    code: 'context_value_too_long',
    message: `The context field ${field} has more than ${MAX_LENGTH} characters and counts as absent.`,
  });
  return undefined;
}

/** Returns undefined if conversion throws. Rejects long arrays early: their text has at least one comma per item. */
function stringify(value: unknown): string | undefined {
  try {
    return Array.isArray(value) && value.length > MAX_LENGTH ? undefined : String(value);
  } catch {
    return undefined;
  }
}
