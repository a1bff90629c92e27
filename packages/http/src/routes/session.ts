import { BUILT_IN_STRATEGIES } from '@flags/core/integration';
import { isPermitted, permissionOf } from '../auth.js';
import type { Action, Principal } from '../permissions.js';
import { type AdminAction, type Route, route } from '../route.js';

/** The version of this package. The package cannot read its `package.json`, because it runs as ESM and CommonJS. */
export const VERSION = '0.2.0';

/** Returns the actions that callers of the admin API need permission for. */
export function adminActionsOf(routes: readonly Route[]): readonly AdminAction[] {
  const asked = routes.filter(({ access, isOpen }) => access === 'admin' && !isOpen);
  const actions = new Map(asked.map((row) => [permissionOf(row), isOfInstance(row)]));
  const withoutRoute = WITHOUT_ROUTE.map((action) => ({ action, isOfInstance: false }));
  return [...[...actions].map(([action, isOfInstance]) => ({ action, isOfInstance })), ...withoutRoute];
}

/** Permissions that strategies and change sets ask for. */
const WITHOUT_ROUTE: readonly Action[] = ['useSegment', 'configureEnvironment', 'moveFlag'];

function isOfInstance({ path, projectOf, permissionBy }: Route): boolean {
  return !path.includes(':projectId') && projectOf === undefined && permissionBy === undefined;
}

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/admin/session',
    action: 'getSession',
    summary: 'Who makes the request, what they may do, and what an admin page needs to know; never 401',
    tag: 'Session',
    access: 'admin',
    isOpen: true,
    query: [
      {
        name: 'project',
        description: 'Also list the actions that the caller may do in this project.',
        schema: () => ({ type: 'string', minLength: 1, maxLength: 100 }),
      },
    ],
    reply: { status: 200, schema: 'Session' },
    errors: ['invalid_input'],
    async handle({ flags, principal, admin: { auth, actions }, query }) {
      const everybody = { version: VERSION, auth };
      if (principal.isOutsider) return { body: everybody };
      const { environments, environment, flagTypes, roles } = flags.settings;
      const shown = {
        ...everybody,
        actor: principal.name,
        environments,
        environment,
        types: flagTypes,
        roles,
        strategies: BUILT_IN_STRATEGIES,
      };
      if (typeof query.project !== 'string') return { body: shown };
      return { body: { ...shown, actions: await allowedActions(principal, actions, query.project) } };
    },
  }),
];

/** Asks for every action with the project that its request would have: null for actions of the instance. */
async function allowedActions(
  principal: Principal,
  actions: readonly AdminAction[],
  project: string,
): Promise<readonly Action[]> {
  const allowed = await Promise.all(
    actions.map(async ({ action, isOfInstance }) => {
      const isAllowed = await isPermitted(principal, action, isOfInstance ? null : project);
      return isAllowed ? [action] : [];
    }),
  );
  return allowed.flat();
}

export const openApiRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/admin/openapi.json',
    action: 'getOpenApi',
    summary: 'This API as an OpenAPI document',
    tag: 'OpenAPI',
    access: 'admin',
    reply: { status: 200, schema: 'OpenApiDocument' },
    errors: [],
    handle: async ({ openApi }) => ({ serialized: openApi() }),
  }),
];
