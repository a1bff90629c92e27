import type { EvaluationOperations } from './evaluation/evaluation.types.js';
import type { EventOperations } from './events/event.types.js';
import type { DependencyOperations } from './flags/dependency.types.js';
import type { FlagOperations } from './flags/flag.types.js';
import type { StrategyOperations } from './flags/strategy.types.js';
import type { VariantOperations } from './flags/variant.types.js';
import type { MetricsOperations } from './metrics/metrics.types.js';
import type { MemberOperations, ProjectOperations, Role } from './projects/project.types.js';
import type { SegmentOperations } from './segments/segment.types.js';
import type { Token, TokenOperations } from './tokens/token.types.js';

/*
 * Glossary
 *
 * project      holds flags and members; every flag is in exactly one.
 * flag         a named switch ("feature" and "toggle" are its names on the wire only).
 * environment  a place where code runs (development, production, …); configured, not stored. A flag is switched and
 *              has strategies per environment.
 * strategy     a rule for whom the flag is on; any strategy that holds switches it on.
 * constraint   a condition within a strategy; all must hold.
 * segment      constraints under a name, shared by strategies of many flags.
 * dependency   a parent flag that has to be on (or off) for the child to be on.
 * variant      one of several values that a flag which is on can have.
 * member       a user of the host application with one role in a project.
 * role         what a member is (owner, member, …); configured, not stored.
 * application  a program that evaluates flags and reports metrics, from one or more instances.
 * token        a secret that admits a caller to the HTTP API.
 * event        one fact that happened, with actor and time.
 * revision     counts the changes to a flag, project, segment or token.
 */

/**
 * Feature flags inside this process: their administration and their evaluation. Operations that change something validate
 * their input, take effect whole or not at all, are durable when their promise resolves, and append one event per fact
 * in the same commit. Many may be under way at once; several processes may share one storage.
 *
 * Every operation but those of evaluation fails with `closed` after {@link Flags.close}, and may fail with `storage_busy` or
 * `too_much_contention` when others keep the storage or the same document busy, and with `storage_unavailable` when the
 * storage cannot be reached or cannot be written to: nothing has changed then, try again. When the connection is lost, or
 * the disk fails, in the middle of a commit, and the storage cannot find out what became of it, they fail with
 * `outcome_unknown`: look before you repeat a change.
 */
export interface Flags
  extends ProjectOperations,
    FlagOperations,
    StrategyOperations,
    VariantOperations,
    MemberOperations,
    MetricsOperations,
    TokenOperations,
    EventOperations,
    SegmentOperations,
    DependencyOperations,
    EvaluationOperations {
  /** What this instance was configured with, defaults filled in; frozen. */
  readonly settings: Settings;

  /**
   * The same engine with every change attributed to this actor, unless a call's context names another. Of an API token the
   * event log keeps the name, the id and the kind.
   *
   * @param actor a name, or the token that `verifyToken` returns
   * @example
   * await flags.as('ada@example.org').enable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  as(actor: string | Pick<Token, 'id' | 'name' | 'kind'>): Flags;

  /**
   * A text that is another one after every change of what is stored, by this process or another; one for projects is
   * another also every second, as health depends on the time. While it stays the same, flags (or projects) read as they did:
   * what was made of them since the stamp was asked for need not be made again. Reports of metrics change it too, as they
   * tell when flags were last seen. Undefined when the storage cannot tell, or the metrics are kept elsewhere.
   *
   * @param subject `flags` when absent
   * @example
   * const stamp = await flags.stamp();
   * if (stamp === undefined || stamp !== page.stamp) page = { stamp, html: render(await flags.listFlags(ref)) };
   */
  dataVersion(subject?: DataVersionScope): Promise<string | undefined>;

  /**
   * Aborted as soon as {@link Flags.close} is called, for what is built upon these flags and has to end with them.
   *
   * @example
   * flags.closing.addEventListener('abort', () => stream.end(), { once: true });
   */
  readonly closing: AbortSignal;

  /**
   * Waits for what is under way, ends subscriptions and closes the storage. Calling it again does nothing.
   *
   * @example
   * process.once('SIGTERM', () => void flags.close());
   */
  close(): Promise<void>;
}

/** What a stamp stands for. */
export type DataVersionScope = 'flags' | 'projects';

export interface Settings {
  readonly environments: readonly Environment[];
  readonly roles: readonly Role[];
  readonly flagTypes: readonly FlagType[];
  /** The environment that flags are evaluated in when none is named. */
  readonly environment: string;
}

export interface Environment {
  /** By the rule of flag names. */
  readonly name: string;
  readonly displayName: string;
}

export interface FlagType {
  readonly name: string;
  /** How old a flag gets before it counts as potentially stale; null: never. */
  readonly lifetimeDays: number | null;
}
