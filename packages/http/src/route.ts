import type {
  Awaitable,
  ChangeContext,
  DataVersionScope,
  ErrorCode,
  Flag,
  FlagRef,
  Flags,
  TokenKind,
} from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { CLIENT_SPEC_HEADER, ClientDocuments } from './client/client-document.js';
import type { Weight } from './gate.js';
import type { JsonChunks } from './json-chunks.js';
import type { AuthMode } from './options.js';
import type { Access, Action, Operation, Principal, Scope } from './permissions.js';
import type { Serialized } from './reply.js';
import type { ReplySink } from './request.js';
import type { EventHub } from './streaming/event-hub.js';
import type { Hub } from './streaming/hub.js';
import type { FindUsers } from './users.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One endpoint as data. `createFlagsApi` serves it, and the OpenAPI document describes it. */
export interface Route {
  readonly method: Method;
  /**
   * A path in Express syntax with plain parameters only, such as `/api/admin/projects/:projectId`. Express 4 and 5
   * agree on those.
   */
  readonly path: string;
  /** The unique name of the operation. Unless `permission` is present, it is the action that `authorize` is asked for. */
  readonly action: Operation;
  /** The action that `authorize` is asked for, where several routes share one. */
  readonly permission?: Action;
  readonly summary: string;
  readonly tag: Tag;
  /** The part of the API, which determines the accepted token kinds. */
  readonly access: Access;
  readonly query?: readonly QueryParameter[];
  /**
   * `optional`: returns a page if the query has `limit` or `after`, else the whole list. `always`: returns a page. Both
   * link to the next page.
   */
  readonly paged?: 'optional' | 'always';
  /** Absent: the endpoint does not read the body. */
  readonly body?: RouteBody;
  readonly reply: RouteReply;
  /** Error codes beyond the general ones: authentication, permission, unreadable body, busy storage. */
  readonly errors: readonly ErrorCode[];
  /** The document whose revision `If-Match` compares. Absent: the endpoint ignores the header. */
  readonly ifMatch?: 'flag' | 'project' | 'segment';
  /** The answer changes a flag, and has the `ETag` that a GET of the flag would have. */
  readonly changes?: 'flag';
  /** `messages`: a 400 has the body `[{ "msg" }]`. Absent: the common error body. */
  readonly badRequest?: 'messages';
  /** The protocol that defines the 400 and 404 bodies. Absent: the common error body. */
  readonly protocol?: 'ofrep';
  /** Sends an `ETag` and supports `If-None-Match`, as every GET does. */
  readonly conditional?: true;
  /** Caches the reply per address until this data version changes. The reply must not depend on the caller. */
  readonly cacheBy?: DataVersionScope;
  /**
   * The reply may be long (`chunks`). The `ETag` of a long reply is derived from this data version instead of its
   * content.
   */
  readonly streamed?: DataVersionScope;
  /** The request is heavy: it passes the gate, as a read or as a change. */
  readonly heavy?: Weight;
  /** Returns whether this request passes by the gate, because it is small. Asked only if the body is short. */
  isLight?(sent: SentContent): boolean;
  /** The request header that selects the form of the reply. */
  readonly vary?: typeof CLIENT_SPEC_HEADER;
  readonly deprecated?: true;
  /**
   * Returns the project of the permission check when the path does not name it; null for the instance. A refusal counts
   * as null. The operation repeats the refusal after the permission check.
   */
  projectOf?(flags: Flags, params: Readonly<Record<string, string>>): Promise<string | null>;
  /**
   * Also answers callers that authentication refuses, and asks `authorize` for nothing. The handler distinguishes callers by
   * `principal.isOutsider`.
   */
  readonly isOpen?: true;
  /**
   * How the permission check finds its project if neither the path nor `projectOf` names it.
   *
   * - `body`: the body names it, so the endpoint reads the body first.
   * - `anyProject`: the caller needs the permission for the instance, or for any project. The handler shows only those.
   * - `handler`: the request concerns several projects, so the handler checks them.
   */
  readonly permissionBy?: 'body' | 'anyProject' | 'handler';
  /** A method, so that a route may narrow the type of its path parameters. */
  handle(request: RouteRequest): Promise<RouteResult>;
}

