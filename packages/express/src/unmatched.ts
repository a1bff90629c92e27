import { invalidInput } from './errors/invalid-input.js';
import { Refusal } from './errors/refusal.js';
import { allowedMethods, type FoundRoute } from './route-lookup.js';

export function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

export function refuseUndecodable(path: string): never {
  throw invalidInput([{ message: `the path ${path} holds an escape that cannot be decoded` }]);
}

/** Refuses a request that no row can answer, given the rows with its path. */
export function refuseUnmatched(
  { method, path }: { readonly method: string; readonly path: string },
  known: readonly FoundRoute[],
): never {
  if (!isDecodable(path)) return refuseUndecodable(path);
  if (known.length === 0) {
    throw new Refusal('not_found', `There is nothing at ${path}. Look at /api/admin/openapi.json.`);
  }
  const allow = allowedMethods(known);
  throw new Refusal('method_not_allowed', `${path} does not take ${method}. Use one of ${allow}.`, { allow });
}
