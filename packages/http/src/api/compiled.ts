import type { CompiledSchema } from '@flags/core/integration/http';
import { COMPILED } from '../compiled-schemas.js';
import type { Route } from './route.js';

type RoutePart = 'body' | 'query';

/** Returns the name of the schema of a route's body or query. */
export function schemaNameOf(part: RoutePart, { method, path }: Route): string {
  return `${part} of ${method} ${path}`;
}

/** Returns the compiled schema of a route's body or query. */
export function compiledOf(part: RoutePart, route: Route): CompiledSchema {
  const name = schemaNameOf(part, route);
  const compiled = (COMPILED as Readonly<Record<string, CompiledSchema>>)[name];
  if (compiled === undefined) throw new Error(`The schema of the ${name} is not compiled: build the packages again.`);
  return compiled;
}