/** A documented query parameter. Other parameters are ignored. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  /**
   * `integer`, `boolean`, `string`, a repeatable `array` of strings, or an `object` of strings. An object is sent as
   * `name[member]=value`.
   */
  readonly schema: (inputs: InputSchemas) => JsonSchema;
}

export interface RouteBody {
  readonly required: boolean;
  readonly schema: (inputs: InputSchemas) => JsonSchema;
  /**
   * `core`: the operation validates its input. `router`: the wire shape differs, so the router validates before
   * `handle`.
   */
  readonly checkedBy: 'core' | 'router';
}

export interface RouteReply {
  readonly status: 200 | 201 | 202;
  /** Absent: the reply has no body. */
  readonly schema?: ReplySchema;
  /** The reply contains a secret, and forbids all caching, even if the host sets another header. */
  readonly isSecret?: true;
  /** Default: JSON. Event streams have no `ETag`, because they do not end. */
  readonly media?: 'text/event-stream';
}

/** The names of the documented reply schemas. */
export type ReplySchema =
  | 'ProjectList'
  | 'Project'
  | 'ProjectOverview'
  | 'HealthReport'
  | 'MemberList'
  | 'FlagList'
  | 'FeatureList'
  | 'Flag'
  | 'FlagDetail'
  | 'Tag'
  | 'TagList'
  | 'TagTypeList'
  | 'EnvironmentList'
  | 'ArchivedFlagList'
  | 'FlagInEnvironment'
  | 'Strategy'
  | 'StrategyList'
  | 'VariantList'
  | 'VariantWeights'
  | 'Dependency'
  | 'PossibleParents'
  | 'Segment'
  | 'SegmentList'
  | 'SegmentUses'
  | 'SeenToggles'
  | 'FeatureMetrics'
  | 'UsageList'
  | 'UsageSummary'
  | 'RawUsageList'
  | 'ApplicationList'
  | 'ApplicationDetail'
  | 'SeenApps'
  | 'Definitions'
  | 'ImportResult'
  | 'TokenList'
  | 'CreatedToken'
  | 'EventList'
  | 'EventStream'
  | 'ChangeSet'
  | 'Plan'
  | 'Preview'
  | 'History'
  | 'Session'
  | 'ClientFeatures'
  | 'ClientFeature'
  | 'FeatureStream'
  | 'FrontendToggles'
  | 'OfrepEvaluation'
  | 'OfrepEvaluations'
  | 'Playground'
  | 'ContextList'
  | 'OpenApiDocument';

/** What an administrator may learn about the API itself. */
export interface AdminFacts {
  readonly auth: AuthMode;
  readonly actions: readonly AdminAction[];
}

/** An action of the admin API. Requests for actions of the instance name no project. */
export interface AdminAction {
  readonly action: Action;
  readonly isOfInstance: boolean;
}

/** What a client has sent. */
export interface SentContent {
  readonly query: QueryValues;
  /** Not validated, unless the router checks it. */
  readonly body: unknown;
}

/** The framework-independent request of a handler. */
export interface RouteRequest<Parameter extends string = string> {
  /** The engine on behalf of the actor. */
  readonly flags: Flags;
  /** The caller, and its permissions. */
  readonly principal: Principal;
  /** How requests authenticate, and the actions of the admin API. */
  readonly admin: AdminFacts;
  /** The scope of the API token. */
  readonly scope: Scope;
  /** The id of the actor's API token. */
  readonly tokenId: string | undefined;
  readonly tokenKind: TokenKind | undefined;
  /** The project of the permission check. */
  readonly project: string | null;
  /** Checks a permission beyond that of the route. Rejects with `forbidden`. */
  readonly check: (action: Action, project: string | null) => Promise<void>;
  readonly params: Readonly<Record<Parameter, string>>;
  /** The documented parameters in the query, converted to the types of their schemas. */
  readonly query: QueryValues;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
  /** The expected revision from `If-Match`. */
  readonly context: ChangeContext;
  /** Returns the client's address according to the host's `trust proxy` setting. */
  readonly clientIp: () => string | undefined;
  readonly openApi: () => Serialized;
  /** Returns the names and pictures of users, as far as the host knows them. Absent without `describeUsers`. */
  readonly describeUsers: FindUsers | undefined;
  /** The client's version of the client specification. */
  readonly clientSpec: string | undefined;
  /** The documents for client SDKs. */
  readonly documents: ClientDocuments;
  readonly hub: Hub;
  readonly lastEventId: string | undefined;
  /** Authenticates and authorizes the caller again. */
  readonly isStillAdmitted: () => Promise<boolean>;
  readonly eventHub: EventHub;
  /** Aborts when the client disconnects. Long work should end then. Undefined if the adapter cannot tell. */
  readonly signal: AbortSignal | undefined;
  /** Verifies the API token again; absent without a token. */
  readonly hasValidToken: (() => Promise<boolean>) | undefined;
}

