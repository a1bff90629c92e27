import type {
  ChangeContext,
  EnvironmentRef,
  ErrorCode,
  Flag,
  FlagRef,
  Flags,
  ProjectRef,
  StrategyRef,
} from '@flags/core';
import {
  type ChangeArguments,
  changeRevised,
  type DataVersionScope,
  type InputSchemas,
  type OperationName,
  type ResultOf,
} from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { SegmentRef } from '@flags/core/types';
import type { ActionName } from '../actions.js';
import type { AuthMode } from '../auth/auth.js';
import type { Access, Principal, SdkAccess } from '../auth/permissions.js';
import type { FindUsers } from '../auth/users.js';
import type { CLIENT_SPEC_HEADER } from '../client/client-document.js';
import type { ClientHub } from '../client/client-hub.js';
import type { RefetchHub } from '../client/refetch-hub.js';
import type { FindAddresses } from '../client/stream-address.js';
import type { UnknownTokens } from '../client/unknown-tokens.js';
import type { EventHub } from '../events/event-hub.js';
import type { ErrorForm } from '../messages/errors.js';
import type { Pieces } from '../messages/json.js';
import type { FlagsReply } from '../messages/reply.js';
import type { FlagsRequest, QueryParameterName } from '../messages/request.js';
import type { SchemaSource } from '../messages/schema.js';
import type { FlagsSource } from '../source.js';
import type { WorkKind } from './admission.js';
import type { PathParameterName } from './path-parameters.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The documents whose `ETag` has a revision. */
type KindWithETag = 'flag' | 'project' | 'segment' | 'changeRequest';

/** One endpoint as data. `createFlagsApi` serves it, and the OpenAPI document describes it. Created by {@link route}. */
export interface Route<Name extends ActionName = ActionName> {
  readonly method: Method;
  /**
   * A path in Express syntax with plain parameters only, such as `/api/admin/projects/:projectId`. Express 4 and 5
   * agree on those.
   */
  readonly path: string;
  /** The part of the API, which determines the accepted token kinds. It follows from the path. */
  readonly access: Access;
  /** The unique name of the operation. Its row in `ACTIONS` has the permission, and what the request writes. */
  readonly action: Name;
  readonly summary: string;
  readonly query?: readonly QueryParameter[];
  /**
   * `optional`: returns a page if the query has `limit` or `after`, else the whole list. `always`: returns a page. Both
   * link to the next page.
   */
  readonly paged?: 'optional' | 'always';
  /** Absent: the endpoint does not read the body. */
  readonly body?: RouteBody;
  readonly status: 200 | 201 | 202;
  /** The schema of the reply's body. Absent: the reply has no body. */
  readonly reply?: JsonSchema;
  /** How the replies differ from JSON that may be cached. */
  readonly form?: ReplyForm;
  /** Error codes beyond those that follow from the other members of the row; see `possibleErrors`. */
  readonly errors?: readonly ErrorCode[];
  /** Error codes that would follow from the other members, but cannot occur. */
  readonly never?: readonly ErrorCode[];
  /** The document that the request changes. The reply has the `ETag` that a GET of it would have. */
  readonly changes?: KindWithETag;
  /**
   * The document whose revision `If-Match` compares. Default: the changed document, if the path names it. Absent: the
   * endpoint ignores the header.
   */
  readonly ifMatch?: KindWithETag;
  /**
   * The reply is the same for all callers with the permission, while the version of these data is the same, so it is
   * cached. `process`: it never changes.
   */
  readonly sameForAll?: DataVersionScope | 'process';
  /** The request may need much memory or time by nature: it waits for a place. */
  readonly long?: Long;
  readonly deprecated?: true;
  /**
   * How the permission check finds its project if the path does not name it. Default: it is about the instance.
   *
   * - a function: returns the project; null for the instance. A refusal counts as null. The operation repeats the refusal
   *   after the permission check.
   * - `anyProject`: the caller needs the permission for the instance, or for any project. The handler shows only those.
   * - `handler`: the body names one or several, so the handler checks them.
   */
  readonly permissionIn?: 'anyProject' | 'handler' | FindProject;
  /** Resolves to undefined for a reply without a body. A method, so that a route may narrow the type of its path parameters. */
  handle(request: RouteRequest): Handled;
}

/** A route for SDKs, which followers also have. Created by {@link sdkRoute}. */
export interface SdkRoute<Name extends ActionName = ActionName> extends Route<Name> {
  readonly access: SdkAccess;
  handle(request: SdkRequest): Handled;
}

/** Returns the project that a request is about. */
export type FindProject = (flags: Flags, params: Readonly<Record<string, string>>) => Promise<string | null>;

type FileMedia = 'text/csv' | 'application/jsonl';

interface ReplyForm {
  /** The media types of a reply that is not JSON. It has no `ETag`: event streams do not end, and exports are long. */
  readonly media?: readonly ('text/event-stream' | FileMedia)[];
  /** The reply contains a secret, and forbids all caching, even if the host sets another header. */
  readonly isSecret?: true;
  /** Sends an `ETag` and supports `If-None-Match`, as every GET does. */
  readonly isConditional?: true;
  /** The request header that selects the form of the reply. */
  readonly vary?: typeof CLIENT_SPEC_HEADER;
  /** `messages`: a 400 has the body `[{ "msg" }]`. `ofrep`: that protocol defines the 400 and 404 bodies. */
  readonly errors?: ErrorForm;
}

