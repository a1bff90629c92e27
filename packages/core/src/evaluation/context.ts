import { LIMITS } from '../base/limits.js';
import type { EvaluationContext } from './evaluation.types.js';
import { notices } from './problem.js';

/** A condition on the context. Compiled once and called for every evaluation. */
export interface Condition {
  holds(context: EvaluationContext): boolean;
}

export const ALWAYS: Condition = { holds: () => true };
export const NEVER: Condition = { holds: () => false };

/** Combines conditions: holds if all of them hold. Evaluates them in order. */
export function allOf(conditions: readonly Condition['holds'][]): Condition['holds'] {
  const [first, second, third] = conditions;
  if (first === undefined) return ALWAYS.holds;
  if (second === undefined) return first;
  if (third === undefined) return bothOf(first, second);
  if (conditions.length === 3) return threeOf(first, second, third);
  return (context) => {
    for (const holds of conditions) if (!holds(context)) return false;
    return true;
  };
}

// Separate functions, so that the closures do not keep the list of conditions alive.

function bothOf(first: Condition['holds'], second: Condition['holds']): Condition['holds'] {
  return (context) => first(context) && second(context);
}

function threeOf(first: Condition['holds'], second: Condition['holds'], third: Condition['holds']): Condition['holds'] {
  return (context) => first(context) && second(context) && third(context);
}

// Cached, because sandboxes such as jest's make every access to a global slow.
const hasOwn = Object.hasOwn;
const MAX_LENGTH = LIMITS.contextValue;

type ReadText = (context: EvaluationContext) => string | undefined;

/** A known context member, or else an own property of `properties`, as text. */
export class ContextField {
  /** Returns undefined for a missing or too long value. */
  readonly read: ReadText;

  constructor(name: string, readMember = MEMBERS.get(name)) {
    this.read = readMember ?? ((context) => propertyText(context, name));
  }
}

function userOrSession(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context);
}

function userSessionOrAddress(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context) || remoteAddress(context);
}

export function userId(context: EvaluationContext): string | undefined {
  const value = context.userId;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'userId');
}

function sessionId(context: EvaluationContext): string | undefined {
  const value = context.sessionId;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'sessionId');
}

export function remoteAddress(context: EvaluationContext): string | undefined {
  const value = context.remoteAddress;
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value : textOf(value, 'remoteAddress');
}

// One function per member: reading a constant name is faster.
const READERS: Readonly<Record<Exclude<keyof EvaluationContext, 'properties'>, ReadText>> = {
  userId: (context) => userId(context) ?? propertyText(context, 'userId'),
  sessionId: (context) => sessionId(context) ?? propertyText(context, 'sessionId'),
  remoteAddress: (context) => remoteAddress(context) ?? propertyText(context, 'remoteAddress'),
  environment: (context) => textOf(context.environment, 'environment') ?? propertyText(context, 'environment'),
  appName: (context) => textOf(context.appName, 'appName') ?? propertyText(context, 'appName'),
  currentTime: (context) => textOf(context.currentTime, 'currentTime') ?? propertyText(context, 'currentTime'),
};
const MEMBERS: ReadonlyMap<string, ReadText> = new Map(Object.entries(READERS));

/** The members of a context, which no property may replace. */
export const CONTEXT_MEMBERS: ReadonlySet<string> = new Set([...MEMBERS.keys(), 'properties']);

// These read only the members, not `properties`.
/** The id for the `default` stickiness of rollouts: the user, or else the session. */
export const USER_OR_SESSION = new ContextField('userId', userOrSession);
/** The id for the `default` stickiness of variants: the user, the session, or else the address. */
export const USER_SESSION_OR_ADDRESS = new ContextField('userId', userSessionOrAddress);
export const USER_ID = new ContextField('userId', userId);
export const SESSION_ID = new ContextField('sessionId', sessionId);
/** For random choices. */
export const NO_ID = new ContextField('', () => undefined);

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
