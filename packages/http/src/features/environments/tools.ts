import { randomUUID } from 'node:crypto';
import { type Constraint, type Flags, FlagsError, type FlagsSchema, type StrategyRef } from '@flags/core';
import type { InputSchemas, StrategyRow } from '@flags/core/integration/http';
import { type JsonSchema, STRATEGIES } from '@flags/core/integration/shared';
import type { FlagType } from '@flags/core/types';
import type { Action } from '../../actions.js';
import { PROJECT, SEGMENTS } from '../../api/paths.js';
import { parameter } from '../../api/query.js';
import { type RouteBody, route } from '../../api/route.js';
import { isPermitted } from '../../auth/permissions.js';
import { withSegmentCheck } from '../../changes/change-permissions.js';
import { unchecked } from '../../messages/request.js';
import {
  boolean,
  component,
  count,
  environmentName,
  example,
  listOf,
  objectComponent,
  positiveInteger,
  propertyOf,
  strategyName,
  text,
  timestamp,
  version,
} from '../../messages/schema.js';
import { patchStrategy } from '../flags/patches.js';
import { withoutUndefined } from './changes.js';

/*
 * Routes that tools of Unleash 4.x ask for, such as its admin interface. They show what the options, the registry of
 * strategies and `authorize` say, or change flags and segments in the form of 4.x.
 */

/** Types, strategies and fields describe flags: every caller that may read the flags of a project may read them. */
const READABLE = { permissionIn: 'anyProject' } as const;

const flagTypeSchema = objectComponent('FeatureType', {
  id: example('release'),
  name: example('release'),
  description: text,
  lifetimeDays: {
    ...example(40, { type: ['integer', 'null'] }),
    description: 'Days until a flag of the type is potentially stale; null: never.',
  },
});

function flagTypeToWire({ name, lifetimeDays }: FlagType) {
  const description = lifetimeDays === null ? 'Never stale.' : `Potentially stale after ${lifetimeDays} days.`;
  return { id: name, name, description, lifetimeDays };
}

const strategyTypeSchema = objectComponent('StrategyDefinition', {
  name: strategyName,
  displayName: text,
  description: text,
  editable: { type: 'boolean', const: false },
  deprecated: boolean,
  parameters: listOf(
    objectComponent('StrategyParameter', {
      name: example('rollout'),
      type: { type: 'string', enum: ['percentage', 'list', 'string'] },
      description: text,
      required: boolean,
    }),
  ),
});

function strategyTypeToWire({ name, title, description, parameters }: StrategyRow) {
  return {
    name,
    displayName: title,
    description,
    editable: false,
    deprecated: false,
    parameters: parameters.map((one) => ({ ...one, required: false })),
  };
}

const contextFieldSchema = objectComponent('ContextField', {
  name: example('userId'),
  description: text,
  stickiness: { ...boolean, description: 'Whether a gradual rollout may use the field as stickiness.' },
  sortOrder: count,
  legalValues: listOf(objectComponent('LegalValue', { value: text })),
  createdAt: { anyOf: [timestamp, { type: 'null' }] },
});

/** The fields that every context has. */
const CONTEXT_FIELDS: Readonly<Record<string, string>> = {
  userId: 'The user.',
  sessionId: 'The session of the user.',
  appName: 'The application that evaluates.',
  environment: 'The environment of the context.',
  remoteAddress: 'The IP address of the user.',
  currentTime: 'The time of the evaluation.',
};

/** The standard fields, and the properties that the schema of the flags declares. */
function contextFields(flags: Flags) {
  const { schema } = unchecked<{ readonly schema?: FlagsSchema }>(flags);
  const declared = Object.entries(schema?.context ?? {}).map(([name, values]) => ({ name, description: '', values }));
  const standard = Object.entries(CONTEXT_FIELDS).map(([name, description]) => ({ name, description, values: [] }));
  return [...standard, ...declared].map(({ name, description, values }, sortOrder) => ({
    name,
    description,
    stickiness: name !== 'currentTime',
    sortOrder,
    legalValues: (Array.isArray(values) ? values : []).map((value) => ({ value: `${value}` })),
    createdAt: null,
  }));
}

interface Permission {
  /** The name in 4.x. */
  readonly name: string;
  readonly action: Action;
  readonly displayName: string;
}

