import { type Flags, FlagsError, isFlagsError } from '@flags/core';
import {
  type Choices,
  flagToWire,
  type InputSchemas,
  readBesideFlag,
  dataVersion as readDataVersion,
} from '@flags/core/integration/http';
import { createValidator, nextTurn, pause } from '@flags/core/integration/shared';
import { headerRulesOf, permissionOf } from '../actions.js';
import { createBypassCheck, firstPermittedProject, hideUnreadable, type Principal } from '../auth/permissions.js';
import type { FindUsers } from '../auth/users.js';
import { ERROR_KINDS, HttpError, invalidInput } from '../messages/errors.js';
import { type FlagsReply, flagTag, inSlices, revisionsIn } from '../messages/reply.js';
import { type BodyReader, type FlagsRequest, headerOf, isShortBody, SHORT_BODY, urlOf } from '../messages/request.js';
import { propertiesOf, schemaFrom } from '../messages/schema.js';
import type { FlagsSource } from '../source.js';
import type { Admission, Passage } from './admission.js';
import { type EncodeDocument, toConditionalReply, toReply } from './answer.js';
import type { ReplyCache } from './caching.js';
import { compiledOf } from './compiled.js';
import { createQueryReader, segmentIdIn } from './query.js';
import {
  BYPASS_HEADER,
  type FindProject,
  ID_HEADER,
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
  readonly admission: Admission;
  readonly encodeDocument: EncodeDocument;
  readonly replies: ReplyCache;
}

/** A request that a route has matched. */
export interface Exchange {
  readonly request: FlagsRequest;
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
}

/** A request that is permitted. */
interface Permitted extends Exchange {
  /** The project of the permission check. */
  readonly project: string | null;
  /** Present if the request may need a place. */
  readonly passage?: Passage;
}

export type Endpoint = (exchange: Exchange) => Promise<FlagsReply>;

