import { type FlagsSettings, LIMITS } from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { ACTIONS, headerRulesOf } from '../actions.js';
import { PATH_PARAMETERS, type PathParameter, type PathParameterName, pathNamesOf } from '../api/path-parameters.js';
import { queryParametersOf } from '../api/query.js';
import { BYPASS_HEADER, ID_HEADER, type QueryParameter, REASON_HEADER, type Route } from '../api/route.js';
import type { AuthMode } from '../auth/auth.js';
import { schemaFrom } from '../messages/schema.js';

/** The dependencies of an operation's description beside its route. */
export interface OperationContext {
  readonly schemas: InputSchemas;
  readonly settings: FlagsSettings;
  readonly auth: AuthMode;
}

export function parametersOf(route: Route, { schemas, settings }: OperationContext): readonly object[] {
  return [
    ...pathNamesOf(route.path).map((name) => pathParameter(name, settings)),
    ...queryParametersOf(route).map((parameter) => queryParameter(parameter, schemas)),
    ...headersOf(route),
  ];
}

const TEXT: JsonSchema = { type: 'string', minLength: 1 };

function pathParameter(name: PathParameterName, settings: FlagsSettings): object {
  const { description, schema = TEXT }: PathParameter = PATH_PARAMETERS[name];
  const shown = typeof description === 'string' ? description : description(settings);
  return { name, in: 'path', required: true, description: shown, schema };
}

function queryParameter({ name, description, schema }: QueryParameter, schemas: InputSchemas): object {
  const described = schemaFrom(schema, schemas);
  const style = described.type === 'object' && { style: 'deepObject', explode: true };
  return { name, in: 'query', required: false, description, schema: described, ...style };
}

const CLIENT_SPEC =
  'Version of the client specification that the client implements. Below 4.2.0, or if absent, segments are inlined.';

function headersOf(route: Route): readonly object[] {
  const { method, ifMatch, form: { media, isConditional, vary } = {} } = route;
  const { isLogged, takesBypass, isRepeatable } = headerRulesOf(route);
  if (media?.includes('text/event-stream'))
    return [header('Last-Event-ID', 'The id of the last received event. The stream resumes after it.')];
  if (media) return [];
  if (method === 'GET' || isConditional) {
    const condition = header(
      'If-None-Match',
      'The ETag of an earlier response. Returns 304 if the representation is unchanged.',
    );
    return vary === undefined ? [condition] : [condition, header(vary, CLIENT_SPEC)];
  }
  const reason = header(
    REASON_HEADER,
    'Reason for the change, percent-encoded, shown in the history. A reason in the body takes precedence.',
  );
  const tag = header(
    'If-Match',
    `The ETag of the ${ifMatch === 'changeRequest' ? 'change request' : ifMatch} that the change is based on; 412 when it has moved on.`,
  );
  return [
    ...(ifMatch === undefined ? [] : [tag]),
    ...(isLogged ? [reason] : []),
    ...(takesBypass ? [BYPASS_PARAMETER] : []),
    ...(isRepeatable ? [ID_PARAMETER] : []),
    ...('takesBatchId' in ACTIONS[route.action] ? [BATCH_ID_PARAMETER] : []),
  ];
}

const BYPASS_PARAMETER = header(
  BYPASS_HEADER,
  'Why the change does not wait for the approval that it needs, percent-encoded. Needs the permission `bypassApproval`.',
);

const ID_PARAMETER = {
  ...header(
    ID_HEADER,
    'A UUID that makes the request safe to retry. A repeated request of the same caller returns the first response, and changes nothing.',
  ),
  schema: { type: 'string', format: 'uuid' },
};

const BATCH_ID_PARAMETER = {
  ...header(
    ID_HEADER,
    'Makes the report safe to retry: a report with the id of an earlier one of the same token and day counts once.',
  ),
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.batchId },
};

function header(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}