/** The names of our actions in 4.x. */
const PERMISSIONS: Readonly<Record<'root' | 'project' | 'environment', readonly Permission[]>> = {
  root: [
    { name: 'CREATE_PROJECT', action: 'createProject', displayName: 'Create projects' },
    { name: 'CREATE_SEGMENT', action: 'createSegment', displayName: 'Create segments' },
    { name: 'UPDATE_SEGMENT', action: 'updateSegment', displayName: 'Change segments' },
    { name: 'DELETE_SEGMENT', action: 'deleteSegment', displayName: 'Delete segments' },
    { name: 'READ_API_TOKEN', action: 'listTokens', displayName: 'See API tokens' },
    { name: 'CREATE_API_TOKEN', action: 'createToken', displayName: 'Create API tokens' },
    { name: 'UPDATE_API_TOKEN', action: 'rotateToken', displayName: 'Change when API tokens expire' },
    { name: 'DELETE_API_TOKEN', action: 'deleteToken', displayName: 'Delete API tokens' },
    { name: 'UPDATE_APPLICATION', action: 'deleteApplication', displayName: 'Delete applications' },
  ],
  project: [
    { name: 'CREATE_FEATURE', action: 'createFlag', displayName: 'Create flags' },
    { name: 'UPDATE_FEATURE', action: 'updateFlag', displayName: 'Change flags' },
    { name: 'DELETE_FEATURE', action: 'archiveFlag', displayName: 'Archive flags' },
    { name: 'MOVE_FEATURE_TOGGLE', action: 'moveFlag', displayName: 'Move flags to another project' },
    { name: 'UPDATE_FEATURE_VARIANTS', action: 'setVariants', displayName: 'Change variants' },
    { name: 'UPDATE_PROJECT', action: 'updateProject', displayName: 'Change the project' },
    { name: 'DELETE_PROJECT', action: 'deleteProject', displayName: 'Delete the project' },
  ],
  environment: [
    { name: 'CREATE_FEATURE_STRATEGY', action: 'addStrategy', displayName: 'Add strategies' },
    { name: 'UPDATE_FEATURE_STRATEGY', action: 'updateStrategy', displayName: 'Change strategies' },
    { name: 'DELETE_FEATURE_STRATEGY', action: 'removeStrategy', displayName: 'Remove strategies' },
    { name: 'UPDATE_FEATURE_ENVIRONMENT', action: 'enable', displayName: 'Switch flags on and off' },
  ],
};

const permission = {
  id: positiveInteger,
  name: example('CREATE_FEATURE'),
  displayName: text,
  type: example('project', { type: 'string', enum: ['root', 'project', 'environment'] }),
};

const permissionSchema = objectComponent('Permission', permission, { environment: environmentName });

const permissionListSchema = objectComponent('PermissionList', {
  version,
  permissions: objectComponent('Permissions', {
    root: listOf(permissionSchema),
    project: listOf(permissionSchema),
    environments: listOf(
      objectComponent('EnvironmentPermissions', { name: environmentName, permissions: listOf(permissionSchema) }),
    ),
  }),
});

const IDS = new Map(
  Object.values(PERMISSIONS)
    .flat()
    .map(({ name }, index) => [name, index + 1]),
);

const nameInput = ({ newSegment }: InputSchemas): JsonSchema => ({
  type: 'object',
  properties: { name: propertyOf(newSegment, 'name') },
  required: ['name'],
});

interface StrategySegments {
  readonly projectId: string;
  readonly environmentId: string;
  readonly strategyId: string;
  readonly segmentIds: readonly number[];
}

/** The engine validates the ids. */
function strategySegmentsInput({ strategy }: InputSchemas): JsonSchema {
  return {
    type: 'object',
    properties: {
      projectId: { type: 'string' },
      environmentId: { type: 'string' },
      strategyId: { type: 'string' },
      segmentIds: propertyOf(strategy, 'segments'),
    },
    required: ['projectId', 'environmentId', 'strategyId', 'segmentIds'],
  };
}

/** Finds the flag of a strategy, because the request does not name it. Reads the newest state first. */
async function findStrategy(
  flags: Flags,
  { projectId: project, environmentId: environment, strategyId: strategy }: StrategySegments,
): Promise<StrategyRef> {
  await flags.refresh();
  const flag = flags
    .configuration({ environment })
    .flags.find(
      (one) => one.project === project && one.strategies.some((own) => unchecked<{ id: string }>(own).id === strategy),
    );
  if (flag) return { project, flag: flag.name, environment, strategy };
  const message = `No flag of project ${project} has a strategy ${strategy} in ${environment}; list the strategies of the flag.`;
  throw new FlagsError('strategy_not_found', message);
}

interface StaleFlags {
  readonly features: readonly string[];
  readonly stale: boolean;
}

/** A request that names more flags than this waits for a place. */
const FEW_FLAGS = 10;

const staleBody: RouteBody['schema'] = ({ newFlag }) => ({
  type: 'object',
  properties: {
    features: { type: 'array', minItems: 1, maxItems: 500, items: propertyOf(newFlag, 'name') },
    stale: { type: 'boolean' },
  },
  required: ['features', 'stale'],
});

