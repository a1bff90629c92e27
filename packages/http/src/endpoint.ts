import { type Awaitable, type FlagRef, type Flags, FlagsError } from '@flags/core';
import { createValidator, type InputSchemas, nextTurn } from '@flags/core/integration';
import { checkPermission, permissionOf, readOrCheck } from './auth.js';
import { type BodyReader, readThenCheck } from './body.js';
import { entityTag, namesTag, type ResponseCache, revisionsIn, versionTag } from './caching.js';
import { CLIENT_SPEC_HEADER, type ClientDocuments } from './client/client-document.js';
import { invalidInput } from './errors.js';
import { type Gate, leaveAfter, type Visit } from './gate.js';
import { CACHED_LENGTH, COLLECTED_LENGTH, collectChunks } from './json-chunks.js';
import type { Principal } from './permissions.js';
import { createQueryReader, linkToNext, queryParametersOf, segmentIdIn } from './query.js';
import { discard, JSON_TYPE, jsonReply, ownBytes, type Reply, type Serialized } from './reply.js';
import { type FlagsRequest, urlOf } from './request.js';
import type { AdminFacts, QueryValues, Route, RouteBody, RouteResult } from './route.js';
import { schemaFrom } from './schema.js';
import type { EventHub } from './streaming/event-hub.js';
import type { Hub } from './streaming/hub.js';
import type { ShownUser, UserId } from './users.js';
import { flagDetailToWire, flagToWire } from './wire/flag.js';

const NO_STORE = { 'cache-control': 'no-store' };
const NO_HEADERS = {};

/** The dependencies that all endpoints share. */
export interface EndpointParts {
  readonly flags: Flags;
  readonly inputs: InputSchemas;
  readonly admin: AdminFacts;
  readonly readBody: BodyReader;
  readonly gate: Gate;
  readonly openApi: () => Serialized;
  readonly documents: ClientDocuments;
  readonly hub: Hub;
  readonly eventHub: EventHub;
  readonly replies: ResponseCache<Reply>;
  /** Resolves to names and pictures of users, on behalf of a request. Absent without the host's function. */
  readonly describeUsers: DescribeUsersFor | undefined;
}

type DescribeUsersFor = (ids: Iterable<UserId>, request: FlagsRequest) => Promise<ReadonlyMap<UserId, ShownUser>>;

export interface Exchange {
  readonly request: FlagsRequest;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
  /** The data version before the read. Present for cached or streamed routes, if the storage has data versions. */
  readonly dataVersion?: string | undefined;
  /** The project of the permission check. */
  readonly project?: string | null;
  /** Present for heavy requests. */
  readonly visit?: Visit;
}

export type Endpoint = (exchange: Exchange) => Promise<Reply>;

