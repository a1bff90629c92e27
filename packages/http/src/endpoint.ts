import { randomUUID } from 'node:crypto';
import type { Flags } from '@flags/core';
import { createValidator, type InputSchemas } from '@flags/core/integration';
import type { Principal } from './auth.js';
import type { BodyReader } from './body.js';
import { collectChunks } from './chunks.js';
import type { ClientDocuments } from './client/documents.js';
import { CLIENT_SPEC_HEADER } from './client/view.js';
import { nextTurn } from './coalesce-per-tick.js';
import { entityTag, namesTag, revisionsIn } from './entity-tag.js';
import { invalidInput } from './errors.js';
import { projectAskedFor, readThenCheck } from './permission.js';
import { createQueryReader, linkToNext, queryParametersOf } from './query.js';
import { discard, JSON_TYPE, jsonReply, ownBytes, type Reply, type Serialized } from './reply.js';
import { type FlagsRequest, urlOf } from './request.js';
import type { ResponseCache } from './response-cache.js';
import type { Route, RouteBody, RouteResult } from './route.js';
import type { Hub } from './streaming/hub.js';

const UNKEPT = { 'cache-control': 'no-store' };

/** Makes data versions unique per process. Each process counts its versions from the start. */
const PROCESS = randomUUID();

/** The dependencies that all endpoints share. */
export interface EndpointParts {
  readonly flags: Flags;
  readonly inputs: InputSchemas;
  readonly readBody: BodyReader;
  readonly openApi: () => Serialized;
  readonly documents: ClientDocuments;
  readonly hub: Hub;
  readonly replies: ResponseCache<Reply>;
}

export interface Exchange {
  readonly request: FlagsRequest;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly visitor: Principal;
  /** The data version before the read. Present for cached or streamed routes, if the storage has data versions. */
  readonly stamp?: string | undefined;
  /** The project of the permission check. */
  readonly project?: string | null;
}

export type Endpoint = (exchange: Exchange) => Promise<Reply>;

/** Creates the endpoint of a route: check the permission, read the body, run the operation. */
export function createEndpoint(route: Route, parts: EndpointParts): Endpoint {
  const { flags, inputs, readBody, documents, hub, openApi } = parts;
  const readQuery = createQueryReader(queryParametersOf(route), inputs);
  const checkBody = createBodyCheck(route.body, inputs);

  async function answer({ request, params, visitor, stamp, project: asked = null }: Exchange): Promise<Reply> {
    const query = readQuery(request.rawQuery);
    const read = async () => (route.body === undefined ? undefined : checkBody(await readBody(request)));
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
      clientIp: () => request.ip(),
      lastEventId: headerOf(request, 'last-event-id'),
      clientSpec: headerOf(request, CLIENT_SPEC_HEADER.toLowerCase()),
      isStillAdmitted: () => visitor.isStillAllowed(route.action, project),
    });
    return replyTo(request, route, { result, stamp });
  }

  const readStamp = () => flags.dataVersion(route.cacheBy ?? route.streamed);
  // A long list needs a long storage read. Simultaneous requests therefore read in turn, one per event-loop pass.
  const answerStreamed: Endpoint = async (exchange) => {
    await nextTurn();
    return answer({ ...exchange, stamp: await readStamp() });
  };
  const answerWhole = route.streamed === undefined ? answer : answerStreamed;
  const answerOnce =
    route.cacheBy === undefined ? answerWhole : answeringOnce({ answer, readStamp, cache: parts.replies });
  return async (exchange) => {
    const { request, params, visitor } = exchange;
    const project = await projectAskedFor(route, flags, params);
    if (!route.permissionByBody) await visitor.check(route.action, project);
    return unlessKnown(request, route, await answerOnce({ ...exchange, project }));
  };
}

interface Once {
  readonly answer: Endpoint;
  readonly readStamp: () => Promise<string | undefined>;
  readonly cache: ResponseCache<Reply>;
}

