import { createValidator, type InputSchemas, type JsonSchema } from '@flags/core';
import type { QueryValues } from './query-values.js';
import { partsOfTarget } from './request-target.js';
import type { QueryParameter } from './route.js';
import { propertiesOf } from './schema-properties.js';

export type QueryReader = (url: string) => QueryValues;

/**
 * Reads the documented parameters from a URL, independently of the host's `query parser`, and refuses what their schemas
 * do not accept, with one detail per fault.
 */
export function createQueryReader(parameters: readonly QueryParameter[] = [], inputs: InputSchemas): QueryReader {
  if (parameters.length === 0) return () => ({});
  const schema = querySchema(parameters, inputs);
  const properties = Object.entries(propertiesOf(schema));
  const validate = createValidator<QueryValues>(schema);
  return (url) => {
    const { query } = partsOfTarget(url);
    if (query === '') return {};
    const given = new URLSearchParams(query);
    return validate(
      Object.fromEntries(
        properties
          .map(([name, property]) => [name, valueIn(given, name, property)] as const)
          .filter(([, value]) => value !== undefined),
      ),
    );
  };
}

/** The parameters as one object, as they are validated. */
function querySchema(parameters: readonly QueryParameter[], inputs: InputSchemas): JsonSchema {
  const properties = parameters.map(({ name, schema }) => [name, schema(inputs)] as const);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function valueIn(given: URLSearchParams, name: string, property: JsonSchema): unknown {
  if (property.type === 'object') return membersIn(given, name);
  return given.has(name) ? convert(given.getAll(name), property) : undefined;
}

/** `name[member]=value`, as an object; undefined when there is none. */
function membersIn(given: URLSearchParams, name: string): Readonly<Record<string, string>> | undefined {
  const members = [...given].flatMap(([key, value]) =>
    key.startsWith(`${name}[`) && key.endsWith(']') ? [[key.slice(name.length + 1, -1), value] as const] : [],
  );
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Text that is not of the schema's type stays as it is, and so is refused by the schema. */
function convert(texts: readonly string[], { type }: JsonSchema): unknown {
  if (type === 'array') return texts;
  const [text = '', ...more] = texts;
  if (more.length > 0) return texts;
  if (type === 'integer') return /^\d+$/.test(text) ? Number(text) : text;
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
