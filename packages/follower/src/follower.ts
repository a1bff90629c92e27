import { type EvaluationStatus, FlagsError, type FlagsSettings, type Token } from '@flags/core';
import {
  createReportValidators,
  Evaluation,
  type EvaluationParts,
  type FollowedEvaluation,
  type Lifetime,
} from '@flags/core/integration/follower';
import { createValidator } from '@flags/core/integration/shared';
import type {
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  MetricsReport,
  ReportOrigin,
  VerifiedToken,
} from '@flags/core/types';
import { LRUCache } from 'lru-cache';
import * as compiled from './compiled-schemas.js';
import type { Following } from './following.js';
import type { Tickets } from './tickets.js';
import type { Tokens } from './tokens.js';
import type { UsageSender } from './usage-sender.js';

/** Whether a follower's flags are current, and where they come from. */
export interface FollowerStatus extends EvaluationStatus {
  /** `current`, or `stale` while the server cannot be read. A stale follower evaluates the last flags. */
  readonly state: 'current' | 'stale';
  /** When the flags were last known to be current: ISO 8601, UTC, milliseconds; 1970 before the first flags. */
  readonly checkedAt: string;
  /** Where the flags were read: from the server, or from the cache file. */
  readonly source: 'upstream' | 'cache';
  /** The address of the server. */
  readonly upstream: string;
  /** Whether the follower has a connection, or its last poll succeeded. */
  readonly connected: boolean;
}

/** The members of a follower that a router needs beside the evaluation. */
export interface FollowerServing {
  /** The number of followers up to the source of the flags, with this one: 1–3. */
  readonly depth: number;
  /**
   * Throws while this follower must not serve: before it has flags, and while the server refuses its token.
   *
   * @throws FlagsError `upstream_unavailable`
   */
  assertServing(): void;
  /**
   * Calls the listener with the id of each token that has ended, or without an id when the server refuses this follower: then all streams must end.
   *
   * @returns a function that removes the listener
   */
  onTokenEnded(listener: (tokenId?: string) => void): () => void;
  /** Tickets for the streams of browsers, signed with the key of this follower's token. */
  readonly tickets: Tickets;
  /** Milliseconds after which other followers of the same server have a change, too. */
  readonly lag: number;
}

/**
 * Flags of another server, evaluated in this process. Has the evaluation of `Flags`, and no administration. Pass it to
 * `createFlagsRouter` or `createFlagsApi` to serve SDKs and further followers.
 */
export interface Follower extends FollowedEvaluation {
  /** The environment of the token, and the names of custom strategies. */
  readonly settings: FlagsSettings;
  readonly following: FollowerServing;

  /**
   * Aborts as soon as `close` is called. End everything that depends on these flags then.
   *
   * @example
   * flags.closing.addEventListener('abort', () => stream.end(), { once: true });
   */
  readonly closing: AbortSignal;

  /** Returns whether the flags are current, and where they come from. Reads from memory. */
  status(): FollowerStatus;

  /**
   * Loads all flags from the server now. Does not reject: a failure is in the returned {@link FollowerStatus}.
   *
   * @example
   * await flags.refresh();
   */
  refresh(): Promise<FollowerStatus>;

  /**
   * Finds the token with this secret, in memory or at the server. Returns undefined for one that is unknown, has expired, or
   * is valid for more than this follower has.
   *
   * @throws FlagsError `upstream_unavailable` for a token that cannot be checked now
   */
  verifyToken(secret: string): Promise<Token | undefined>;

  /**
   * Finds tokens at the server, and not in memory. For routers, which followers of this follower ask.
   *
   * @param secrets at most 100
   * @throws FlagsError `upstream_unavailable`, `invalid_input`
   */
  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]>;

  /**
   * Adds a client's registration to the next report to the server.
   *
   * @throws FlagsError `invalid_input`
   */
  registerApplication(registration: ClientRegistration, origin?: ReportOrigin): Promise<void>;

  /**
   * Adds a client's counts to the next report to the server. Resolves at once; counts that were not sent yet are lost if the
   * process is killed.
   *
   * @throws FlagsError `invalid_input`
   */
  reportMetrics(report: MetricsReport, origin?: ReportOrigin): Promise<void>;

  /**
   * Adds registrations and counts of many clients to the next report to the server. A report with the id of an earlier one
   * changes nothing.
   *
   * @throws FlagsError `invalid_input`
   */
  reportMetricsInBulk(bulk: BulkReport, origin?: BulkOrigin): Promise<void>;

  /**
   * Ends the connection and the checks of tokens, sends pending counts, for three seconds at most, and writes the cache file.
   * Evaluation goes on with the last flags. Calling it again has no effect.
   *
   * @example
   * process.once('SIGTERM', () => void flags.close());
   */
  close(): Promise<void>;
}

