import type { JsonSchema } from '@flags/core';
import { propertiesOf } from '../schema-properties.js';

/** What a PUT of a flag sends: the changes, and the flag's name, which must be there and is otherwise ignored. */
export function flagUpdateSchema(flagChanges: JsonSchema): JsonSchema {
  return {
    ...flagChanges,
    properties: { name: { type: 'string' }, ...propertiesOf(flagChanges) },
    required: ['name'],
  };
}