/** The result of a handler. The route defines the status. */
export interface RouteResult {
  readonly body?: unknown;
  /** The flag as a change has returned it, in place of `body` and `revision`. */
  readonly changed?: Flag;
  /** JSON that is already encoded, in place of `body`. */
  readonly serialized?: Serialized;
  /**
   * JSON in pieces, in place of `body`, for replies that may be long. Long replies are sent in slices. Create the
   * pieces with `jsonObject`, `jsonArray` and `jsonMap`.
   */
  readonly chunks?: JsonChunks;
  /** Buffers `chunks` of any length, because the tag of the reply is the hash of its content. */
  readonly isWhole?: true;
  /** The tag of `chunks`, if the handler knows it. */
  readonly etag?: string;
  /** What a streamed reply shows of the stored data, if that depends on the caller. Part of the tag of a long reply. */
  readonly audience?: readonly string[];
  /** Writes the body while the client listens, in place of `body`. */
  readonly stream?: (sink: ReplySink) => Awaitable<void>;
  /**
   * The revision of the flag, project or segment in the body. It is part of the `ETag`, and clients send it in
   * `If-Match`.
   */
  readonly revision?: number;
  /** The changed flag, if the path does not name it. */
  readonly flag?: FlagRef;
  /** The query parameters of the next page; absent on the last page. */
  readonly next?: NextPage | undefined;
}

/** The query parameters that lead from this page to the next one. */
export type NextPage = Readonly<Record<string, string>>;

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type TypedRoute<Path extends string> = Omit<Route, 'path' | 'handle'> & {
  readonly path: Path;
  handle(request: RouteRequest<ParameterOf<Path>>): Promise<RouteResult>;
};

/** Returns the route. Infers the handler's parameters from the path. */
export function route<const Path extends string>(row: TypedRoute<Path>): Route {
  return row;
}

/** The documented parameters in a query, converted to the types of their schemas. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** The groups of operations in the OpenAPI document, with their descriptions. */
export const TAGS = {
  Projects: 'Every flag belongs to a project.',
  Members: 'The users of a project and their roles. The host application knows the users.',
  Flags: 'Flags with their description, type, labels and owner.',
  Tags: 'The labels of flags, in the form of Unleash.',
  Archive: 'Archived flags: revive or delete them.',
  Strategies: 'Who gets a flag in an environment.',
  Environments: 'Switch flags on and off, by environment.',
  Variants: 'The variants of a flag with their weights and payloads.',
  Dependencies: 'Flags that are on only while their parent is.',
  Segments: 'Named lists of constraints that strategies share.',
  Metrics: 'How often flags were evaluated, and by which applications.',
  Client: 'For SDKs in servers: definitions, registration and reports.',
  Frontend: 'For SDKs in browsers: the flags of one context.',
  OFREP: 'The remote evaluation protocol of OpenFeature.',
  Playground: 'Evaluates flags for a context, and explains the results.',
  'API tokens': 'The secrets that admit programs to this API.',
  Events: 'The log of all changes.',
  'Change sets': 'Several changes in one commit; history and undo.',
  'Flags as code': 'Export and import of all definitions as one document.',
  Session: 'What the caller may do.',
  OpenAPI: 'This document.',
} as const;

export type Tag = keyof typeof TAGS;