/** When a request waits for a place, and for which one. */
interface Long {
  /** An `evaluation` waits only if its reply is long. */
  readonly kind: Exclude<WorkKind, 'body' | 'document' | 'report'>;
  /** Returns whether this request needs no place, because it is small. Asked only if the body is short. */
  isShort?(sent: SentContent): boolean;
  /** Returns whether this request never waits, whatever its size. */
  isUrgent?(sent: SentContent): boolean;
}

/** The codes of changes of definitions. Other bodies cannot exceed these limits. */
export const TOO_LARGE = ['document_too_large', 'change_set_too_large'] as const;

/** A documented query parameter. Other parameters are ignored. */
export interface QueryParameter {
  readonly name: QueryParameterName;
  readonly description: string;
  /**
   * `integer`, `boolean`, `string`, a repeatable `array` of strings, or an `object` of strings. An object is sent as
   * `name[member]=value`.
   */
  readonly schema: SchemaSource;
}

export interface RouteBody {
  readonly required: boolean;
  /** The maximum size in bytes, if it is less than the limit of the router. */
  readonly most?: number;
  readonly schema: SchemaSource;
  /** The members whose `enum` the options of the engine name. Its compiled schema does not have it. */
  readonly choices?: readonly string[];
  /**
   * `core`: the operation, or the handler, validates its input. `router`: the wire shape differs, so the router validates before
   * `handle`.
   */
  readonly checkedBy: 'core' | 'router';
}

/** The input of a client. */
export interface SentContent {
  readonly query: QueryValues;
  /** Not validated, unless the router checks it. */
  readonly body: unknown;
}

/** The parts of the API that handlers for SDKs share. */
export interface SdkServices {
  readonly hub: ClientHub;
  readonly refetchHub: RefetchHub;
  /** Finds the streams to name in bulk evaluations. */
  readonly findAddresses: FindAddresses;
  readonly unknownTokens: UnknownTokens;
}

/** The parts of the API that handlers share. */
export interface RouteServices extends SdkServices {
  /** How requests authenticate. */
  readonly auth: AuthMode;
  readonly openApi: () => object;
  readonly eventHub: EventHub;
}

/** The request of an SDK, to an engine or a follower. */
export interface SdkRequest<Parameter extends string = string> {
  readonly services: SdkServices;
  readonly source: FlagsSource;
  /** The caller, and its permissions. */
  readonly principal: Principal;
  /** The request as the adapter passes it. Long work should end when its signal aborts. */
  readonly sent: FlagsRequest;
  readonly params: Readonly<Record<Parameter, string>>;
  /** The documented parameters in the query, converted to the types of their schemas. */
  readonly query: QueryValues;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
  /** Authenticates and authorizes the caller again. False for all when the server has stopped. */
  readonly isStillAdmitted: () => Promise<boolean>;
}

export interface RouteRequest<Parameter extends string = string, Ref = unknown> extends SdkRequest<Parameter> {
  readonly services: RouteServices;
  /** The engine on behalf of the actor. */
  readonly flags: Flags;
  /** The project of the permission check. */
  readonly project: string | null;
  /** The reference that the path names. */
  readonly ref: Ref;
  /**
   * The expected revision from `If-Match`, the reasons from `X-Change-Reason` and `X-Bypass-Approval`, and the id from
   * `Idempotency-Key`.
   */
  readonly context: ChangeContext;
  /** Returns the names and pictures of users, as far as the host knows them. Absent without `describeUsers`. */
  readonly describeUsers: FindUsers | undefined;
}

/** A document for SDKs: the same for all clients with this key. */
export interface SharedDocument {
  /** The scope, and the version of the configuration. */
  readonly key: string;
  readonly generate: () => Pieces;
}

/** The result of a handler. The route defines the status. */
export interface RouteResult {
  /** A value to send as JSON. Long lists are made by `jsonArray`, so that they are sent in pieces. */
  readonly body?: unknown;
  /** A document that many clients share, in place of `body`. */
  readonly document?: SharedDocument;
  /** The flag that a change has returned, in place of `body` and `revision`. */
  readonly changed?: Flag;
  /** The tag, if the handler knows it. */
  readonly etag?: string | undefined;
  /** A file for the client to save, written in pieces, in place of `body`. */
  readonly file?: { readonly name: string; readonly media: FileMedia; readonly text: Pieces };
  /** Writes the body while the client listens, in place of `body`. */
  readonly stream?: FlagsReply['stream'];
  /**
   * The revision of the flag, project or segment in the body. It is part of the `ETag`, and clients send it in
   * `If-Match`.
   */
  readonly revision?: number | undefined;
  /** The name of the changed flag, if the path does not have it. */
  readonly flag?: string;
  /** The query parameters of the next page; absent on the last page. */
  readonly next?: NextPage | undefined;
}

