import { BUILT_IN_STRATEGIES, type BuiltInStrategy, type JsonSchema } from '@flags/core/integration';
import { isPermitted, permissionOf } from '../auth.js';
import type { Principal } from '../permissions.js';
import { parameter } from '../query.js';
import type { Action } from '../roles.js';
import { type AdminAction, type Route, route } from '../route.js';
import { component, environmentName, example, listOf, objectComponent, strictObject, text } from '../schema.js';
import { roleSchema } from './members.js';

const named = (name: JsonSchema, members: Readonly<Record<string, JsonSchema>>) =>
  listOf(strictObject({ name, ...members }));

const sessionSchema = objectComponent(
  'Session',
  {
    version: { ...example('0.3.0'), description: 'The version of the packages that answer.' },
    auth: {
      type: 'string',
      enum: ['none', 'token', 'host', 'session'],
      examples: ['session'],
      description: 'How to sign in: not at all, by API token, in the application, or either of the last two.',
    },
  },
  {
    actor: { type: 'string', description: 'Who makes the request. Absent for callers that are not let in.' },
    environments: named(environmentName, { displayName: text }),
    environment: { type: 'string', description: 'The environment of evaluations and commands that name none.' },
    types: named(example('release'), {
      lifetimeDays: { type: ['number', 'null'], description: 'Days until a flag is stale; null: never.' },
    }),
    roles: listOf(roleSchema),
    strategies: {
      ...named(example('userWithId'), {
        description: text,
        parameters: named(example('userIds'), {
          type: { type: 'string', enum: ['percentage', 'list', 'string'] },
          description: text,
        }),
      }),
      description: 'The built-in strategies, then those of the host.',
    },
    actions: { ...listOf(text), description: 'What `authorize` allows in the project of the query.' },
  },
);

/** The version of this package. The package cannot read its `package.json`, because it runs as ESM and CommonJS. */
export const VERSION = '0.2.0';

/** Returns the actions that callers of the admin API need permission for. */
export function adminActionsOf(routes: readonly Route[]): readonly AdminAction[] {
  const asked = routes.filter(({ access, isOpen }) => access === 'admin' && !isOpen);
  const actions = new Map(asked.map((row) => [permissionOf(row), isOfInstance(row)]));
  const withoutRoute = WITHOUT_ROUTE.map((action) => ({ action, isOfInstance: false }));
  return [...[...actions].map(([action, isOfInstance]) => ({ action, isOfInstance })), ...withoutRoute];
}

/** Permissions that strategies and change sets need. */
const WITHOUT_ROUTE: readonly Action[] = ['useSegment', 'configureEnvironment', 'moveFlag'];

function isOfInstance({ path, projectOf, permissionBy }: Route): boolean {
  return !path.includes(':projectId') && projectOf === undefined && permissionBy === undefined;
}

const openApiDocumentSchema = component('OpenApiDocument', {
  type: 'object',
  properties: { openapi: example('3.1.0'), info: { type: 'object' }, paths: { type: 'object' } },
  required: ['openapi', 'info', 'paths'],
});

export const sessionRoutes: readonly Route[] = [
  route('GET', '/api/admin/session', 'getSession', {
    summary: 'Who makes the request, what they may do, and what an admin page needs to know; never 401',
    isOpen: true,
    query: [
      parameter('project', 'Also list the actions that the caller may do in this project.', {
        type: 'string',
        minLength: 1,
        maxLength: 100,
      }),
    ],
    reply: sessionSchema,
    async handle({ flags, principal, services, query }) {
      const { auth, actions } = services.admin;
      const everybody = { version: VERSION, auth };
      if (principal.isOutsider) return { body: everybody };
      const { environments, environment, flagTypes, roles, strategies } = flags.settings;
      const shown = {
        ...everybody,
        actor: principal.name,
        environments,
        environment,
        types: flagTypes,
        roles,
        strategies: [...BUILT_IN_STRATEGIES, ...strategies.map(ownStrategy)],
      };
      if (typeof query.project !== 'string') return { body: shown };
      return { body: { ...shown, actions: await allowedActions(principal, actions, query.project) } };
    },
  }),
];

/** Only the host knows the parameters of its own strategies. */
function ownStrategy(name: string): BuiltInStrategy {
  return { name, description: '', parameters: [] };
}

/** Checks every action with the project that its request would have: null for actions of the instance. */
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
  route('GET', '/api/admin/openapi.json', 'getOpenApi', {
    summary: 'This API as an OpenAPI document',
    reply: openApiDocumentSchema,
    handle: async ({ services: { openApi } }) => ({
      cached: { key: '', version: '', body: openApi, contents: openApi },
    }),
  }),
];
