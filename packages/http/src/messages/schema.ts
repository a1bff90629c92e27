import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';

export const text: JsonSchema = { type: 'string' };
export const nullableText: JsonSchema = { type: ['string', 'null'] };
export const boolean: JsonSchema = { type: 'boolean' };
export const count: JsonSchema = { type: 'integer', minimum: 0 };
export const positiveInteger: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

export const timestamp: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, UTC, with milliseconds.',
};

export const optionalTimestamp: JsonSchema = { anyOf: [timestamp, { type: 'null' }] };

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/** The symbol of a reference's member with the schema that it refers to. JSON leaves it out. */
export const REFERRED = Symbol('schema');

/** A JSON Schema, which may contain the schemas of engine inputs. */
export type SchemaSource = JsonSchema | ((inputs: InputSchemas) => JsonSchema);

export function schemaFrom(source: SchemaSource, inputs: InputSchemas): JsonSchema {
  return typeof source === 'function' ? source(inputs) : source;
}

/**
 * Names a schema, so that the OpenAPI document has it once, among its components.
 *
 * @returns A reference to the component, for rows and other schemas.
 */
export function component(name: string, schema: SchemaSource): JsonSchema {
  return Object.freeze({ $ref: `#/components/schemas/${name}`, [REFERRED]: schema });
}

/** Returns a schema with an example. Other examples follow from the schema; see `exampleOf`. */
export function example(value: unknown, schema: JsonSchema = text): JsonSchema {
  return { ...schema, examples: [value] };
}

export const environmentName = example('production');
export const strategyName = example('flexibleRollout');
export const variantName = example('blue');

/** Returns the properties of an object schema. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

export function propertyOf(schema: JsonSchema, name: string): JsonSchema {
  const property = propertiesOf(schema)[name];
  if (property === undefined) throw new Error(`The schema has no member ${name}.`);
  return property;
}

/** The version of a payload: an integer in lists, text in replies about variants. */
export const version: JsonSchema = { type: 'integer', const: 1 };

type Properties = Readonly<Record<string, JsonSchema>>;

/** Returns the schema of an object with exactly these members. */
export function strictObject(properties: Properties, optional: Properties = {}): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Names the schema of an object with exactly these members; see {@link component}. */
export function objectComponent(name: string, properties: Properties, optional?: Properties): JsonSchema {
  return component(name, strictObject(properties, optional));
}
