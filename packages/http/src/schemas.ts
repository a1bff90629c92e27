import { inputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { schemaNameOf } from './api/compiled.js';
import { querySchema } from './api/query.js';
import type { Route } from './api/route.js';
import { JSON_PATCH } from './changes/json-patch.js';
import { previewContexts } from './features/environments/changes-wire.js';
import { propertiesOf, schemaFrom } from './messages/schema.js';
import { ROUTES } from './routes.js';

/** The inputs of an engine. The schemas do not contain names from its options, such as flag types: the route checks those. */
const INPUTS = inputSchemas({ flagTypes: [] });

function schemasOf(route: Route): readonly (readonly [name: string, schema: JsonSchema])[] {
  const { body } = route;
  const query = querySchema(route, INPUTS);
  return [
    ...(query ? [[schemaNameOf('query', route), query] as const] : []),
    ...(body?.checkedBy === 'router' ? [[schemaNameOf('body', route), bodySchema(body)] as const] : []),
  ];
}

function bodySchema({ schema, choices = [] }: NonNullable<Route['body']>): JsonSchema {
  const given = schemaFrom(schema, INPUTS);
  const members = Object.entries(propertiesOf(given)).map(([name, part]) => {
    const { enum: _named, ...unnamed } = part;
    return [name, choices.includes(name) ? unnamed : part] as const;
  });
  return choices.length === 0 ? given : { ...given, properties: Object.fromEntries(members) };
}

/** Every schema that this package validates with. `scripts/compile-schemas.mjs` writes `compiled-schemas.ts` from it. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  jsonPatch: JSON_PATCH.schema,
  preview: previewContexts,
  ...Object.fromEntries(ROUTES.flatMap(schemasOf)),
};
