import type { ChangeContext, DataVersionScope, ErrorCode, Flags, TokenKind } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { JsonChunks } from './chunks.js';
import type { ClientDocuments } from './client/documents.js';
import type { CLIENT_SPEC_HEADER } from './client/view.js';
import type { Action, Scope } from './permissions.js';
import type { Serialized } from './reply.js';
import type { ReplySink } from './request.js';
import type { Hub } from './streaming/hub.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One endpoint, as data: answered by `createFlagsApi`, described by the OpenAPI document. */
export interface Route {
  readonly method: Method;
  /** In Express syntax, plain parameters only (`/api/admin/projects/:projectId`): Express 4 and 5 agree on those. */
  readonly path: string;
  /** Unique. */
  readonly action: Action;
  readonly summary: string;
  readonly tag: Tag;
  /** Which kind of token it takes in `token` mode. */
  readonly access: Access;
  readonly query?: readonly QueryParameter[];
  /**
   * `asked`: the list can be had page by page too: it takes `limit` and `after`, and links to the next page. `always`: the
   * answer is a page, and links to the next one.
   */
  readonly paged?: 'asked' | 'always';
  /** Absent: whatever body comes is left unread. */
  readonly body?: RouteBody;
  readonly reply: RouteReply;
  /** Beyond those that every route can answer: authentication, permission, a body that cannot be read, a busy storage. */
  readonly errors: readonly ErrorCode[];
  /** The document whose revision `If-Match` is compared with. Absent: the header is not looked at. */
  readonly ifMatch?: 'flag' | 'project' | 'segment';
  /** `messages`: a 400 of this endpoint has the body `[{ "msg" }]`. Absent: the common error body. */
  readonly badRequest?: 'messages';
  /** A 400 or 404 of this endpoint has the body that this protocol prescribes. Absent: the common error body. */
  readonly protocol?: 'ofrep';
  /** Answers an `ETag`, and 304 to `If-None-Match`, as every GET does. */
  readonly conditional?: true;
  /**
   * The answer depends on the address and on what this stamp stands for, not on who asks: it is made once and sent until
   * the stamp changes.
   */
  readonly cacheBy?: DataVersionScope;
  /** The answer may be long (`chunks`): a long one has an `ETag` of this stamp instead of its content. */
  readonly streamed?: DataVersionScope;
  /** A header of the request that decides on the form of the answer. */
  readonly vary?: typeof CLIENT_SPEC_HEADER;
  readonly deprecated?: true;
  /**
   * Finds the project that permission is asked for, where the path does not name it; null: the instance. What it refuses
   * counts as null: the operation refuses it again, after the permission.
   */
  projectOf?(flags: Flags, params: Readonly<Record<string, string>>): Promise<string | null>;
  /** The body names the project that permission is asked for: it is read first. */
  readonly permissionByBody?: true;
  /** As a method, so that a row may be written for its own path's parameters. */
  handle(request: RouteRequest): Promise<RouteResult>;
}

/** `ofrep` takes what `client` takes, and what `frontend` takes. */
export type Access = 'admin' | 'client' | 'frontend' | 'ofrep';

export type Tag =
  | 'Projects'
  | 'Members'
  | 'Flags'
  | 'Archive'
  | 'Strategies'
  | 'Environments'
  | 'Variants'
  | 'Dependencies'
  | 'Segments'
  | 'Metrics'
  | 'Client'
  | 'Frontend'
  | 'OFREP'
  | 'Playground'
  | 'API tokens'
  | 'Events'
  | 'OpenAPI';

/** A documented parameter of the query. Others are ignored. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  /**
   * `integer`, `boolean`, `string`, `array` of strings, which may be repeated, or `object` of strings, which are given as
   * `name[member]=value`.
   */
  readonly schema: (inputs: InputSchemas) => JsonSchema;
}

export interface RouteBody {
  readonly required: boolean;
  readonly schema: (inputs: InputSchemas) => JsonSchema;
  /** `core`: the operation validates its own input. `router`: the wire shape differs, it is checked before `handle`. */
  readonly checkedBy: 'core' | 'router';
}

