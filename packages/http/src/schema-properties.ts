import type { JsonSchema } from '@flags/core/integration';

/** The members that an object schema names. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

export function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  const property = propertiesOf(schema)[name];
  if (property === undefined) throw new Error(`The schema names no member ${name}.`);
  return property;
}

/** Input for an operation that validates it at run time: the one place where a body gets a type without a look at it. */
export function unchecked<T>(input: unknown): T {
  return input as T;
}
