import type { JsonSchema } from '@flags/core/integration';

/** Returns the properties of an object schema. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

export function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  const property = propertiesOf(schema)[name];
  if (property === undefined) throw new Error(`The schema names no member ${name}.`);
  return property;
}

/** Types a request body without validation. Only for input that the operation validates. */
export function unchecked<T>(input: unknown): T {
  return input as T;
}
