import type { ErrorCode, FlagsSettings } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration/shared';
import { positiveInteger } from '../messages/schema.js';

export interface PathParameter {
  readonly description: string | ((settings: FlagsSettings) => string);
  /** The error code if the path names something that does not exist. */
  readonly error?: ErrorCode;
  /** Default: text. */
  readonly schema?: JsonSchema;
}

const ROWS = {
  projectId: { description: 'The id of the project.', error: 'project_not_found' },
  featureName: { description: 'The name of the flag.', error: 'flag_not_found' },
  environment: {
    description: ({ environments }) => `The environment: ${environments.map(({ name }) => name).join(', ')}.`,
    error: 'environment_not_found',
  },
  type: { description: 'The type of the tag; `simple` is the only one.' },
  value: { description: 'The value of the tag, a label.' },
  strategyId: { description: 'The id of the strategy.', error: 'strategy_not_found' },
  parentName: { description: 'The name of the parent flag.', error: 'dependency_not_found' },
  segmentId: { description: 'The id of the segment.', error: 'segment_not_found', schema: positiveInteger },
  userId: { description: 'The id of the user in the host application.', schema: positiveInteger },
  roleId: {
    description: ({ roles }) => `The role: ${roles.map(({ id, name }) => `${id} ${name}`).join(', ')}.`,
    error: 'role_not_found',
    schema: positiveInteger,
  },
  appName: { description: 'The name of the application.', error: 'application_not_found' },
  key: { description: 'The name of the flag.', error: 'flag_not_found' },
  id: { description: 'The id of the change set.', error: 'change_set_not_found' },
  changeRequestId: { description: 'The id of the change request.', error: 'change_request_not_found' },
  name: { description: 'The name.' },
  token: { description: 'The id or the secret of the token.', error: 'token_not_found' },
} satisfies Readonly<Record<string, PathParameter>>;

export type PathParameterName = keyof typeof ROWS;

/** The meaning of each path parameter. `route` accepts no other names in paths. */
export const PATH_PARAMETERS: Readonly<Record<PathParameterName, PathParameter>> = ROWS;

/** Returns the names of the parameters in the path of a route. */
export function pathNamesOf(path: string): readonly PathParameterName[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as PathParameterName);
}