export interface RouteReply {
  readonly status: 200 | 201 | 202;
  /** Absent: the answer has no body. */
  readonly schema?: ReplySchema;
  /** The answer has a secret in it: nobody may keep it, whatever the host says. */
  readonly isSecret?: true;
  /** JSON when absent. Events have no `ETag`: they go on. */
  readonly media?: 'text/event-stream';
}

/** Names of the documented answers. */
export type ReplySchema =
  | 'ProjectList'
  | 'Project'
  | 'ProjectOverview'
  | 'MemberList'
  | 'FlagList'
  | 'Flag'
  | 'FlagDetail'
  | 'ArchivedFlagList'
  | 'Strategy'
  | 'VariantWeights'
  | 'Dependency'
  | 'PossibleParents'
  | 'Segment'
  | 'SegmentList'
  | 'SegmentUses'
  | 'SeenToggles'
  | 'FeatureMetrics'
  | 'ApplicationList'
  | 'ApplicationDetail'
  | 'SeenApps'
  | 'TokenList'
  | 'CreatedToken'
  | 'EventList'
  | 'ClientFeatures'
  | 'ClientFeature'
  | 'FeatureStream'
  | 'FrontendToggles'
  | 'OfrepEvaluation'
  | 'OfrepEvaluations'
  | 'Playground'
  | 'OpenApiDocument';

/** What a handler sees of a request: values, nothing of any framework. */
export interface RouteRequest<Parameter extends string = string> {
  /** The engine, speaking for the actor. */
  readonly flags: Flags;
  /** What the token names. */
  readonly scope: Scope;
  /** Of the API token that the actor uses. */
  readonly tokenId: string | undefined;
  readonly tokenKind: TokenKind | undefined;
  /** The project that permission was asked for. */
  readonly project: string | null;
  /** Asks for a permission beside that of the row; refuses with `forbidden`. */
  readonly check: (action: Action, project: string | null) => Promise<void>;
  readonly params: Readonly<Record<Parameter, string>>;
  /** The documented parameters that were given, of the types that their schemas name. */
  readonly query: QueryValues;
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
  /** From `If-Match`. */
  readonly context: ChangeContext;
  /** The reporter's address as the host's `trust proxy` sees it. */
  readonly clientIp: () => string | undefined;
  readonly openApi: () => Serialized;
  /** The version of the client specification that the client names. */
  readonly clientSpec: string | undefined;
  /** What client SDKs read. */
  readonly documents: ClientDocuments;
  readonly hub: Hub;
  readonly lastEventId: string | undefined;
  /** Asks again whether the actor may come in. */
  readonly isStillAdmitted: () => Promise<boolean>;
  /** Asks whether the API token is still valid; absent where there is none. */
  readonly hasValidToken: (() => Promise<boolean>) | undefined;
}

/** What a handler answers; the status is the row's. */
export interface RouteResult {
  readonly body?: unknown;
  /** Instead of a body: JSON that was made before. */
  readonly serialized?: Serialized;
  /**
   * Instead of a body: pieces of its JSON, for what may be long. Short answers are sent as any body is, long ones in slices.
   * Make them with `jsonObject`, `jsonArray` and `jsonMap`.
   */
  readonly chunks?: JsonChunks;
  /** Of the chunks, where the handler knows it. */
  readonly etag?: string;
  /** Instead of a body: writes one for as long as the client listens. */
  readonly stream?: (sink: ReplySink) => void;
  /** Of the flag, project or segment that the body shows: heads the `ETag`, comes back as `If-Match`. */
  readonly revision?: number;
  /** Of a page that is not the last: where the next one begins. */
  readonly next?: NextPage | undefined;
}

/** The parameters of the query by which the next page differs from this one. */
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

/** A row whose handler knows the parameters of its own path. */
export function route<const Path extends string>(row: TypedRoute<Path>): Route {
  return row;
}

/** The documented parameters of a query that were given, of the types that their schemas name. */
export type QueryValues = Readonly<Record<string, unknown>>;
