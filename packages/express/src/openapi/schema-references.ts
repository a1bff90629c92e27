import type { InputSchemas, JsonSchema } from '@flags/core';

export type Refer = (schema: JsonSchema) => JsonSchema;

export interface SchemaReferences {
  /** A reference to one of the inputs; any other schema stays as it is. */
  readonly refer: Refer;
  /** The components that were referred to. */
  readonly referred: () => Readonly<Record<string, JsonSchema>>;
}

/** Names the inputs, so that operations which take the same one share its description. */
export function createSchemaReferences(schemas: InputSchemas): SchemaReferences {
  const names = new Map(Object.entries(schemas).map(([key, schema]) => [schema as JsonSchema, componentName(key)]));
  const referred = new Map<string, JsonSchema>();
  return {
    refer(schema) {
      const name = names.get(schema);
      if (name === undefined) return schema;
      referred.set(name, schema);
      return { $ref: `#/components/schemas/${name}` };
    },
    referred: () => Object.fromEntries(referred),
  };
}

/** Apart from the names of the answers: what is sent as a strategy has no id, what is answered has. */
function componentName(key: string): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}Input`;
}
