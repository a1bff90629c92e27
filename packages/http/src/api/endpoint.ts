import { randomUUID } from 'node:crypto';
import { type Flags, FlagsError } from '@flags/core';
import {
  type Awaitable,
  createValidator,
  type InputSchemas,
  nextTurn,
  pause,
  readBesideFlag,
  dataVersion as readDataVersion,
} from '@flags/core/integration';
import { headerRulesOf, permissionOf } from '../actions.js';
import { hideUnreadable, type Principal } from '../auth/permissions.js';
import type { FindUsers } from '../auth/users.js';
import { invalidInput } from '../messages/errors.js';
import {
  collectPieces,
  GENERATED_SLICE_LENGTH,
  jsonOf,
  piecesOf,
  type StartedText,
  slicesOf,
} from '../messages/json.js';
import { type FlagsReply, inSlices, textReply } from '../messages/reply.js';
import { type FlagsRequest, headerOf, urlOf } from '../messages/request.js';
import { entityTag, namesTag, revisionsIn, tagOfGenerated } from '../messages/tags.js';
import type { FlagsSource } from '../source.js';
import { flagTag, flagToWire } from '../wire/flag.js';
import { schemaFrom } from '../wire/schema.js';
import type { BodyReader } from './body.js';
import { type BodyRoom, type BodyStay, SHORT_BODY } from './body-room.js';
import type { ResponseCache } from './caching.js';
import { type Gate, leaveAfter, type Visit } from './gate.js';
import { idOf, keyIn, textIn } from './headers.js';
import { checkPermission, createBypassCheck, readOrCheck } from './permission.js';
import { createQueryReader, linkToNext, queryParametersOf, segmentIdIn } from './query.js';
import {
  BYPASS_HEADER,
  type QueryValues,
  REASON_HEADER,
  type Route,
  type RouteBody,
  type RouteRequest,
  type RouteResult,
  type RouteServices,
  type SdkRequest,
  type SdkRoute,
  type SdkServices,
} from './route.js';

/**
 * The maximum length of a buffered reply, in characters. Buffered replies have a content length and a content hash as
 * their tag; longer replies are streamed.
 */
const BUFFERED_LENGTH = 1024 * 1024;
/** The same of lists that are cached. */
const CACHED_LENGTH = 4 * BUFFERED_LENGTH;
/** The same of replies that can be generated again: any number of clients may wait for one each. */
const REGENERATED_LENGTH = 32 * 1024;

/** What the routes of the admin API share. SDKs need no engine. */
export interface EngineParts {
  readonly flags: Flags;
  readonly services: RouteServices;
  /** Returns the lookup of users of a request. Absent without the host's function. */
  readonly describeUsers: ((request: FlagsRequest) => FindUsers) | undefined;
}

/** A route of the admin API with its engine, or a route for SDKs. */
export type ServedRoute =
  | { readonly route: Route; readonly engine: EngineParts }
  | { readonly route: SdkRoute; readonly engine?: undefined };

/** The dependencies that all endpoints share. */
export interface EndpointParts {
  readonly source: FlagsSource;
  readonly inputs: InputSchemas;
  readonly services: SdkServices;
  readonly readBody: BodyReader;
  readonly gate: Gate;
  readonly bodies: BodyRoom;
  readonly replies: ResponseCache;
}

export interface Exchange {
  readonly request: FlagsRequest;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
  /** The data version before the read. Present for cached or streamed routes, if the storage has data versions. */
  readonly dataVersion?: string | undefined;
  /** The project of the permission check. */
  readonly project?: string | null;
  /** Present for requests that may need a place at the gate. */
  readonly visit?: Visit;
  /** Present for requests with a body. */
  readonly stay?: BodyStay;
  /** The tag of a reply that is known to be long, so nothing of it is buffered. */
  readonly etag?: string | undefined;
}

export type Endpoint = (exchange: Exchange) => Promise<FlagsReply>;

