import type { Flags, InputSchemas } from '@flags/core';
import { createValidator } from '@flags/core';
import type { Request, Response } from 'express';
import type { Visitor } from './auth/gate.js';
import type { BodyReader } from './body.js';
import { entityTag, namesTag, revisionsIn } from './entity-tag.js';
import { invalidInput } from './errors/invalid-input.js';
import { createQueryReader } from './query.js';
import { jsonReply, type Reply } from './reply.js';
import type { Route, RouteBody, RouteResult } from './route.js';

/** What every endpoint works with. */
export interface EndpointParts {
  readonly flags: Flags;
  readonly inputs: InputSchemas;
  readonly readBody: BodyReader;
  readonly openApi: () => object;
}

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly visitor: Visitor;
}

export type Endpoint = (exchange: Exchange) => Promise<Reply>;

/** Turns a row into what answers its requests: permission, then body, then the operation. */
export function createEndpoint(route: Route, { flags, inputs, readBody, openApi }: EndpointParts): Endpoint {
  const readQuery = createQueryReader(route.query, inputs);
  const checkBody = createBodyCheck(route.body, inputs);
  return async ({ request, response, visitor }) => {
    const params = request.params as Readonly<Record<string, string>>;
    await visitor.check(route.action, params.projectId ?? null);
    const query = readQuery(request.url);
    const body = route.body === undefined ? undefined : checkBody(await readBody(request, response));
    const ifRevision = route.ifMatch === undefined ? undefined : revisionsIn(request.headers['if-match']);
    const result = await route.handle({
      flags: flags.as(visitor.name),
      params,
      query,
      body,
      context: ifRevision === undefined ? {} : { ifRevision },
      clientIp: request.ip,
      openApi,
    });
    return replyTo(request, route, result);
  };
}

function createBodyCheck(body: RouteBody | undefined, inputs: InputSchemas): (value: unknown) => unknown {
  if (body === undefined) return () => undefined;
  const validate = body.checkedBy === 'router' ? createValidator(body.schema(inputs)) : (value: unknown) => value;
  return (value) => {
    if (value !== undefined) return validate(value);
    if (body.required) throw invalidInput([{ message: 'a JSON body is required', path: '' }]);
    return undefined;
  };
}

function replyTo(request: Request, { method, reply }: Route, { body, revision }: RouteResult): Reply {
  const answer = jsonReply({ status: reply.status, body });
  if (method !== 'GET' && revision === undefined) return answer;
  const etag = entityTag(answer.text ?? '', revision);
  if (method === 'GET' && namesTag(request.headers['if-none-match'], etag)) return { status: 304, headers: { etag } };
  return { ...answer, headers: { ...answer.headers, etag } };
}