/** Reads the data version before the reply. A change in between must not be cached under the newer version. */
function answeringOnce({ answer, readStamp, cache }: Once): Endpoint {
  const underWay = new Map<string, Promise<Reply>>();

  async function make(key: string, exchange: Exchange & { readonly stamp: string }): Promise<Reply> {
    await nextTurn();
    const made = await answer(exchange);
    if (made.slices) return made;
    const { text = '', ...reply } = made;
    const ready = { ...reply, bytes: reply.bytes ?? ownBytes(text) };
    cache.set(key, exchange.stamp, ready);
    return ready;
  }

  return async (exchange) => {
    const stamp = await readStamp();
    if (stamp === undefined) return answer(exchange);
    // The `Link` header uses `originalUrl`, and hosts may rewrite the URL. The key therefore includes both.
    const { originalUrl } = exchange.request;
    const url = urlOf(exchange.request);
    const key = url === originalUrl ? url : `${url} ${originalUrl}`;
    const known = cache.get(key, stamp);
    if (known) return known;
    const name = `${stamp} ${key}`;
    const earlier = underWay.get(name);
    if (earlier) {
      const reply = await earlier;
      // A sliced reply can be sent only once.
      return reply.slices ? make(key, { ...exchange, stamp }) : reply;
    }
    const made = make(key, { ...exchange, stamp }).finally(() => underWay.delete(name));
    underWay.set(name, made);
    return made;
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

function headerOf({ headers }: FlagsRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

interface Outcome {
  readonly result: RouteResult;
  readonly stamp: string | undefined;
}

async function replyTo(request: FlagsRequest, route: Route, { result, stamp }: Outcome): Promise<Reply> {
  const { revision, serialized, stream, next } = result;
  if (stream) return streamReply(request, stream);
  const known = serialized?.etag ?? result.etag;
  if (known !== undefined && isKnown(request, known)) return unchanged({ etag: known, ...varyOf(route) });
  const answer = serialized ? serializedReply(serialized) : await bodyReply(route, result);
  if (route.method !== 'GET' && !route.conditional && revision === undefined) return answer;
  const link = next === undefined ? {} : { link: linkToNext(request.originalUrl, next) };
  const etag = known ?? tagOf(answer, { request, stamp, result });
  const headers = { ...answer.headers, ...link, ...varyOf(route), ...(etag !== undefined && { etag }) };
  return { ...answer, headers };
}

async function bodyReply({ reply: { status, isSecret } }: Route, { body, chunks }: RouteResult): Promise<Reply> {
  const headers = isSecret ? UNKEPT : {};
  if (!chunks) return jsonReply({ status, body, headers });
  const text = await collectChunks(chunks);
  return { status, headers: { ...headers, ...JSON_TYPE }, ...(typeof text === 'string' ? { text } : { slices: text }) };
}

/**
 * Returns the tag source of a reply without `serialized`: its content, or the data version if the content is not
 * buffered.
 */
function tagOf(
  { text = '', slices }: Reply,
  { request, stamp, result: { revision, next } }: Outcome & Pick<Exchange, 'request'>,
): string | undefined {
  if (!slices) return entityTag(next === undefined ? text : `${text}${JSON.stringify(next)}`, revision);
  if (stamp === undefined) return undefined;
  return entityTag(`${PROCESS} ${stamp} ${urlOf(request)} ${request.originalUrl}`, revision);
}

/** Returns 304 without a body when `If-None-Match` names the tag of the reply. */
async function unlessKnown(request: FlagsRequest, { method, conditional }: Route, reply: Reply): Promise<Reply> {
  const { etag, link, vary } = reply.headers;
  if (reply.status !== 200 || etag === undefined || !(method === 'GET' || conditional)) return reply;
  if (!isKnown(request, etag)) return reply;
  await discard(reply);
  return unchanged({ etag, ...(link !== undefined && { link }), ...(vary !== undefined && { vary }) });
}

function isKnown({ headers }: FlagsRequest, etag: string): boolean {
  return namesTag(headers['if-none-match'], etag);
}

function unchanged(headers: Reply['headers']): Reply {
  return { status: 304, headers };
}

function varyOf({ vary }: Route): { readonly vary?: string } {
  return vary === undefined ? {} : { vary };
}

function serializedReply({ bytes }: Serialized): Reply {
  return { status: 200, headers: JSON_TYPE, bytes };
}

/** Returns an event stream. Its headers ask proxies not to buffer events. */
function streamReply({ method }: FlagsRequest, stream: NonNullable<RouteResult['stream']>): Reply {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'private, no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  return { status: 200, headers, stream: method === 'HEAD' ? (sink) => void sink.end() : stream };
}