/** Creates the endpoint of a route: check the permission, read the body, run the operation. */
export function createEndpoint(served: ServedRoute, parts: EndpointParts): Endpoint {
  const { route, engine } = served;
  const { source, inputs, services, readBody, gate } = parts;
  const readQuery = createQueryReader(queryParametersOf(route), inputs);
  const checkBody = createBodyCheck(route.body, inputs);
  const { isLogged: takesReason, takesBypass, isRepeatable } = headerRulesOf(route);
  const permission = permissionOf(route.action);

  const queryOf = ({ rawQuery }: FlagsRequest): QueryValues => (rawQuery === '' ? {} : readQuery(rawQuery));

  /**
   * Reads the body before the gate, so that a client that sends it slowly occupies no place. A long one is parsed and
   * handled with a place.
   */
  async function read({ request, visit, stay }: Exchange): Promise<unknown> {
    const { body: sent, isLight, isUrgent } = route;
    let isLong = false;
    const body =
      sent &&
      (await readBody(request, {
        most: sent.most,
        meter: stay,
        beforeParsing(length) {
          isLong = length > SHORT_BODY;
          return isLong && !(isUrgent && length <= LONGEST_URGENT) ? visit?.enter() : undefined;
        },
      }));
    const content = { query: queryOf(request), body };
    const passesBy = isUrgent?.(content) || (!isLong && (route.heavy === undefined || isLight?.(content)));
    if (!passesBy) await visit?.enter();
    return checkBody(body);
  }

  /** Reads the request, and calls the handler. */
  async function handle(exchange: Exchange): Promise<RouteResult> {
    const { request, params, principal, project = null } = exchange;
    const query = queryOf(request);
    const body = await readOrCheck(route, principal, () => read(exchange));
    const sdkRequest: SdkRequest = {
      services,
      source,
      principal,
      sent: request,
      params,
      query,
      body,
      isStillAdmitted: async () =>
        request.isListening?.() !== false &&
        isServing(source) &&
        permission !== undefined &&
        principal.isStillAllowed(permission, project),
    };
    const handled = served.engine
      ? await handleChange(await engineRequest(exchange, sdkRequest, served.engine))
      : await served.route.handle(sdkRequest);
    return handled ?? {};
  }

  async function handleChange(request: RouteRequest): Promise<RouteResult | undefined> {
    try {
      return (await (route as Route).handle(request)) ?? undefined;
    } catch (error) {
      throw await hideUnreadable(error, request.principal);
    }
  }

  /** Adds what only handlers of an engine need. A bypass asks for its own permission before each commit. */
  async function engineRequest(
    { request, params, principal, project = null }: Exchange,
    sdkRequest: SdkRequest,
    { flags, services: all, describeUsers }: EngineParts,
  ): Promise<RouteRequest> {
    const ifMatch = route.ifMatch && request.headers['if-match'];
    const ifRevision = ifMatch === undefined ? undefined : revisionsIn(ifMatch);
    const reason = takesReason ? textIn(request, REASON_HEADER) : undefined;
    const bypassApproval = textIn(request, BYPASS_HEADER);
    const authorize = bypassApproval === undefined ? undefined : createBypassCheck(principal);
    const id = takesReason ? idOf(request, route) : undefined;
    return {
      ...sdkRequest,
      services: all,
      flags: flags.as(principal.actor, authorize && { authorize }),
      project,
      // Usage and events may be of a flag that no longer exists, so only handlers that read it need one.
      get ref() {
        return refOf(params, project);
      },
      context: {
        ...(id !== undefined && { id }),
        ...(reason !== undefined && { reason }),
        ...(bypassApproval !== undefined && { bypassApproval }),
        ...(ifRevision !== undefined && { ifRevision }),
      },
      describeUsers: describeUsers?.(request),
    };
  }

  async function answer(exchange: Exchange) {
    const { request, params, dataVersion, visit } = exchange;
    const result = await handle(exchange);
    if (result.generate) return answerGenerated(request, { ...result, generate: result.generate });
    if (route.heavy !== 'read') visit?.commit();
    // Writing and hashing a large document takes as long as changing it.
    if (visit?.isInside()) await pause();
    if (engine === undefined || route.changes !== 'flag')
      return replyTo(request, route, { result, dataVersion, etag: exchange.etag });
    const { changed, flag = changed?.name ?? params.featureName, revision = changed?.revision } = result;
    const { etag, ...seen } =
      flag === undefined || revision === undefined ? {} : await readSeen(engine.flags, flag, revision);
    const shown = changed ? flagToWire({ ...changed, ...seen }) : result.body;
    return replyTo(request, route, { result: { body: shown, etag }, dataVersion });
  }

  /** Keeps the reply to a request whose handler names its key. */
  function answerGenerated(request: FlagsRequest, generated: Generated): Promise<FlagsReply> {
    const make = (known?: string) => replyTwice(request, route, { ...generated, gate, known });
    if (generated.keptAs === undefined) return make();
    return fetchReply(request, `${route.action} ${generated.keptAs}`, make);
  }

  /** Simultaneous requests share a reply. If it is too long for that, each one generates its own. */
  async function fetchReply(
    request: FlagsRequest,
    key: string,
    make: (etag?: string) => Promise<FlagsReply>,
  ): Promise<FlagsReply> {
    const reply = await parts.replies(key, () => make());
    const { etag } = reply.headers;
    const isLong = reply.body === undefined && !reply.stream;
    return isLong && !matchesClientTag(request, etag) ? make(etag) : reply;
  }

  /**
   * Reads the data version before the reply: a change in between must not be cached under the newer version. A long list
   * needs a long storage read, so simultaneous requests read in different event-loop passes.
   */
  const answerVersioned = async (exchange: Exchange, { flags }: EngineParts): Promise<FlagsReply> => {
    const { request, visit } = exchange;
    const dataVersion = await readDataVersion(flags, route.caching?.by);
    const make = async (more: Pick<Exchange, 'visit' | 'etag'> = {}) => {
      await nextTurn();
      return answer({ ...exchange, ...more, dataVersion });
    };
    if (!route.caching?.keeps || dataVersion === undefined || visit) return make();
    const makeWaiting = (etag?: string) => {
      if (!route.waits) return make({ etag });
      return etag === undefined ? makeShared() : makeOwn(etag);
    };
    /** A shared reply has no owner, and does not end when its first client disconnects. */
    async function makeShared(): Promise<FlagsReply> {
      const place = gate({ load: 'read', actor: undefined, isPatient: true, request: { signal: undefined } });
      const reply = await inPlace(place, () => make({ visit: place }));
      if (!reply.stream) return reply;
      // Each client gets its own, and reads it in a place that counts for its user.
      await reply.discard?.();
      return { status: reply.status, headers: reply.headers };
    }
    function makeOwn(etag: string): Promise<FlagsReply> {
      const place = gate({ load: 'read', actor: actorOf(exchange.principal), isPatient: true, request });
      return inPlace(place, () => make({ etag, visit: place }));
    }
    return fetchReply(request, `${cacheKeyOf(exchange)} ${dataVersion}`, makeWaiting);
  };

  /** Other spellings of a path, and unknown parameters, share a reply: each cached one takes memory. */
  function cacheKeyOf({ request, params }: Exchange): string {
    // The `Link` header of a page uses `originalUrl`, and hosts may rewrite the URL.
    if (route.paged) return `${urlOf(request)} ${request.originalUrl}`;
    return `${route.path} ${JSON.stringify([params, queryOf(request)])}`;
  }

  const answerLight: Endpoint = engine && route.caching ? (exchange) => answerVersioned(exchange, engine) : answer;

  /** A request with a place is neither cached nor shared, because it ends when its own client disconnects. */
  const answerWithGate: Endpoint = (exchange) => {
    const { request, principal } = exchange;
    const { isLight, body, waits = false } = route;
    const isShared = waits && route.caching?.keeps;
    if (!body && (isShared || route.heavy === undefined || isLight?.({ query: queryOf(request), body }))) {
      return answerLight(exchange);
    }
    const load = route.heavy ?? (route.access === 'admin' ? 'change' : 'report');
    const isReport = load === 'report';
    const actor = isReport ? undefined : actorOf(principal);
    const visit = gate({ load, actor, isPatient: waits || isReport, request });
    const stay = parts.bodies(request);
    const make = async () => inSlices(await answerLight({ ...exchange, visit, stay }));
    return inPlace(visit, make).finally(stay.leave);
  };

  /** Resolves to the project of the permission check. Routes for SDKs are about the instance. */
  async function checked({ request, params, principal }: Exchange): Promise<string | null> {
    if (!engine) return permission === undefined ? null : principal.check(permission, null).then(() => null);
    const repeated = route.projectOf && isRepeatable ? keyIn(request) : undefined;
    const bypasses = Boolean(headerOf(request, BYPASS_HEADER.toLowerCase()));
    const isRefused = bypasses && !takesBypass;
    const asked = { flags: engine.flags, params, principal, repeated, bypasses: bypasses && !isRefused };
    const project = await checkPermission(route, asked);
    if (isRefused)
      throw invalidInput([{ message: `${BYPASS_HEADER} is not supported here: no approval can concern it`, path: '' }]);
    return project;
  }

  return async ({ request, params, principal }) => {
    const project = await checked({ request, params, principal });
    return toConditionalReply(request, route, await answerWithGate({ request, params, principal, project }));
  };
}

