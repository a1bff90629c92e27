import type { Flags, InputSchemas } from '@flags/core';
import { createValidator } from '@flags/core';
import type { Request, Response } from 'express';
import type { Visitor } from './auth/gate.js';
import type { BodyReader } from './body.js';
import type { ClientDocuments } from './client/documents.js';
import { entityTag, namesTag, revisionsIn } from './entity-tag.js';
import { invalidInput } from './errors/invalid-input.js';
import { linkToNext, queryParametersOf } from './page-query.js';
import { projectAskedFor, readThenCheck } from './permission.js';
import { createQueryReader } from './query.js';
import { createReplies } from './replies.js';
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
  /** The project that permission was asked for. */
  readonly project?: string | null;
}

export type Endpoint = (exchange: Exchange) => Promise<Reply>;

/** Turns a row into what answers its requests: permission, then body, then the operation. */
export function createEndpoint(route: Route, parts: EndpointParts): Endpoint {
  const { flags, inputs, readBody, documents, hub, openApi } = parts;
  const readQuery = createQueryReader(queryParametersOf(route), inputs);
  const checkBody = createBodyCheck(route.body, inputs);

  async function answer({ request, response, visitor, project: asked = null }: Exchange): Promise<Reply> {
    const params = paramsOf(request);
    const query = readQuery(request.url);
    const read = async () => (route.body === undefined ? undefined : checkBody(await readBody(request, response)));
    const { body, project } = route.permissionByBody
      ? await readThenCheck(route, visitor, read)
      : { body: await read(), project: asked };
    const ifRevision = route.ifMatch === undefined ? undefined : revisionsIn(request.headers['if-match']);
    const result = await route.handle({
      flags: flags.as(visitor.token ?? visitor.name),
      scope: visitor.scope,
      tokenId: visitor.token?.id,
      tokenKind: visitor.token?.kind,
      project,
      check: visitor.check,
      hasValidToken: visitor.hasValidToken,
      params,
      query,
      body,
      context: ifRevision === undefined ? {} : { ifRevision },
      documents,
      hub,
      openApi,
      clientIp: () => request.ip,
      lastEventId: lastEventIdOf(request),
      isStillAdmitted: () => visitor.isStillAdmitted(route.action, project),
    });
    return replyTo(request, route, result);
  }

  const answerOnce = route.lasting === undefined ? answer : answeringOnce(answer, () => flags.stamp(route.lasting));
  return async (exchange) => {
    const { request, visitor } = exchange;
    const project = await projectAskedFor(route, flags, paramsOf(request));
    if (!route.permissionByBody) await visitor.check(route.action, project);
    return unlessKnown(request, route, await answerOnce({ ...exchange, project }));
  };
}

/** Asks for the stamp first: what changes while the answer is made must not pass for known. */
function answeringOnce(answer: Endpoint, readStamp: () => Promise<string | undefined>): Endpoint {
  const replies = createReplies();
  const underWay = new Map<string, Promise<Reply>>();
  return async (exchange) => {
    const stamp = await readStamp();
    if (stamp === undefined) return answer(exchange);
    // Hosts may rewrite `url`; the `Link` header is made of `originalUrl`.
    const { url, originalUrl } = exchange.request;
    const key = url === originalUrl ? url : `${url} ${originalUrl}`;
    return (
      replies.get(key, stamp) ??
      makeOnce(`${stamp} ${key}`, async () => replies.keep(key, stamp, await answer(exchange)))
    );
  };

  /** Those who ask while it is made wait for it. */
  function makeOnce(name: string, make: () => Promise<Reply>): Promise<Reply> {
    const made = underWay.get(name) ?? make().finally(() => underWay.delete(name));
    underWay.set(name, made);
    return made;
  }
}

/** Rows have plain parameters only. */
function paramsOf({ params }: Request): Readonly<Record<string, string>> {
  return params as Readonly<Record<string, string>>;
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
  if (method !== 'GET' && !conditional && revision === undefined) return answer;
  const link = next === undefined ? {} : { link: linkToNext(request.originalUrl, next) };
  const etag = serialized?.etag ?? entityTag(`${answer.text ?? ''}${next ?? ''}`, revision);
  return { ...answer, headers: { ...answer.headers, ...link, etag } };
}

/** A client that has this very answer is told so, without its body. */
function unlessKnown({ headers }: Request, { method, conditional }: Route, reply: Reply): Reply {
  const { etag, link } = reply.headers;
  if (etag === undefined || !(method === 'GET' || conditional)) return reply;
  if (!namesTag(headers['if-none-match'], etag)) return reply;
  return { status: 304, headers: { etag, ...(link !== undefined && { link }) } };
}

function serializedReply({ bytes }: Serialized): Reply {
  return { status: 200, headers: JSON_TYPE, bytes };
}

/** Proxies are asked not to keep the events back. */
function streamReply({ method }: Request, stream: NonNullable<RouteResult['stream']>): Reply {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'private, no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  return { status: 200, headers, stream: method === 'HEAD' ? (response) => void response.end() : stream };
}