type Handled = Promise<RouteResult | undefined> | Promise<void>;

/** Returns a document in its wire form, with its revision. */
export function withRevision<Document extends { readonly revision: number }>(
  document: Document,
  toWire: (document: Document) => unknown,
): RouteResult {
  return { body: toWire(document), revision: document.revision };
}

/** Changes a flag, and returns a reply whose tag has the new revision. Without a conversion, the reply has no body. */
export async function changeAndReply<Name extends OperationName>(
  flags: Flags,
  op: Name,
  { toWire, ...given }: ChangeArguments<Name> & { readonly toWire?: (result: ResultOf<Name>) => unknown },
): Promise<RouteResult> {
  const { result, revision } = await changeRevised(flags, op, given);
  return { body: toWire?.(result), revision };
}

/** The query parameters that lead from this page to the next one. */
export type NextPage = Readonly<Record<string, string>>;

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** Accepts the paths whose parameters `PATH_PARAMETERS` describes. */
type DescribedPath<Path extends string> = Path & (ParameterOf<Path> extends PathParameterName ? unknown : never);

/** The reference that a path with these parameters names. */
type RefOf<Parameter extends string> = 'strategyId' extends Parameter
  ? StrategyRef
  : 'environment' extends Parameter
    ? EnvironmentRef
    : 'featureName' extends Parameter
      ? FlagRef
      : 'segmentId' extends Parameter
        ? SegmentRef
        : ProjectRef;

/** The source of a {@link Route}, without the members that have a default. */
type Row<Path extends string> = Omit<Route, 'method' | 'path' | 'access' | 'action' | 'status' | 'body' | 'handle'> & {
  /** Default: 200. */
  readonly status?: Route['status'];
  /**
   * The name of an input of the engine, which the operation validates; or a schema of the wire, which the router
   * validates. Required unless the row says otherwise.
   */
  readonly body?: keyof InputSchemas | (Pick<RouteBody, 'schema'> & Partial<Omit<RouteBody, 'schema'>>);
  handle(request: RouteRequest<ParameterOf<Path>, RefOf<ParameterOf<Path>>>): Handled;
};

/** The path parameter that names a document. */
const PARAMETERS: Readonly<Record<KindWithETag, string>> = {
  flag: '/:featureName',
  project: '/:projectId',
  segment: '/:segmentId',
  changeRequest: '/:changeRequestId',
};

/** The paths of SDKs. */
type SdkPath =
  | `/api/client/${string}`
  | '/api/frontend'
  | `/api/frontend/${string}`
  | `/ofrep/${string}`
  | `/edge/${string}`;

type SdkRow<Path extends string> = Pick<
  Row<Path>,
  'summary' | 'query' | 'status' | 'body' | 'reply' | 'form' | 'errors' | 'long'
> & { handle(request: SdkRequest<ParameterOf<Path>>): Handled };

/** Returns the route of a row for SDKs. */
export function sdkRoute<const Path extends SdkPath, const Name extends ActionName>(
  method: Method,
  path: DescribedPath<Path>,
  action: Name,
  row: SdkRow<Path>,
): SdkRoute<Name> {
  // The path says that the access is not `admin`, and the row that its handler needs no engine.
  return toRoute(method, path, action, row as unknown as Row<string>) as SdkRoute<Name>;
}

/** Returns the route of a row, with its defaults. Infers the handler's parameters and reference from the path. */
export function route<const Path extends string, const Name extends ActionName>(
  method: Method,
  path: DescribedPath<Path>,
  action: Name,
  row: Row<Path>,
): Route<Name> {
  return toRoute(method, path, action, row as Row<string>);
}

function toRoute<Name extends ActionName>(
  method: Method,
  path: string,
  action: Name,
  { body, ...row }: Row<string>,
): Route<Name> {
  const [, part, family] = path.split('/');
  const ifMatch = row.changes && path.includes(PARAMETERS[row.changes]) && row.changes;
  return {
    method,
    path,
    action,
    access: (part === 'edge' ? 'client' : part === 'ofrep' ? part : family) as Access,
    status: 200,
    ...(ifMatch && { ifMatch }),
    ...(body && { body: bodyOf(body) }),
    ...row,
  } as Route<Name>;
}

function bodyOf(body: NonNullable<Row<string>['body']>): RouteBody {
  if (typeof body !== 'string') return { required: true, checkedBy: 'router', ...body };
  return { required: true, checkedBy: 'core', schema: (inputs) => inputs[body] };
}

/** The documented parameters in a query, converted to the types of their schemas. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** Why the caller changes something, percent-encoded: headers hold ASCII only. */
export const REASON_HEADER = 'X-Change-Reason';

/** Why the change does not wait for approval, percent-encoded. */
export const BYPASS_HEADER = 'X-Bypass-Approval';

/** The id of the change set, which makes the request safe to repeat. */
export const ID_HEADER = 'Idempotency-Key';

/** Routes that the document shows together. */
export interface RouteGroup {
  readonly tag: string;
  readonly description: string;
  readonly routes: readonly Route[];
}
