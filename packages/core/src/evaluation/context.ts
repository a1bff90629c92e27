import { LIMITS } from '../validation/limits.js';
import type { EvaluationContext } from './evaluated.types.js';
import { notices } from './problem.js';

/** A condition on the context, built once and called for every evaluation. */
export type Predicate = (context: EvaluationContext) => boolean;

export const always: Predicate = () => true;
export const never: Predicate = () => false;

/** One predicate that holds while all of them do, asked in order. */
export function allOf(predicates: readonly Predicate[]): Predicate {
  const asked = predicates.filter((predicate) => predicate !== always);
  const [first, second, third] = asked;
  if (first === undefined) return always;
  if (second === undefined) return first;
  if (third === undefined) return (context) => first(context) && second(context);
  if (asked.length === 3) return (context) => first(context) && second(context) && third(context);
  return (context) => {
    for (const predicate of asked) if (!predicate(context)) return false;
    return true;
  };
}

// A constant: in sandboxes (as jest's) every look at a global is slow.
const hasOwn = Object.hasOwn;
const LONGEST = LIMITS.contextValue;

/** Reads one field of a context as text; undefined when it has no value, or one that is too long. */
export type FieldReader = (context: EvaluationContext) => string | undefined;

/** A reader of the context's member of that name, else of the own property; other members of a context do not count. */
export function fieldReader(name: string): FieldReader {
  return MEMBERS.get(name) ?? ((context) => propertyText(context, name));
}

/**
 * Whom `default` stickiness of a rollout means: the user, else the session. These and the readers below see the members
 * alone, an empty one as none.
 */
export function userOrSession(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context);
}

/** Whom `default` stickiness of variants means: the user, else the session, else the address. */
export function userSessionOrAddress(context: EvaluationContext): string | undefined {
  return userId(context) || sessionId(context) || remoteAddress(context);
}

export function userId(context: EvaluationContext): string | undefined {
  const value = context.userId;
  return typeof value === 'string' && value.length <= LONGEST ? value : textOf(value, 'userId');
}

export function sessionId(context: EvaluationContext): string | undefined {
  const value = context.sessionId;
  return typeof value === 'string' && value.length <= LONGEST ? value : textOf(value, 'sessionId');
}

export function remoteAddress(context: EvaluationContext): string | undefined {
  const value = context.remoteAddress;
  return typeof value === 'string' && value.length <= LONGEST ? value : textOf(value, 'remoteAddress');
}

// One closure per member: an access by a constant name stays fast where contexts have many shapes.
const MEMBERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
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
  return typeof value === 'string' && value.length <= LONGEST ? value : unusualText(value, field);
}

/** Apart, so that the engine inlines what reads an ordinary text. */
function unusualText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : convertedText(value);
  if (text === undefined || text.length <= LONGEST) return text;
  notices.add({
    code: 'context_value_too_long',
    message: `The context field ${field} has more than ${LONGEST} characters and counts as absent.`,
  });
  return undefined;
}

/** A value that cannot become text (its `toString` throws) is no value. An array has as many commas as items. */
function convertedText(value: unknown): string | undefined {
  try {
    return Array.isArray(value) && value.length > LONGEST ? undefined : String(value);
  } catch {
    return undefined;
  }
}