/** Creates the endpoint of a route: check the permission, read the body, run the operation. */
export function createEndpoint(route: Route, parts: EndpointParts): Endpoint {
  const { flags, inputs, admin, readBody, gate, documents, hub, eventHub, openApi, describeUsers } = parts;
  const readQuery = createQueryReader(queryParametersOf(route), inputs);
  const checkBody = createBodyCheck(route.body, inputs);

  const queryOf = ({ rawQuery }: FlagsRequest): QueryValues => (rawQuery === '' ? {} : readQuery(rawQuery));

  /** Reads the body before the gate, so that a client that sends it slowly occupies no place. Parses a long one after it. */
  async function read(request: FlagsRequest, visit: Visit | undefined): Promise<unknown> {
    const isShort = (length: number) => route.isLight !== undefined && length <= SHORT_BODY;
    const body = route.body && (await readBody(request, (length) => (isShort(length) ? undefined : visit?.enter())));
    if (!route.isLight?.({ query: queryOf(request), body })) await visit?.enter();
    return checkBody(body);
  }

  async function answer({ request, params, principal, dataVersion, project: asked = null, visit }: Exchange) {
    const query = queryOf(request);
    const { body, project } =
      route.permissionBy === 'body'
        ? await readThenCheck(route, principal, () => read(request, visit))
        : { body: await readOrCheck(route, principal, () => read(request, visit)), project: asked };
    const ifMatch = route.ifMatch && request.headers['if-match'];
    const ifRevision = ifMatch === undefined ? undefined : revisionsIn(ifMatch);
    let revision: number | undefined;
    const onRevision = (written: number) => {
      revision = written;
    };
    const result: RouteResult =
      (await route.handle({
        flags: flags.as(principal.token ?? principal.name),
        principal,
        admin,
        project,
        params,
        get ref() {
          return refOf(params, project);
        },
        query,
        body,
        context: { ...(ifRevision !== undefined && { ifRevision }), ...(route.changes === 'flag' && { onRevision }) },
        documents,
        hub,
        eventHub,
        get signal() {
          return request.signal;
        },
        openApi,
        describeUsers: describeUsers && ((ids) => describeUsers(ids, request)),
        clientIp: () => request.ip(),
        // Clients send an empty header on the first connection.
        lastEventId: headerOf(request, 'last-event-id') || undefined,
        clientSpec: headerOf(request, CLIENT_SPEC_HEADER.toLowerCase()),
        isStillAdmitted: () => principal.isStillAllowed(permissionOf(route), project),
      })) ?? {};
    if (route.changes !== 'flag') return replyTo(request, route, { result, dataVersion });
    const { changed } = result;
    const { projectId = project, featureName } = params;
    const named = projectId && featureName ? { project: projectId, flag: featureName } : undefined;
    const ref = changed ? { project: changed.project, flag: changed.name } : (result.flag ?? named);
    const written = changed?.revision ?? result.revision ?? revision;
    const { etag, ...seen } = ref ? await readChanged(flags, ref, written) : {};
    const shown = changed ? { ...result, body: flagToWire({ ...changed, ...seen }) } : result;
    return bodyReply(route, shown, etag === undefined ? NO_HEADERS : { etag });
  }

  const readDataVersion = () => flags.dataVersion(route.cacheBy ?? route.streamed);
  // A long list needs a long storage read. Simultaneous requests therefore read in turn, and long ones in different
  // event-loop passes.
  const answerStreamed: Endpoint = async (exchange) => {
    await nextTurn();
    return answer({ ...exchange, dataVersion: await readDataVersion() });
  };
  const answerWhole = route.streamed === undefined ? answer : answerStreamed;
  const answerCached =
    route.cacheBy === undefined ? answerWhole : cacheReplies({ answer, readDataVersion, cache: parts.replies });

  /** A heavy request is neither cached nor shared, because it ends when its own client disconnects. */
  const answerHeavy: Endpoint = async (exchange) => {
    const { request, principal } = exchange;
    const { heavy, isLight, body } = route;
    if (heavy === undefined || (!body && isLight?.({ query: queryOf(request), body }))) return answerCached(exchange);
    const visit = gate.visit({ weight: heavy, actor: actorOf(principal), signal: request.signal });
    try {
      return leaveAfter(await answerWhole({ ...exchange, visit }), visit.leave);
    } catch (error) {
      visit.leave();
      throw error;
    }
  };
  return async ({ request, params, principal }) => {
    const project = await checkPermission(route, { flags, params, principal });
    return toConditionalReply(request, route, await answerHeavy({ request, params, principal, project }));
  };
}

/**
 * Returns the reference that a path names. A flag or segment whose path omits the project gets that of the permission
 * check, because it may have moved since.
 */
function refOf(params: Exchange['params'], checked: string | null): unknown {
  const { projectId: project = checked, featureName: flag, environment, strategyId: strategy, segmentId } = params;
  if (segmentId !== undefined) return { segment: segmentIdIn(segmentId), project };
  if (flag === undefined) return { project };
  if (project !== null) return { project, flag, ...(environment && { environment }), ...(strategy && { strategy }) };
  throw new FlagsError('flag_not_found', `There is no flag ${flag}; create it, or list the flags.`);
}

/** In characters. A heavy route parses a body up to this length before the gate, to find out whether it is light. */
const SHORT_BODY = 256 * 1024;

/** Names the actor at the gate. A user and a token may have the same name. */
function actorOf({ name, token }: Principal): string {
  return token ? `token ${token.id}` : `user ${name}`;
}

interface CachedEndpointParts {
  readonly answer: Endpoint;
  readonly readDataVersion: () => Promise<string | undefined>;
  readonly cache: ResponseCache<Reply>;
}

/** Bytes of a reply that takes less than a millisecond to make. */
const SHORT_REPLY = 16 * 1024;

/** Reads the data version before the reply. A change in between must not be cached under the newer version. */
function cacheReplies({ answer, readDataVersion, cache }: CachedEndpointParts): Endpoint {
  async function make(key: string, exchange: Exchange): Promise<Reply> {
    // A reply that was short before a change is almost always short after it, so it is generated at once.
    if ((cache.lastBytes(key) ?? Number.POSITIVE_INFINITY) > SHORT_REPLY) await nextTurn();
    const freshReply = await answer(exchange);
    const { status, headers, slices, text = '', bytes = ownBytes(text) } = freshReply;
    return slices ? freshReply : { status, headers, bytes };
  }

  return async (exchange) => {
    const dataVersion = await readDataVersion();
    if (dataVersion === undefined) return answer(exchange);
    // The `Link` header uses `originalUrl`, and hosts may rewrite the URL. The key therefore includes both.
    const { originalUrl } = exchange.request;
    const url = urlOf(exchange.request);
    const key = url === originalUrl ? url : `${url} ${originalUrl}`;
    let own: Promise<Reply> | undefined;
    const makeReply = () => {
      own = make(key, { ...exchange, dataVersion });
      return own;
    };
    const reply = await cache.fetch(key, dataVersion, makeReply);
    // A sliced reply can be sent only once.
    return reply.slices && !own ? makeReply() : reply;
  };
}

