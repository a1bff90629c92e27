import type { Flags, InputSchemas } from '@flags/core';
import { createValidator } from '@flags/core';
import type { Request, Response } from 'express';
import type { Visitor } from './auth/gate.js';
import type { BodyReader } from './body.js';
import type { ClientDocuments } from './client/documents.js';
import { entityTag, namesTag, revisionsIn } from './entity-tag.js';
import { invalidInput } from './errors/invalid-input.js';
import { linkToNext, queryParametersOf } from './page-query.js';
import { createQueryReader } from './query.js';
import { JSON_TYPE, jsonReply, type Reply } from './reply.js';
import type { Route, RouteBody, RouteResult } from './route.js';
import type { Serialized } from './serialized.js';
import type { Hub } from './streaming/hub.js';

const UNKEPT = { 'cache-control': 'no-store' };

/** What every endpoint works with. */
export interface EndpointParts {
  readonly flags: Flags;
  readonly inputs: InputSchemas;
  readonly readBody: BodyReader;
  readonly openApi: () => Serialized;
  readonly documents: ClientDocuments;
  readonly hub: Hub;
}

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly visitor: Visitor;
}

export type Endpoint = (exchange: Exchange) => Promise<Reply>;

/** Turns a row into what answers its requests: permission, then body, then the operation. */
export function createEndpoint(route: Route, { flags, inputs, readBody, ...parts }: EndpointParts): Endpoint {
  const readQuery = createQueryReader(queryParametersOf(route), inputs);
  const checkBody = createBodyCheck(route.body, inputs);
  return async ({ request, response, visitor }) => {
    const params = request.params as Readonly<Record<string, string>>;
    const project = params.projectId ?? null;
    await visitor.check(route.action, project);
    const query = readQuery(request.url);
    const body = route.body === undefined ? undefined : checkBody(await readBody(request, response));
    const ifRevision = route.ifMatch === undefined ? undefined : revisionsIn(request.headers['if-match']);
    const result = await route.handle({
      ...parts,
      flags: flags.as(visitor.name),
      scope: visitor.scope,
      params,
      query,
      body,
      context: ifRevision === undefined ? {} : { ifRevision },
      get clientIp() {
        return request.ip;
      },
      lastEventId: lastEventIdOf(request),
      isStillAdmitted: () => visitor.isStillAdmitted(route.action, project),
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

function lastEventIdOf({ headers }: Request): string | undefined {
  const id = headers['last-event-id'];
  return Array.isArray(id) ? id[0] : id;
}

function replyTo(request: Request, { method, reply, conditional }: Route, result: RouteResult): Reply {
  const { body, revision, serialized, stream, next } = result;
  if (stream) return streamReply(request, stream);
  const answer = serialized
    ? serializedReply(serialized)
    : jsonReply({ status: reply.status, body, ...(reply.isSecret && { headers: UNKEPT }) });
  const isConditional = method === 'GET' || conditional;
  if (!isConditional && revision === undefined) return answer;
  const link = next === undefined ? {} : { link: linkToNext(request.originalUrl, next) };
  const etag = serialized?.etag ?? entityTag(`${answer.text ?? ''}${next ?? ''}`, revision);
  const headers = { ...link, etag };
  if (isConditional && namesTag(request.headers['if-none-match'], etag)) return { status: 304, headers };
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function serializedReply({ bytes }: Serialized): Reply {
  return { status: 200, headers: JSON_TYPE, bytes };
}

/** Proxies are asked not to keep the events back. */
function streamReply({ method }: Request, stream: NonNullable<RouteResult['stream']>): Reply {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  return { status: 200, headers, stream: method === 'HEAD' ? (response) => void response.end() : stream };
}
