import type { InputSchemas, JsonSchema, Settings } from '@flags/core';
import { queryParametersOf } from '../page-query.js';
import type { QueryParameter, Route } from '../route.js';
import type { OperationContext } from './operation-context.js';
import { positiveInteger } from './schemas/common.js';

export function parametersOf(route: Route, { schemas, settings }: OperationContext): readonly object[] {
  return [
    ...pathNamesOf(route.path).map((name) => pathParameter(name, settings)),
    ...queryParametersOf(route).map((parameter) => queryParameter(parameter, schemas)),
    ...headersOf(route),
  ];
}

function pathNamesOf(path: string): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

function pathParameter(name: string, settings: Settings): object {
  const { schema, description } = describePathParameter(name, settings);
  return { name, in: 'path', required: true, description, schema };
}

interface ParameterText {
  readonly description: string;
  readonly schema: JsonSchema;
}

const TEXT: JsonSchema = { type: 'string', minLength: 1 };

function describePathParameter(name: string, { environments, roles }: Settings): ParameterText {
  switch (name) {
    case 'projectId':
      return { description: 'The id of the project.', schema: TEXT };
    case 'featureName':
      return { description: 'The name of the flag.', schema: TEXT };
    case 'environment':
      return { description: `The environment: ${listOf(environments.map((one) => one.name))}.`, schema: TEXT };
    case 'strategyId':
      return { description: 'The id of the strategy.', schema: TEXT };
    case 'parentName':
      return { description: 'The name of the parent flag.', schema: TEXT };
    case 'segmentId':
      return { description: 'The id of the segment.', schema: positiveInteger };
    case 'userId':
      return { description: 'The id of the user in the host application.', schema: positiveInteger };
    case 'roleId':
      return {
        description: `The role: ${listOf(roles.map((role) => `${role.id} ${role.name}`))}.`,
        schema: positiveInteger,
      };
    case 'appName':
      return { description: 'The name of the application.', schema: TEXT };
    case 'key':
      return { description: 'The name of the flag.', schema: TEXT };
    case 'token':
      return { description: 'The id of the token, or its secret.', schema: TEXT };
    default:
      return { description: `The ${name}.`, schema: TEXT };
  }
}

function listOf(names: readonly string[]): string {
  return names.join(', ');
}

function queryParameter({ name, description, schema }: QueryParameter, schemas: InputSchemas): object {
  const described = schema(schemas);
  const style = described.type === 'object' && { style: 'deepObject', explode: true };
  return { name, in: 'query', required: false, description, schema: described, ...style };
}

const CLIENT_SPEC =
  'The version of the client specification that the client implements. Below 4.2.0, or without it, segments are inlined.';

function headersOf({ method, ifMatch, reply, conditional, vary }: Route): readonly object[] {
  if (reply.media === 'text/event-stream')
    return [header('Last-Event-ID', 'The last event seen, to go on from there.')];
  if (method === 'GET' || conditional) {
    const condition = header('If-None-Match', 'An ETag seen before; answers 304 while it is still true.');
    return vary === undefined ? [condition] : [condition, header(vary, CLIENT_SPEC)];
  }
  if (ifMatch === undefined) return [];
  return [header('If-Match', `The ETag of the ${ifMatch} that the change is based on; 412 when it has moved on.`)];
}

function header(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
