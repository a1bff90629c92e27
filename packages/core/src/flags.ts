import type { AuthorizeChanges, ChangeSetOperations } from './changesets/change-set.types.js';
import type { DefinitionOperations } from './definitions/definition.types.js';
import type { EvaluationOperations } from './evaluation/evaluation.types.js';
import type { EventOperations } from './events/event.types.js';
import type { DependencyOperations } from './flags/dependency.types.js';
import type { FlagOperations } from './flags/flag.types.js';
import type { FlagListOperations } from './flags/flag-search.types.js';
import type { StrategyOperations } from './flags/strategy.types.js';
import type { VariantOperations } from './flags/variant.types.js';
import type { ChangeHistoryOperations } from './history/history.types.js';
import type { MemberOperations, ProjectOperations, Role } from './projects/project.types.js';
import type { SegmentOperations } from './segments/segment.types.js';
import type { Token, TokenOperations } from './tokens/token.types.js';
import type { UsageOperations } from './usage/usage.types.js';

/*
 * Glossary
 *
 * project      holds flags and members; every flag is in exactly one.
 * flag         a named switch ("feature" and "toggle" are its names on the wire only).
 * environment  a place where code runs (development, production, …); configured, not stored. A flag is switched and
 *              has strategies per environment.
 * strategy     a rule that selects users; the flag is on for a user whom any strategy selects.
 * constraint   a condition within a strategy; all must be met.
 * segment      named constraints, shared by strategies of many flags.
 * dependency   a parent flag that has to be on (or off) for the child to be on.
 * variant      one of several values that a flag which is on can have.
 * member       a user of the host application with one role in a project.
 * role         the rights of a member (owner, member, …); configured, not stored.
 * application  a program that evaluates flags and reports metrics, from one or more instances.
 * token        a secret that admits a caller to the HTTP API.
 * event        one fact that happened, with actor and time.
 * change set   an ordered list of changes in one commit; every single change is a set of one.
 * revision     counts the changes to a flag, project, segment or token.
 */

/**
 * Feature flags inside this process: evaluation and administration. Changes validate their input, are atomic, are durable
 * when their promise resolves, and append one event per fact in the same commit. Safe to call concurrently; several
 * processes may share one storage.
 *
 * Every operation except evaluation fails with `closed` after {@link FlagsLifecycle.close}. These codes mean that nothing
 * has changed, and that you may try again:
 *
 * - `storage_busy`, `too_much_contention`: other processes keep the storage or the same document busy.
 * - `storage_unavailable`: the storage cannot be reached, or cannot be written to.
 *
 * `outcome_unknown` means that the connection or the disk failed during a commit, and the storage cannot find out whether
 * the change took effect: read the state before you repeat the change.
 */
export interface Flags
  extends EvaluationOperations,
    FlagsLifecycle,
    FlagOperations,
    FlagListOperations,
    StrategyOperations,
    VariantOperations,
    DependencyOperations,
    SegmentOperations,
    ProjectOperations,
    MemberOperations,
    TokenOperations,
    EventOperations,
    ChangeSetOperations,
    ChangeHistoryOperations,
    DefinitionOperations,
    UsageOperations {
  /** The effective configuration with its defaults; frozen. */
  readonly settings: Settings;

  /**
   * Returns the same engine for another actor: the event log attributes its changes to this actor, unless a call's
   * context names another one. For an API token, the log records its name, id and kind. Cheap: call it per request. The
   * result inherits its members, so `{ ...flags.as(actor) }` copies none of them.
   *
   * @param actor a name, or the token that `verifyToken` returns
   * @throws FlagsError `invalid_input` for options of the wrong type
   * @example
   * await flags.as('ada@example.org').enable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  as(actor: string | Pick<Token, 'id' | 'name' | 'kind'>, options?: ActorOptions): Flags;

  /**
   * Opaque data version. Changes whenever stored state changes, in any process; that includes reported usage, which tells
   * when flags were last seen. The version of `projects` also changes every minute, because health depends on the age of
   * flags, in days. While the version is unchanged, results derived from earlier reads are still valid. Undefined if the
   * storage has no data version, or if the usage is in another storage.
   *
   * @param subject `flags` when absent
   * @example
   * const version = await flags.dataVersion();
   * if (version === undefined || version !== page.version) page = { version, html: render(await flags.listFlags(ref)) };
   */
  dataVersion(subject?: DataVersionScope): Promise<string | undefined>;
}

export interface ActorOptions {
  /**
   * Called with every change, plan, preview, undo and import, before its commit. An error refuses it and reaches the
   * caller; nothing changes then. If another process changes one of the documents meanwhile, the change is decided
   * again, and `authorize` is called with the new documents. Not called if nothing would change. Other changes of the
   * same documents wait for the result.
   *
   * @example
   * flags.as('ada', { authorize: ({ documents }) => assertMayChange('ada', documents) });
   */
  readonly authorize?: AuthorizeChanges;
}

/** The end of an instance. */
export interface FlagsLifecycle {
  /**
   * Aborts as soon as {@link FlagsLifecycle.close} is called. End everything that depends on these flags then.
   *
   * @example
   * flags.closing.addEventListener('abort', () => stream.end(), { once: true });
   */
  readonly closing: AbortSignal;

  /**
   * Waits for running operations, ends subscriptions and closes the storage. Calling it again has no effect.
   *
   * @example
   * process.once('SIGTERM', () => void flags.close());
   */
  close(): Promise<void>;
}

/** The results that a data version covers. */
export type DataVersionScope = 'flags' | 'projects';

export interface Settings {
  readonly environments: readonly Environment[];
  readonly roles: readonly Role[];
  readonly flagTypes: readonly FlagType[];
  /** The default environment of evaluations. */
  readonly environment: string;
}

export interface Environment {
  /** The same characters as in flag names. */
  readonly name: string;
  readonly displayName: string;
}

export interface FlagType {
  readonly name: string;
  /** The age in days at which a flag becomes potentially stale; null: never. */
  readonly lifetimeDays: number | null;
}
