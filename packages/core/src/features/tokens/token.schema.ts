import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, momentInTime, type ObjectSchema, text } from '../../base/primitives.js';
import { type NewToken, TOKEN_KINDS, type TokenChanges, type TokenRotation } from './token.types.js';

const expiresAt: JsonSchema = { ...momentInTime, type: ['string', 'null'] };

const scope: JsonSchema = { type: 'string', minLength: 1, maxLength: LIMITS.name };

export const newToken: ObjectSchema<NewToken> = {
  type: 'object',
  properties: {
    name: text(LIMITS.label),
    kind: { type: 'string', enum: TOKEN_KINDS },
    project: scope,
    projects: { type: 'array', items: scope, minItems: 1, maxItems: LIMITS.projectsPerToken },
    environment: scope,
    expiresAt,
    secret: {
      type: 'string',
      minLength: LIMITS.shortestSecret,
      maxLength: LIMITS.secret,
      pattern: '^[!-~]+$',
      description: 'printable ASCII characters without spaces',
    },
  },
  required: ['name', 'kind'],
};

export const tokenRotation: ObjectSchema<TokenRotation> = {
  type: 'object',
  properties: {
    overlap: {
      type: 'integer',
      minimum: 0,
      maximum: LIMITS.tokenOverlap,
      description: 'Milliseconds until the old token expires. Default: one day.',
    },
    expiresAt,
  },
};

export const tokenChanges: ObjectSchema<TokenChanges> = {
  type: 'object',
  properties: { expiresAt },
  required: ['expiresAt'],
};

/** The actor of changes by the library itself. No token may have this name in the event log. */
const RESERVED_NAME = 'system';

/** Finds issues that the JSON Schema of a new token cannot express. */
export function findTokenIssues(token: NewToken): readonly ErrorDetail[] {
  return [...findNameIssues(token), ...findScopeIssues(token)];
}

function findNameIssues({ name }: NewToken): readonly ErrorDetail[] {
  if (name.trim().toLowerCase() !== RESERVED_NAME) return [];
  return [{ message: 'must not be system, which names the library itself; choose another name', path: '/name' }];
}

/** An admin token is valid everywhere; any other token is valid in one environment. */
function findScopeIssues({ kind, project, projects, environment }: NewToken): readonly ErrorDetail[] {
  if (kind !== 'admin') {
    return environment === '*'
      ? [{ message: `must name one environment for a ${kind} token`, path: '/environment' }]
      : [];
  }
  const isForAllProjects = project === undefined ? (projects ?? []).every(isEverything) : isEverything(project);
  return [
    ...(isForAllProjects
      ? []
      : [{ message: 'must be * for an admin token', path: project ? '/project' : '/projects' }]),
    ...(environment === undefined || isEverything(environment)
      ? []
      : [{ message: 'must be * for an admin token', path: '/environment' }]),
  ];
}

function isEverything(scope: string): boolean {
  return scope === '*';
}