/** Whether a follower may still serve. Its streams end when it may not. */
function isServing({ following }: FlagsSource): boolean {
  try {
    following?.assertServing();
    return true;
  } catch {
    return false;
  }
}

/** Frees the place when the reply is written, or when there is none. */
async function inPlace(visit: Visit, make: () => Promise<FlagsReply>): Promise<FlagsReply> {
  try {
    return leaveAfter(await make(), visit);
  } catch (error) {
    visit.leave();
    throw error;
  }
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

/** In characters. A longer body is not parsed without a place, even if its request could be urgent. */
const LONGEST_URGENT = 256 * 1024;

/** Names the actor at the gate. A user and a token may have the same name. */
function actorOf({ name, token }: Principal): string {
  return token ? `token ${token.id}` : `user ${name}`;
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

interface Outcome {
  readonly result: RouteResult;
  readonly dataVersion: string | undefined;
  /** The tag of a reply that is known to be long. */
  readonly etag?: string | undefined;
}

async function replyTo(
  request: FlagsRequest,
  route: Route,
  { result, dataVersion, etag: known }: Outcome,
): Promise<FlagsReply> {
  const { body: content, stream, revision, next } = result;
  if (stream) return { status: 200, headers: STREAM_HEADERS, stream };
  const { status, isSecret, vary } = route;
  const headers: Record<string, string> = {
    ...(isSecret && { 'cache-control': 'no-store' }),
    ...(vary && { vary }),
    ...(next && { link: linkToNext(request.originalUrl, next) }),
    ...(result.etag && { etag: result.etag }),
  };
  if (content === undefined) return { status, headers };
  const isTagged = route.method === 'GET' || route.conditional || revision !== undefined;
  const longest = route.caching?.keeps ? CACHED_LENGTH : BUFFERED_LENGTH;
  const json = jsonOf(content);
  const body = typeof json === 'string' ? json : await collectPieces(json, known ? -1 : longest);
  if (isTagged && result.etag === undefined) {
    const etag = known ?? tagOf(body);
    if (etag) headers.etag = etag;
  }
  return textReply({ status, headers, body });

  /** The tag of a long reply covers its beginning, because callers may see different content. */
  function tagOf(body: string | StartedText): string | undefined {
    if (typeof body === 'string') return entityTag(next ? `${body}${JSON.stringify(next)}` : body, revision);
    const source = [PROCESS_ID, dataVersion, urlOf(request), request.originalUrl, ...body.first];
    return dataVersion && entityTag(source.join('\n'), revision);
  }
}

/** Makes data versions unique per process. They restart with the process, maybe on a restored storage. */
const PROCESS_ID = randomUUID();

/** A result whose body is generated. */
type Generated = RouteResult & { readonly generate: NonNullable<RouteResult['generate']> };

interface Regenerated extends Generated, Pick<EndpointParts, 'gate'> {
  /** The tag of a reply that is known to be long. */
  readonly known: string | undefined;
}

/**
 * Hashes a long reply in a first pass that keeps nothing, and generates it again while it is written. The first pass of
 * a long reply needs a place, so that short replies share the processor with two of them only. A client that does not
 * read cannot keep it. A reply that the cache keeps needs none, because it is made once per version, for all clients.
 */
async function replyTwice(
  request: FlagsRequest,
  { status, method, conditional, vary }: Route,
  { generate, contents, keptAs, gate, known }: Regenerated,
): Promise<FlagsReply> {
  const visit = gate({ load: 'evaluation', actor: undefined, isPatient: true, request });
  const hashFirst = () =>
    tagOfGenerated({
      pieces: piecesOf(generate('first')),
      longest: keptAs === undefined ? REGENERATED_LENGTH : BUFFERED_LENGTH,
      beforeRest: keptAs === undefined ? visit.enter : async () => undefined,
      contents: contents && (() => piecesOf(contents())),
    });
  try {
    const { text, etag } = known ? { etag: known } : await hashFirst();
    const body = text ?? { first: [], rest: slicesOf(piecesOf(generate('again')), GENERATED_SLICE_LENGTH) };
    const isTagged = method === 'GET' || conditional === true;
    return textReply({ status, headers: { ...(isTagged && { etag }), ...(vary && { vary }) }, body });
  } finally {
    visit.leave();
  }
}

/**
 * Reads what a changed flag shows beside its document, for the reply. The tag equals that of a GET at this revision.
 * Returns nothing on an error: the change is committed.
 */
async function readSeen(
  flags: Flags,
  flag: string,
  revision: number,
): Promise<{ readonly etag?: string; readonly lastSeenAt?: string | null }> {
  try {
    const { lastSeenAt, children } = await readBesideFlag(flags, flag);
    const { environments } = flags.settings;
    return { etag: flagTag({ revision, lastSeenAt, children, environments }), lastSeenAt };
  } catch {
    return {};
  }
}

/** Returns 304 without a body when `If-None-Match` names the tag of the reply. */
function toConditionalReply(
  request: FlagsRequest,
  { method, conditional }: Route,
  reply: FlagsReply,
): Awaitable<FlagsReply> {
  const { etag, link, vary } = reply.headers;
  if (reply.status !== 200 || !(method === 'GET' || conditional) || !matchesClientTag(request, etag)) return reply;
  const headers = { ...(etag && { etag }), ...(link !== undefined && { link }), ...(vary !== undefined && { vary }) };
  const notModified = { status: 304, headers };
  return reply.discard ? reply.discard().then(() => notModified) : notModified;
}

function matchesClientTag({ headers }: FlagsRequest, etag: string | undefined): boolean {
  return etag !== undefined && namesTag(headers['if-none-match'], etag);
}

/** The headers of an event stream ask proxies not to buffer events. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'private, no-cache, no-transform',
  'x-accel-buffering': 'no',
};
