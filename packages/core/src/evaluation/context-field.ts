import type { EvaluationContext } from '../api/evaluation-context.js';

// A constant: in sandboxes (as jest's) every look at a global is slow.
const hasOwn = Object.hasOwn;

/** Reads one field of a context as text; undefined when it has no value. */
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
  return typeof value === 'string' ? value : textOf(value);
}

export function sessionId(context: EvaluationContext): string | undefined {
  const value = context.sessionId;
  return typeof value === 'string' ? value : textOf(value);
}

export function remoteAddress(context: EvaluationContext): string | undefined {
  const value = context.remoteAddress;
  return typeof value === 'string' ? value : textOf(value);
}

// One closure per member: an access by a constant name stays fast where contexts have many shapes.
const MEMBERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ['userId', (context) => userId(context) ?? propertyText(context, 'userId')],
  ['sessionId', (context) => sessionId(context) ?? propertyText(context, 'sessionId')],
  ['remoteAddress', (context) => remoteAddress(context) ?? propertyText(context, 'remoteAddress')],
  ['environment', (context) => textOf(context.environment) ?? propertyText(context, 'environment')],
  ['appName', (context) => textOf(context.appName) ?? propertyText(context, 'appName')],
  ['currentTime', (context) => textOf(context.currentTime) ?? propertyText(context, 'currentTime')],
]);

function propertyText(context: EvaluationContext, name: string): string | undefined {
  const properties = context.properties;
  if (properties === undefined || properties === null || !hasOwn(properties, name)) return undefined;
  return textOf(properties[name]);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  return convertedText(value);
}

/** A value that cannot become text (its `toString` throws) is no value. */
function convertedText(value: unknown): string | undefined {
  try {
    return String(value);
  } catch {
    return undefined;
  }
}