/** The parts of a follower. */
export interface FollowerParts {
  readonly lifetime: Lifetime;
  readonly connection: Following;
  readonly tokens: Tokens;
  readonly tickets: Tickets;
  readonly usage: UsageSender;
  readonly upstream: string;
  readonly settings: () => FlagsSettings;
  /** Where the flags are from; undefined before there are any. */
  readonly source: () => { readonly name: 'upstream' | 'cache'; readonly checkedAt: number } | undefined;
  /** Releases everything. */
  readonly release: () => Promise<void>;
}

/** Ids of bulk reports that are remembered. */
const MAX_REPORT_IDS = 10_000;

/** Evaluation by the class that the engine uses, on the flags of another server. */
export class FollowedFlags extends Evaluation implements Follower {
  declare readonly following: FollowerServing;
  declare private readonly own: FollowerParts;
  declare private readonly validate: ReturnType<typeof createReportValidators>;
  declare private readonly reportIds: LRUCache<string, true>;

  constructor(evaluation: EvaluationParts, own: FollowerParts) {
    super(evaluation);
    this.own = own;
    this.validate = createReportValidators();
    this.reportIds = new LRUCache({ max: MAX_REPORT_IDS });
    this.following = Object.freeze({
      get depth() {
        return own.connection.depth;
      },
      assertServing: () => this.assertServing(),
      onTokenEnded: own.tokens.onEnded,
      tickets: own.tickets,
      get lag() {
        return own.connection.lag;
      },
    });
  }

  get settings(): FlagsSettings {
    return this.own.settings();
  }

  get closing(): AbortSignal {
    return this.own.lifetime.closing;
  }

  status(): FollowerStatus {
    const { connection, source, upstream, usage } = this.own;
    const { isConnected, error } = connection.status();
    const { name = 'upstream', checkedAt = 0 } = source() ?? {};
    const { names, reports, usage: rows } = usage.dropped;
    const hasDropped = names + reports + rows > 0;
    return Object.freeze({
      state: isConnected ? 'current' : 'stale',
      checkedAt: new Date(checkedAt).toISOString(),
      ...(error !== undefined && { error }),
      ...(hasDropped && { dropped: { names, reports, ...(rows > 0 && { usage: rows }) } }),
      source: name,
      upstream,
      connected: isConnected,
    });
  }

  async refresh(): Promise<FollowerStatus> {
    await this.own.connection.refresh();
    return this.status();
  }

  verifyToken(secret: string): Promise<Token | undefined> {
    return this.own.lifetime.track(() => this.own.tokens.verify(secret));
  }

  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]> {
    return this.own.lifetime.track(async () => this.own.tokens.verifyAll(validateSecrets(secrets)));
  }

  registerApplication(registration: ClientRegistration, origin?: ReportOrigin): Promise<void> {
    return this.record(() => ({ registrations: [this.validate.registration(registration)] }), origin);
  }

  reportMetrics(report: MetricsReport, origin?: ReportOrigin): Promise<void> {
    return this.record(() => ({ reports: [this.validate.metricsReport(report)] }), origin);
  }

  reportMetricsInBulk(bulk: BulkReport, origin?: BulkOrigin): Promise<void> {
    const { id, ...about } = origin ?? {};
    return this.record(() => {
      const valid = this.validate.bulkReport(bulk);
      const key = id === undefined ? undefined : JSON.stringify([about.reporter?.token, id]);
      if (key === undefined) return valid;
      const isRepeated = this.reportIds.has(key);
      this.reportIds.set(key, true);
      return isRepeated ? {} : valid;
    }, about);
  }

  close(): Promise<void> {
    return this.own.lifetime.end(this.own.release);
  }

  private record(read: () => BulkReport, origin: ReportOrigin | undefined): Promise<void> {
    return this.own.lifetime.track(async () => this.own.usage.record(read(), origin));
  }

  private assertServing(): void {
    const { connection, source, upstream } = this.own;
    const { refusal } = connection;
    if (source() && refusal === undefined) return;
    const message =
      refusal === undefined
        ? `This follower has no flags yet: ${upstream} has not answered.`
        : `This follower does not serve, because ${upstream} refuses it.`;
    throw new FlagsError('upstream_unavailable', message, undefined, { cause: refusal });
  }
}

const validateSecrets = createValidator<readonly string[]>(compiled.secrets);