export const toolRoutes = [
  route('GET', '/api/admin/feature-types', 'listFlagTypes', {
    ...READABLE,
    summary: 'List the flag types; for tools of 4.x',
    reply: objectComponent('FeatureTypeList', { version, types: listOf(flagTypeSchema) }),
    handle: async ({ flags }) => ({ body: { version: 1, types: flags.settings.flagTypes.map(flagTypeToWire) } }),
  }),
  route('GET', '/api/admin/strategies', 'listStrategyTypes', {
    ...READABLE,
    summary: 'List the built-in strategies with their parameters; for tools of 4.x',
    reply: objectComponent('StrategyDefinitionList', { version, strategies: listOf(strategyTypeSchema) }),
    handle: async () => ({ body: { version: 1, strategies: [...STRATEGIES.values()].map(strategyTypeToWire) } }),
  }),
  route('GET', '/api/admin/strategies/:name', 'getStrategyType', {
    ...READABLE,
    summary: 'Get a built-in strategy with its parameters; for tools of 4.x',
    reply: strategyTypeSchema,
    errors: ['strategy_not_found'],
    async handle({ params: { name } }) {
      const strategy = STRATEGIES.get(name);
      if (strategy) return { body: strategyTypeToWire(strategy) };
      throw new FlagsError('strategy_not_found', `There is no built-in strategy ${name}; list the strategies.`);
    },
  }),
  route('GET', '/api/admin/context', 'listContextFields', {
    ...READABLE,
    summary: 'List the standard context fields and the properties that the schema declares; for tools of 4.x',
    reply: component('ContextFieldList', listOf(contextFieldSchema)),
    handle: async ({ flags }) => ({ body: contextFields(flags) }),
  }),
  route('GET', '/api/admin/permissions', 'listPermissions', {
    ...READABLE,
    summary: 'List the permissions of the caller; for tools of 4.x',
    query: [
      parameter('project', 'The project whose permissions to list. Default: permissions in every project.', {
        type: 'string',
        minLength: 1,
        maxLength: 100,
      }),
    ],
    reply: permissionListSchema,
    async handle({ flags, principal, query }) {
      const project = typeof query.project === 'string' ? query.project : null;
      const allowed = async (type: keyof typeof PERMISSIONS) => {
        const place = type === 'root' ? null : project;
        const rows = await Promise.all(
          PERMISSIONS[type].map(async ({ name, action, displayName }) =>
            (await isPermitted(principal, action, place)) ? [{ id: IDS.get(name), name, displayName, type }] : [],
          ),
        );
        return rows.flat();
      };
      const inEnvironment = await allowed('environment');
      const environments = flags.settings.environments.map(({ name }) => ({
        name,
        permissions: inEnvironment.map((one) => ({ ...one, environment: name })),
      }));
      const permissions = { root: await allowed('root'), project: await allowed('project'), environments };
      return { body: { version: 1, permissions } };
    },
  }),
  route('POST', `${SEGMENTS}/validate`, 'validateSegmentName', {
    permissionIn: 'anyProject',
    summary: 'Validate the name of a new segment, and check that no segment has it; for tools of 4.x',
    body: { schema: nameInput },
    errors: ['segment_exists'],
    async handle({ flags, body }) {
      const { name } = unchecked<{ readonly name: string }>(body);
      await flags.plan([{ op: 'createSegment', input: { name, constraints: [] } }]);
    },
  }),
  route('POST', '/api/admin/constraints/validate', 'validateConstraint', {
    permissionIn: 'anyProject',
    summary: 'Validate a constraint; for tools of 4.x',
    body: { schema: ({ constraint }) => constraint },
    async handle({ flags, body }) {
      const constraints = [unchecked<Constraint>(body)];
      // The plan validates the constraint. A random name does not conflict with a stored segment.
      await flags.plan([{ op: 'createSegment', input: { name: randomUUID(), constraints } }]);
    },
  }),
  route('POST', `${SEGMENTS}/strategies`, 'setStrategySegments', {
    permissionIn: 'handler',
    summary: 'Replace the segments that a strategy uses; for tools of 4.x',
    body: { schema: strategySegmentsInput },
    changes: 'flag',
    status: 201,
    reply: objectComponent('StrategySegments', {
      projectId: example('default'),
      environmentId: environmentName,
      strategyId: text,
      segmentIds: listOf(positiveInteger),
    }),
    errors: ['environment_not_found', 'strategy_not_found'],
    async handle({ body, context, ...request }) {
      const asked = unchecked<StrategySegments>(body);
      const { projectId, environmentId, strategyId, segmentIds } = asked;
      await request.principal.check('updateStrategy', projectId);
      const ref = await findStrategy(request.flags, asked);
      const patch = [{ op: 'add', path: '/segments', value: segmentIds }] as const;
      const { revision } = await patchStrategy(withSegmentCheck(request), { ref, patch, context });
      return { body: { projectId, environmentId, strategyId, segmentIds }, flag: ref.flag, revision };
    },
  }),
  route('POST', `${PROJECT}/stale`, 'setStaleFlags', {
    summary: 'Mark flags of a project as stale or not stale in one commit; for tools of 4.x',
    body: { schema: staleBody },
    status: 202,
    errors: ['flag_not_found', 'flag_archived', 'change_set_too_large'],
    long: { kind: 'change', isShort: ({ body }) => !(Object(body).features?.length > FEW_FLAGS) },
    async handle({ flags, ref, body, context }) {
      const { features, stale } = unchecked<StaleFlags>(body);
      const changes = features.map((flag) => ({ op: 'updateFlag', ref: { ...ref, flag }, input: { stale } }) as const);
      const { id, reason, bypassApproval } = context;
      await flags.apply(changes, withoutUndefined({ id, reason, bypassApproval }));
    },
  }),
];