function createBodyCheck(body: RouteBody | undefined, inputs: InputSchemas): (value: unknown) => unknown {
  if (body === undefined) return () => undefined;
  const validate =
    body.checkedBy === 'router' ? createValidator(schemaFrom(body.schema, inputs)) : (value: unknown) => value;
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
  readonly dataVersion: string | undefined;
}

async function replyTo(request: FlagsRequest, route: Route, { result, dataVersion }: Outcome): Promise<Reply> {
  const { revision, serialized, stream, next } = result;
  if (stream) return streamReply(request, stream);
  const knownTag = serialized?.etag ?? result.etag;
  if (knownTag !== undefined && matchesClientTag(request, knownTag))
    return notModified({ etag: knownTag, ...varyOf(route) });
  const answer = serialized ? serializedReply(serialized) : await bodyReply(route, result, NO_HEADERS);
  if (route.method !== 'GET' && !route.conditional && revision === undefined) return answer;
  const etag = knownTag ?? tagOf(answer, { request, dataVersion, result });
  const headers: Record<string, string> = Object.assign({}, answer.headers, varyOf(route));
  if (next !== undefined) headers.link = linkToNext(request.originalUrl, next);
  if (etag !== undefined) headers.etag = etag;
  return { ...answer, headers };
}

function bodyReply(
  { status, isSecret, cacheBy }: Route,
  { body, chunks, isWhole }: RouteResult,
  given: Reply['headers'],
): Awaitable<Reply> {
  const headers = isSecret ? { ...given, ...NO_STORE } : given;
  if (!chunks) return jsonReply({ status, body, headers });
  const longest = cacheBy === undefined ? COLLECTED_LENGTH : CACHED_LENGTH;
  return chunksReply(collectChunks(chunks, isWhole ? Number.POSITIVE_INFINITY : longest), { status, headers });
}

async function chunksReply(
  collecting: ReturnType<typeof collectChunks>,
  { status, headers }: Pick<Reply, 'status' | 'headers'>,
): Promise<Reply> {
  const text = await collecting;
  return { status, headers: { ...headers, ...JSON_TYPE }, ...(typeof text === 'string' ? { text } : { slices: text }) };
}

/**
 * Returns the tag of a reply without `serialized`. It hashes the content, or the data version if the content is not
 * buffered.
 */
function tagOf(
  { text = '', slices }: Reply,
  { request, dataVersion, result: { revision, next, audience = [] } }: Outcome & Pick<Exchange, 'request'>,
): string | undefined {
  if (!slices) return entityTag(next === undefined ? text : `${text}${JSON.stringify(next)}`, revision);
  if (dataVersion === undefined) return undefined;
  return versionTag([dataVersion, urlOf(request), request.originalUrl, ...audience], revision);
}

/**
 * Reads `lastSeenAt` and the tag of the changed flag for the reply. The tag equals that of a GET, unless the flag
 * has already changed again. Returns nothing if the flag is deleted, or on an error: the change is committed.
 */
async function readChanged(
  flags: Flags,
  ref: FlagRef,
  revision: number | undefined,
): Promise<{ readonly etag?: string | undefined; readonly lastSeenAt?: string | null }> {
  try {
    const flag = await flags.getFlag(ref, { revision });
    const etag = flag.revision === revision ? entityTag(JSON.stringify(flagDetailToWire(flag)), revision) : undefined;
    return { etag, lastSeenAt: flag.lastSeenAt };
  } catch {
    return {};
  }
}

/** Returns 304 without a body when `If-None-Match` names the tag of the reply. */
function toConditionalReply(request: FlagsRequest, { method, conditional }: Route, reply: Reply): Awaitable<Reply> {
  const { etag, link, vary } = reply.headers;
  if (reply.status !== 200 || etag === undefined || !(method === 'GET' || conditional)) return reply;
  if (!matchesClientTag(request, etag)) return reply;
  const headers = { etag, ...(link !== undefined && { link }), ...(vary !== undefined && { vary }) };
  return discard(reply).then(() => notModified(headers));
}

function matchesClientTag({ headers }: FlagsRequest, etag: string): boolean {
  return namesTag(headers['if-none-match'], etag);
}

function notModified(headers: Reply['headers']): Reply {
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
