import type { Access, Route } from './route.js';

/** The routes whose path matches, whatever their method: by Express's rules, case and a trailing slash do not matter. */
export type RouteLookup = (path: string) => readonly Route[];

export function createRouteLookup(routes: readonly Route[]): RouteLookup {
  const rows = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (path) => rows.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
}

const ACCESSES: readonly Access[] = ['admin', 'client', 'frontend', 'ofrep'];

/** What a path needs to be let in; undefined for a path that is not ours. */
export function accessOf(path: string): Access | undefined {
  const [, api, protocol] = /^\/(?:api\/(admin|client|frontend)|(ofrep))(?:\/|$)/i.exec(path) ?? [];
  const access = (api ?? protocol)?.toLowerCase();
  return ACCESSES.find((one) => one === access);
}

/** The methods of these routes, for the header `Allow`. */
export function allowedMethods(routes: readonly Route[]): string {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].sort().join(', ');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`, 'i');
}
