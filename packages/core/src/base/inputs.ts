import type { ErrorDetail } from './errors.js';
import type { JsonSchema, ObjectSchema } from './primitives.js';
import type { FlagsSettings } from './settings.types.js';

export type ChoiceSettings = Pick<FlagsSettings, 'flagTypes'>;

/** What options permit. */
export const CHOICES = {
  flagTypes: ({ flagTypes }: ChoiceSettings) => flagTypes.map(({ name }) => name),
} satisfies Readonly<Record<string, (settings: ChoiceSettings) => readonly string[]>>;

/** An input of an operation, described once. The schema is plain JSON, the same for every engine. */
export interface Input<T> {
  readonly schema: JsonSchema;
  /** Rules that a schema cannot state. */
  readonly findIssues: ((input: T) => Iterable<ErrorDetail>) | undefined;
  /** The members whose texts the options name. */
  readonly choices: Readonly<Record<string, keyof typeof CHOICES>>;
}

/** Describes an input of any type, such as a list. */
export function describeInput<T>(
  schema: JsonSchema,
  findIssues?: Input<T>['findIssues'],
  choices: Input<T>['choices'] = {},
): Input<T> {
  return { schema, findIssues, choices };
}

/** Describes an input that is an object. Its schema names the members of the type. */
export function describeObject<T>(
  schema: ObjectSchema<T>,
  findIssues?: Input<T>['findIssues'],
  choices?: Input<T>['choices'],
): Input<T> {
  return describeInput<T>(schema, findIssues, choices);
}