/** Creates the endpoint of a route: check the permission, read the request, run the operation, reply. */
export function createEndpoint(served: ServedRoute, parts: EndpointParts): Endpoint {
  const { route, engine } = served;
  const { long, sameForAll } = route;
  const { isLogged, takesBypass, isRepeatable } = headerRulesOf(route);
  const permission = permissionOf(route.action);
  const readQuery = createQueryReader(route, parts.inputs);
  const checkBody = createBodyCheck(route, parts.inputs);
  /** The work of a request with a long body, or of a route that is always long. */
  const work = long && long.kind !== 'evaluation' ? long.kind : undefined;
  const workOnBody = work ?? (route.access === 'admin' ? 'change' : 'report');

  return async (exchange) => {
    const permitted = { ...exchange, project: await checked(exchange) };
    const reply = sameForAll && engine && mayShare(exchange) ? await answerSame(permitted, engine.flags) : undefined;
    return toConditionalReply(exchange.request, route, reply ?? (await answer(permitted)));
  };

  function queryOf({ rawQuery }: FlagsRequest): QueryValues {
    return rawQuery === '' ? {} : readQuery(rawQuery);
  }

  /** Checks the permission of a request. Resolves to the project of the check. Routes for SDKs are about the instance. */
  async function checked(exchange: Exchange): Promise<string | null> {
    const { request, principal } = exchange;
    if (!engine) return permission === undefined ? null : principal.check(permission, null).then(() => null);
    const bypasses = Boolean(headerOf(request, BYPASS_HEADER.toLowerCase()));
    const project = await checkedIn(engine.flags, exchange, bypasses && takesBypass);
    if (!bypasses || takesBypass) return project;
    throw invalidInput([{ message: `${BYPASS_HEADER} is not supported here: no approval can concern it`, path: '' }]);
  }

  /** Asks nothing if the body names the project: {@link createBypassCheck} then checks a bypass in all projects of the changes. */
  async function checkedIn(flags: Flags, exchange: Exchange, bypasses: boolean): Promise<string | null> {
    const { params, principal } = exchange;
    const { permissionIn } = route;
    if (permission === undefined) return null;
    if (permissionIn === 'anyProject') return firstPermittedProject(permission, principal, flags);
    if (permissionIn === 'handler') return params.projectId ?? null;
    const project = params.projectId ?? (permissionIn ? await locate(permissionIn, flags, exchange) : null);
    await principal.check(permission, project);
    if (bypasses) await principal.check('bypassApproval', project);
    return project;
  }

  /** A repeated request is about the project of the first one: it may have deleted the flag or segment. */
  async function locate(find: FindProject, flags: Flags, { request, params }: Exchange): Promise<string | null> {
    const repeated = isRepeatable ? keyIn(request) : undefined;
    const first = repeated === undefined ? undefined : await projectOfSet(flags, repeated);
    return first === undefined ? projectOf(find, flags, params) : first;
  }

  /** Whether the request shares the reply to a simultaneous one: not if either may be refused with `overloaded`. */
  function mayShare({ request }: Exchange): boolean {
    return work === undefined || work === 'read' || isShort({ query: queryOf(request), body: undefined });
  }

  function isShort(sent: { readonly query: QueryValues; readonly body: unknown }): boolean {
    return work === undefined || long?.isShort?.(sent) === true;
  }

  /**
   * Returns the cached reply, which simultaneous requests share; undefined if the request has to make its own. Reads the data
   * version first: a change in between must not be cached under the newer version.
   */
  async function answerSame(permitted: Permitted, flags: Flags): Promise<FlagsReply | undefined> {
    const version = sameForAll === 'process' ? '' : await readDataVersion(flags, sameForAll);
    if (version === undefined) return undefined;
    return parts.replies(`${cacheKeyOf(permitted)} ${version}`, async () => {
      // A long list needs a long storage read, so simultaneous requests read in different event-loop passes.
      await nextTurn();
      return answer(permitted, true);
    });
  }

  /** Other spellings of a path, and unknown parameters, share a reply: each cached one takes memory. */
  function cacheKeyOf({ request, params }: Exchange): string {
    // The `Link` header of a page uses `originalUrl`, and hosts may rewrite the URL.
    if (route.paged) return `${urlOf(request)} ${request.originalUrl}`;
    return `${route.path} ${JSON.stringify([params, queryOf(request)])}`;
  }

  /** @param isShared whether several clients wait for the reply: it is completed even if the first of them disconnects */
  async function answer(permitted: Permitted, isShared = false): Promise<FlagsReply> {
    if (!long && !route.body) return make(permitted);
    // A short body is read and handled without a place.
    if (!long && isShortBody(permitted.request)) return inSlices(await make(permitted));
    const passage = parts.admission(isShared ? NOBODY : permitted.request, actorOf(permitted.principal));
    try {
      const reply = await make({ ...permitted, passage });
      return passage.leaveAfter(isShared ? reply : inSlices(reply));
    } catch (error) {
      passage.leave();
      throw error;
    }
  }

  async function make(permitted: Permitted): Promise<FlagsReply> {
    const { request, passage } = permitted;
    const { encodeDocument } = parts;
    const result = await handle(permitted);
    passage?.commit();
    // Writing and hashing a large document takes as long as changing it.
    if (passage?.isInside()) await pause();
    const shown = engine && route.changes === 'flag' ? await showFlag(permitted, result, engine.flags) : result;
    return toReply(shown, { request, route, passage, encodeDocument });
  }

  /** Reads the request, and calls the handler. */
  async function handle(permitted: Permitted): Promise<RouteResult> {
    const { request, params, principal, project } = permitted;
    const query = queryOf(request);
    const body = await readBody(permitted, query).catch(async (error: unknown) => {
      // Callers without permission for the instance learn nothing about a body that should name the projects to check.
      const isAboutBody = isFlagsError(error) || (error instanceof HttpError && error.code !== 'overloaded');
      if (isAboutBody && permission && route.permissionIn === 'handler') await principal.check(permission, null);
      throw error;
    });
    const sdkRequest: SdkRequest = {
      services: parts.services,
      source: parts.source,
      principal,
      sent: request,
      params,
      query,
      body,
      isStillAdmitted: async () =>
        request.isListening?.() !== false &&
        isServing(parts.source) &&
        permission !== undefined &&
        principal.isStillAllowed(permission, project),
    };
    if (!served.engine) return (await served.route.handle(sdkRequest)) ?? {};
    try {
      return (await served.route.handle(engineRequest(permitted, sdkRequest, served.engine))) ?? {};
    } catch (error) {
      throw await hideUnreadable(error, principal);
    }
  }

  /** Reads the body before it waits for a place to work. A long body is parsed and handled with a place. */
  async function readBody({ request, passage }: Permitted, query: QueryValues): Promise<unknown> {
    let isLong = false;
    const beforeParsing = (length: number) => {
      isLong = length > SHORT_BODY;
      return isLong && !(long?.isUrgent && length <= LONGEST_URGENT) ? passage?.enter(workOnBody) : undefined;
    };
    const { most } = route.body ?? {};
    const body = route.body && (await parts.readBody(request, { most, meter: passage?.meter, beforeParsing }));
    const sent = { query, body };
    if (!long?.isUrgent?.(sent) && (isLong || !isShort(sent))) await passage?.enter(workOnBody);
    return checkBody(body);
  }

  /** Adds what only handlers of an engine need. A bypass asks for its own permission before each commit. */
  function engineRequest(
    { request, params, principal, project }: Permitted,
    sdkRequest: SdkRequest,
    { flags, services, describeUsers }: EngineParts,
  ): RouteRequest {
    const ifMatch = route.ifMatch && request.headers['if-match'];
    const ifRevision = ifMatch === undefined ? undefined : revisionsIn(ifMatch);
    const reason = isLogged ? textIn(request, REASON_HEADER) : undefined;
    const bypassApproval = textIn(request, BYPASS_HEADER);
    const authorize = bypassApproval === undefined ? undefined : createBypassCheck(principal);
    const id = isLogged ? idOf(request, route) : undefined;
    return {
      ...sdkRequest,
      services,
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
}

/** Resolves to the project of a change set; undefined if there is no such set, or if it is about several projects. */
async function projectOfSet(flags: Flags, changeSet: string): Promise<string | null | undefined> {
  try {
    const { items } = await flags.history.listProjects({ changeSet });
    return items.length === 1 ? items[0] : undefined;
  } catch (error) {
    if (isFlagsError(error) && error.code === 'change_set_not_found') return undefined;
    throw error;
  }
}

/** Resolves to the project of a flag or segment whose path omits it; null for the instance, or if it does not exist. */
async function projectOf(find: FindProject, flags: Flags, params: Exchange['params']): Promise<string | null> {
  try {
    return (await find(flags, params)) ?? null;
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return null;
    throw error;
  }
}

const NOBODY = { signal: undefined };

/** Whether a follower may still serve. Its streams end when it may not. */
function isServing({ following }: FlagsSource): boolean {
  try {
    following?.assertServing();
    return true;
  } catch {
    return false;
  }
}

/**
 * Adds to the reply of a change what the flag shows beside its document. The tag equals that of a GET at this revision.
 * Adds nothing on an error: the change is committed.
 */
async function showFlag({ params }: Exchange, result: RouteResult, flags: Flags): Promise<RouteResult> {
  const { changed, flag = changed?.name ?? params.featureName, revision = changed?.revision } = result;
  if (flag === undefined || revision === undefined) return { body: result.body };
  const seen = await readBesideFlag(flags, flag).catch(() => undefined);
  const { environments } = flags.settings;
  const body = changed ? flagToWire({ ...changed, ...(seen && { lastSeenAt: seen.lastSeenAt }) }) : result.body;
  return seen ? { body, etag: flagTag({ revision, ...seen, environments }) } : { body };
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

/** Names the actor of a place. A user and a token may have the same name. */
function actorOf({ name, token }: Principal): string {
  return token ? `token ${token.id}` : `user ${name}`;
}

function createBodyCheck(route: Route, inputs: InputSchemas): (value: unknown) => unknown {
  const { body } = route;
  if (body === undefined) return () => undefined;
  const validate =
    body.checkedBy === 'router'
      ? createValidator(compiledOf('body', route), undefined, choicesOf(body, inputs))
      : (value: unknown) => value;
  return (value) => {
    if (value !== undefined) return validate(value);
    if (body.required) throw invalidInput([{ message: 'a JSON body is required', path: '' }]);
    return undefined;
  };
}

/** Returns the texts that the engine's options permit in a body. */
function choicesOf({ schema, choices }: RouteBody, inputs: InputSchemas): Choices | undefined {
  if (choices === undefined) return undefined;
  const properties = propertiesOf(schemaFrom(schema, inputs));
  const texts = choices.map((member) => [member, properties[member]?.enum as readonly string[]] as const);
  return { texts: Object.fromEntries(texts), members: Object.keys(properties) };
}

/** Returns the text in a header, which is percent-encoded, because headers hold ASCII only. */
function textIn(request: FlagsRequest, name: string): string | undefined {
  const header = headerOf(request, name.toLowerCase());
  if (!header) return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    throw invalidInput([{ message: `${name} must be percent-encoded UTF-8`, path: '' }]);
  }
}

/**
 * Returns the id in `Idempotency-Key`.
 *
 * @throws FlagsError `invalid_input` for a value that is not a UUID, and for changes that cannot be repeated
 */
function idOf(request: FlagsRequest, route: Route): string | undefined {
  if (headerOf(request, ID_HEADER.toLowerCase()) === undefined) return undefined;
  if (!headerRulesOf(route).isRepeatable) {
    const why = route.action.endsWith('Token') ? ', because the secret of a token is shown only once' : '';
    const message = `${ID_HEADER} is not supported here${why}. Send the request without it`;
    throw invalidInput([{ message, path: '' }]);
  }
  const key = keyIn(request);
  if (key === undefined) throw invalidInput([{ message: `${ID_HEADER} must be a UUID`, path: '' }]);
  return key;
}

/** A UUID, with or without the quotes of a structured field. */
const KEY = /^(?<quote>"?)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\k<quote>$/i;

/** Returns the UUID in `Idempotency-Key` in lower case; undefined for another value. */
function keyIn(request: FlagsRequest): string | undefined {
  return KEY.exec(headerOf(request, ID_HEADER.toLowerCase()) ?? '')?.[2]?.toLowerCase();
}
