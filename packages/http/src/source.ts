import type {
  ConfigurationChange,
  ContextualFlags,
  EvaluatedVariant,
  EvaluationContext,
  Flags,
  FlagsSettings,
  Token,
} from '@flags/core';
import { issueTicket, verifyTicket } from '@flags/core/integration/http';
import type {
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  EnvironmentChoice,
  EnvironmentConfiguration,
  MetricsReport,
  ReportOrigin,
  VariantOptions,
  VerifiedToken,
} from '@flags/core/types';

/**
 * What the API for SDKs needs of flags: their evaluation, the verification of tokens, and the reports of usage. Engines and
 * followers have it.
 */
export interface FlagsSource {
  /** Read for each request: a follower may learn its environment only when it has connected. */
  readonly settings: FlagsSettings;
  /** Aborts when the flags are closed. */
  readonly closing: AbortSignal;
  /** Loads changes of other processes now. Never rejects. */
  refresh(): Promise<unknown>;
  configuration(options?: EnvironmentChoice): EnvironmentConfiguration;
  onConfigurationChange(listener: (change: ConfigurationChange) => void): () => void;
  getVariant(flag: string, context?: EvaluationContext, options?: VariantOptions): EvaluatedVariant;
  forContext(context: EvaluationContext, options?: EnvironmentChoice): ContextualFlags;
  verifyToken(secret: string): Promise<Token | undefined>;
  /** Finds `client` and `frontend` tokens at their origin: a follower asks its upstream. At most 100. */
  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]>;
  registerApplication(registration: ClientRegistration, origin?: ReportOrigin): Promise<void>;
  reportMetrics(report: MetricsReport, origin?: ReportOrigin): Promise<void>;
  reportMetricsInBulk(bulk: BulkReport, origin?: BulkOrigin): Promise<void>;
  /** Present on followers. */
  readonly following?: FollowedSource;
}

/** What only a follower says of itself. */
export interface FollowedSource {
  /** The number of servers between the follower and the engine, and itself: 1 for a follower of an engine. */
  readonly depth: number;
  /**
   * Throws `upstream_unavailable` while the follower must not serve: before it has flags, and when its upstream has refused its
   * own token.
   */
  assertServing(): void;
  /**
   * Calls the listener with the id of each token that has ended, or without one when `assertServing` begins to throw. Their
   * streams end at once. Returns a function that removes the listener.
   */
  onTokenEnded(listener: (tokenId?: string) => void): () => void;
  readonly tickets: StreamTickets;
  /** Milliseconds after which other followers of the same server have a change, too. */
  readonly lag: number;
}

/**
 * Tickets stand in the addresses of streams for browsers, whose `EventSource` sends no headers. A ticket names a token and its
 * scope, contains no secret, and is the same for 12 hours. It is valid for up to 12 hours more.
 */
export interface StreamTickets {
  /** Returns the ticket of a token. Undefined for a token that has just ended, or that names too many projects. */
  issue(token: Token): Promise<string | undefined>;
  /** Resolves to the token of a valid ticket. */
  verify(ticket: string): Promise<Token | undefined>;
}

/** Returns what issues and verifies tickets; undefined for a source that has none. */
export function ticketsOf(source: FlagsSource | Flags): StreamTickets | undefined {
  if (!isEngine(source)) return source.following?.tickets;
  return { issue: (token) => issueTicket(source, token), verify: (ticket) => verifyTicket(source, ticket) };
}

/** The header of every reply to an SDK: 0 for an engine, otherwise the depth of the follower. */
export const DEPTH_HEADER = 'Flags-Depth';

/** Whether a source has administration. */
export function isEngine(source: FlagsSource | Flags): source is Flags {
  return 'createFlag' in source;
}
