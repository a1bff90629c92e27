import { acceptsTimes, BUILT_IN_STRATEGIES, type BuiltInStrategy } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { type Action, PERMISSION_ROWS } from '../../actions.js';
import { parameter } from '../../api/query.js';
import { route } from '../../api/route.js';
import type { Principal } from '../../auth/permissions.js';
import { isPermitted } from '../../auth/permissions.js';
import {
  boolean,
  component,
  environmentName,
  example,
  listOf,
  objectComponent,
  strictObject,
  text,
} from '../../messages/schema.js';
import { roleSchema } from '../projects/members.js';

/** The version of this package. The package cannot read its `package.json`, because it runs as ESM and CommonJS. */
export const VERSION = '0.1.0';

const named = (name: JsonSchema, members: Readonly<Record<string, JsonSchema>>) =>
  listOf(strictObject({ name, ...members }));

const sessionSchema = objectComponent(
  'Session',
  {
    version: { ...example(VERSION), description: 'The version of the packages that serve the request.' },
    auth: {
      type: 'string',
      enum: ['none', 'token', 'host', 'session'],
      examples: ['session'],
      description:
        'How callers authenticate: not at all, by API token, in the host application, or by either of the two.',
    },
  },
  {
    actor: { type: 'string', description: 'The caller. Absent without valid credentials.' },
    environments: named(environmentName, { displayName: text }),
    environment: { type: 'string', description: 'The default environment of evaluations and commands.' },
    types: named(example('release'), {
      lifetimeDays: {
        type: ['number', 'null'],
        description: 'Days until a flag of the type is potentially stale; null: never.',
      },
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
      description: 'The built-in strategies, followed by those of the host.',
    },
    actions: {
      ...listOf(text),
      description: 'The actions that `authorize` permits in the requested project.',
    },
    acceptsTimes: {
      ...boolean,
      description: 'Whether change requests may have a time, and rollouts may start: the option `due.run`.',
    },
  },
);

const openApiDocumentSchema = component('OpenApiDocument', {
  type: 'object',
  properties: { openapi: example('3.1.0'), info: { type: 'object' }, paths: { type: 'object' } },
  required: ['openapi', 'info', 'paths'],
});

export const sessionRoutes = [
  route('GET', '/api/admin/session', 'getSession', {
    summary: 'Get the caller, its permissions and the settings that an admin page needs; never 401',
    query: [
      parameter('project', 'The project whose permitted actions the response lists.', {
        type: 'string',
        minLength: 1,
        maxLength: 100,
      }),
    ],
    reply: sessionSchema,
    async handle({ flags, principal, services, query }) {
      const { auth } = services;
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
        acceptsTimes: await acceptsTimes(flags),
      };
      if (typeof query.project !== 'string') return { body: shown };
      return { body: { ...shown, actions: await allowedActions(principal, query.project) } };
    },
  }),
];

/** Only the host knows the parameters of its own strategies. */
function ownStrategy(name: string): BuiltInStrategy {
  return { name, description: '', parameters: [] };
}

/** Checks every action of the admin API, with null in place of the project for those of the instance. */
async function allowedActions(principal: Principal, project: string): Promise<readonly Action[]> {
  const allowed = await Promise.all(
    PERMISSION_ROWS.map(async ([action, { by, of }]) => {
      if (by === 'sdk') return [];
      return (await isPermitted(principal, action, of === 'instance' ? null : project)) ? [action] : [];
    }),
  );
  return allowed.flat();
}

export const openApiRoutes = [
  route('GET', '/api/admin/openapi.json', 'getOpenApi', {
    summary: 'Get the OpenAPI document of this API',
    reply: openApiDocumentSchema,
    sameForAll: 'process',
    handle: async ({ services: { openApi } }) => ({ body: openApi() }),
  }),
];
