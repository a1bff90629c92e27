import type { FlagsSettings } from './base/settings.types.js';
import type {
  ConfigurationChange,
  ContextArgument,
  ContextualFlags,
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluatedFlag,
  EvaluatedVariant,
  EvaluationContext,
  EvaluationOperations,
  EvaluationOptions,
  EvaluationStatus,
  Evaluator,
  FlagExplanation,
  Impression,
  PayloadOptions,
  VariantOptions,
} from './evaluation/evaluation.types.js';
import { ON_FLUSH, type UsageFlush } from './evaluation/usage-counters.js';
import type { ListedChangeRequest } from './features/change-requests/change-request.types.js';
import { ChangeRequests } from './features/change-requests/change-requests.operations.js';
import { ApprovalPolicies } from './features/change-requests/policy.operations.js';
import type { Change } from './features/change-requests/vocabulary.js';
import type { ConsumeOptions, ConsumerHandler } from './features/consumers/consumer.types.js';
import { Consumers, consumerOperations } from './features/consumers/consumers.operations.js';
import { FlagDefinitions } from './features/definitions/definitions.operations.js';
import { changeSetOperations } from './features/environments/plan.operations.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from './features/environments/plan.types.js';
import type { ReplicaEvaluation } from './features/environments/replica-evaluation.js';
import { Events, subscribe } from './features/history/event.operations.js';
import { History } from './features/history/history.operations.js';
import { MemberAdministration } from './features/projects/members.operations.js';
import type { EndedRollout, Rollout } from './features/rollouts/rollout.types.js';
import { Rollouts } from './features/rollouts/rollouts.operations.js';
import { Segments } from './features/segments/segment.operations.js';
import { Tokens } from './features/tokens/token.operations.js';
import type { Token, VerifiedToken } from './features/tokens/token.types.js';
import { verificationOperations } from './features/tokens/token-verification.operations.js';
import { Applications } from './features/usage/applications.operations.js';
import { reportOperations } from './features/usage/report.operations.js';
import type {
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  MetricsReport,
  ReportOrigin,
} from './features/usage/usage.types.js';
import { Usage } from './features/usage/usage-over-time.operations.js';
import type { FlagsEngine } from './flags-engine.js';
import type { ActorOptions, ApplyOptions, ChangeSet, GivenActor } from './kernel/changes/change-set.types.js';
import { ENGINE, engineOf, namespaceOf, notCalledOnFlags, run, toIdentity } from './kernel/changes/run-operation.js';
import { dueOperations } from './kernel/due/due.operations.js';
import type { FlagsEventListener, SubscribeOptions } from './kernel/log/event.types.js';
import type { FlagDrift, FlagsSchema } from './typed-flags/schema.types.js';

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
 * consumer     a durable reader of events, which runs on one node at a time.
 * change set   an ordered list of changes in one commit; every single change is a set of one.
 * request      a change set that waits for a time, for approval, or for both.
 * rollout      the percentage of a strategy, changed in steps.
 * revision     counts the changes to a flag, project, segment or token.
 */

/** The keys of what the actors of an instance share. */
const EVALUATION = Symbol('evaluation');
const DECLARED = Symbol('declared');

/** What was due: a request that has ended, or a rollout that has moved. */
export type DueItem = ListedChangeRequest | Rollout | EndedRollout;

/** The members that only flags with a schema have. */
export interface DeclaredMembers {
  readonly schema: FlagsSchema;
  readonly drift: () => Promise<readonly FlagDrift[]>;
}

/**
 * Feature flags inside this process: evaluation and administration. Changes validate their input, are atomic, are durable
 * when their promise resolves, and append one event per fact in the same commit. Safe to call concurrently; several
 * processes may share one storage.
 *
 * Every operation except evaluation fails with `closed` after `close`. These codes mean that nothing
 * has changed, and that you may try again:
 *
 * - `storage_busy`, `too_much_contention`: other processes keep the storage or the same document busy.
 * - `storage_unavailable`: the storage cannot be reached, or cannot be written to.
 *
 * `outcome_unknown` means that the connection or the disk failed during a commit, and the storage cannot find out whether
 * the change took effect. Repeat the call with its `id`, which returns the first result, or read the state first. Every
 * change with an `id` may fail with `id_taken`.
 *
 * @typeParam Own the names of strategies that are not built in: those of the options and of the schema
 */
export class Flags<Own extends string = never> extends MemberAdministration<Own> implements EvaluationOperations {
  /** @internal */
  declare readonly [ENGINE]: FlagsEngine;
  /** @internal */
  declare readonly [EVALUATION]: ReplicaEvaluation;
  /** @internal */
  declare readonly [DECLARED]: DeclaredMembers | undefined;

  declare readonly evaluator: Evaluator;

  /** @internal */
  constructor(engine: FlagsEngine, evaluation: ReplicaEvaluation, declared?: DeclaredMembers) {
    super(engine);
    this[EVALUATION] = evaluation;
    this[DECLARED] = declared;
    this.evaluator = evaluation.evaluator;
    Object.assign(this, declared);
  }

  /** The effective configuration with its defaults; frozen. */
  get settings(): FlagsSettings {
    return this[ENGINE].settings;
  }

  /**
   * Returns the same engine for another actor: the event log attributes its changes to this actor, unless a call's
   * context names another one. For an API token, the log records its name, id and kind. Cheap: call it per request.
   *
   * @param actor a name, a person with an id that stays when the name changes, or the token that `verifyToken` returns
   * @throws FlagsError `invalid_input` for an id or options of the wrong type
   * @example
   * await flags.as('ada@example.org').enable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  as(actor: GivenActor, options?: ActorOptions): Flags<Own> {
    return new Flags(engineOf(this[ENGINE], toIdentity(actor, options)), this[EVALUATION], this[DECLARED]);
  }

  /**
   * Aborts as soon as `close` is called. End everything that depends on these flags then.
   *
   * @example
   * flags.closing.addEventListener('abort', () => stream.end(), { once: true });
   */
  get closing(): AbortSignal {
    return this[ENGINE].lifetime.closing;
  }

  /**
   * Waits for running operations, ends subscriptions and closes the storage. Calling it again has no effect.
   *
   * @example
   * process.once('SIGTERM', () => void flags.close());
   */
  close(): Promise<void> {
    const { feed, lifetime, release } = this[ENGINE];
    feed.closePending();
    return lifetime.end(release);
  }

  // Evaluation. A check of `this` would make the first two a quarter slower: taken from their object, they throw a TypeError.

  isEnabled<Given>(flag: string, context?: ContextArgument<Given>, options?: EvaluationOptions): boolean {
    return this[EVALUATION].isEnabled(flag, context, options);
  }

  getVariant<Given>(flag: string, context?: ContextArgument<Given>, options?: VariantOptions): EvaluatedVariant {
    return this[EVALUATION].getVariant(flag, context, options);
  }

  getPayload<Given>(flag: string, context?: ContextArgument<Given>, options?: PayloadOptions): unknown {
    return evaluationOf(this, 'getPayload').getPayload(flag, context, options);
  }

  forContext<Given>(context: ContextArgument<Given>, options?: EnvironmentChoice): ContextualFlags {
    return evaluationOf(this, 'forContext').forContext(context, options);
  }

  explain<Given>(flag: string, context?: ContextArgument<Given>, options?: EnvironmentChoice): FlagExplanation {
    return evaluationOf(this, 'explain').explain(flag, context, options);
  }

  evaluateAll<Given>(context: ContextArgument<Given>, options?: EnvironmentChoice): readonly EvaluatedFlag[] {
    return evaluationOf(this, 'evaluateAll').evaluateAll(context, options);
  }

  recentContexts(): readonly EvaluationContext[] {
    return evaluationOf(this, 'recentContexts').recentContexts();
  }

  onImpression(listener: (impression: Impression) => void): () => void {
    return evaluationOf(this, 'onImpression').onImpression(listener);
  }

  configuration(options?: EnvironmentChoice): EnvironmentConfiguration {
    return evaluationOf(this, 'configuration').configuration(options);
  }

  projectOf(ref: { readonly flag: string } | { readonly segment: number }): string | null | undefined {
    return evaluationOf(this, 'projectOf').projectOf(ref);
  }

  onConfigurationChange(listener: (change: ConfigurationChange) => void): () => void {
    return evaluationOf(this, 'onConfigurationChange').onConfigurationChange(listener);
  }

  status(): EvaluationStatus {
    return evaluationOf(this, 'status').status();
  }

  async refresh(): Promise<EvaluationStatus> {
    return evaluationOf(this, 'refresh').refresh();
  }

  /** @internal */
  [ON_FLUSH](listener: (flush: UsageFlush) => void): () => void {
    return this[EVALUATION][ON_FLUSH](listener);
  }

  // Changes, events and what is due

  /**
   * Applies changes in their order, in one commit: all of them, or none.
   *
   * Each change is decided on the state that the earlier ones leave. A refusal names the change: `details[].path` is
   * `/changes/3` or longer. Concurrent sets are serialized: after a conflict, a set is decided again.
   *
   * @param changes at most 500
   * @throws FlagsError as the single operations; `change_set_too_large` (more than 500 changes, or more than 8 MiB of
   * documents and events); `revision_mismatch`; `id_taken`
   * @example
   * await flags.apply(
   *   [
   *     { op: 'createFlag', ref: { project: 'default' }, input: { name: 'checkout' } },
   *     { op: 'addStrategy', ref: production, input: { name: 'default' } },
   *     { op: 'enable', ref: production },
   *   ],
   *   { reason: 'Launch' },
   * );
   */
  apply(changes: readonly Change<Own>[], options?: ApplyOptions): Promise<ChangeSet> {
    return run(this, changeSetOperations.apply, { input: changes, context: options });
  }

  /**
   * Decides changes without a commit. Returns the documents before and after, the events, and the effects on clients.
   * Works in slices of some milliseconds.
   *
   * @throws FlagsError as `apply`
   * @example
   * const { effects } = await flags.plan([{ op: 'archiveFlag', ref: { project: 'default', flag: 'checkout' } }]);
   * const isSeen = effects.some(({ environment }) => environment === 'production');
   */
  plan(changes: readonly Change<Own>[]): Promise<ChangePlan> {
    return run(this, changeSetOperations.plan, { input: changes });
  }

  /**
   * Evaluates contexts before and after changes, without a commit: for every changed flag, for flags that use a changed
   * segment, and for flags that depend on any of these. Does not count evaluations or report problems.
   *
   * Both sides draw the same random numbers, so that random numbers alone change no result. Works in slices of some
   * milliseconds; do not change the contexts until the promise resolves.
   *
   * @param query at most 1000 contexts, and fewer if the changes concern many flags
   * @throws FlagsError as `apply`; `environment_not_found`. The signal's reason when it aborts
   * @example
   * const change: Change = { op: 'updateStrategy', ref: strategy, input: { parameters: { rollout: '50' } } };
   * const { flags: [checkout] } = await flags.preview([change], {
   *   environment: 'production',
   *   contexts: [{ userId: '7' }, { userId: '8' }],
   * });
   * console.log(checkout.before.enabled, '→', checkout.after.enabled);
   */
  preview(changes: readonly Change<Own>[], query: PreviewQuery): Promise<ChangePreview> {
    return run(this, changeSetOperations.preview, { input: changes, context: query });
  }

  /**
   * Calls the listener for every event committed from now on, by any process on the same storage, in order and one at a
   * time. Awaits a returned promise before the next event. An error of the listener goes to `onError`, and the next
   * event follows.
   *
   * With `after`, delivery starts with the events after that position, so a reader that stores its last position misses
   * nothing across restarts. Without `after`, events committed just before the call may be delivered too.
   *
   * @returns a function that ends the subscription; safe to call again
   * @throws FlagsError `closed`
   * @example
   * const unsubscribe = flags.subscribe((event) => console.log(event.type, event.flag));
   */
  subscribe(listener: FlagsEventListener, options?: SubscribeOptions): () => void {
    const engine = this[ENGINE];
    engine.lifetime.assertOpen();
    return subscribe(engine, listener, options);
  }

  /**
   * Hands all events to a handler: in their order, at least once, and on one node at a time. The storage keeps the
   * position, so a consumer continues after a restart, and on another node after a crash. Call it on every node.
   *
   * A handler that throws is repeated from the same position after 1 second, later after up to 5 minutes. It delays only
   * its own consumer. Events that were handled just before a crash are handled again: about those of the last second.
   *
   * Resolves when the consumer is stored, so that a new one misses no later event. There may be 100 consumers.
   *
   * @param name as of a flag: 1–100 characters
   * @returns a function that ends the consumer on this node: it aborts `signal`, waits up to 5 seconds for the handler, and
   * leaves the consumer to other nodes. Safe to call again
   * @throws FlagsError `invalid_input`, `too_much_contention`, `closed`
   * @example
   * const stop = await flags.consume('audit', async (events) => {
   *   for (const event of events) await audit.write(event.at, event.actor, event.type);
   * });
   */
  consume(name: string, handler: ConsumerHandler, options?: ConsumeOptions): Promise<() => Promise<void>> {
    return run(this, consumerOperations.consume, { input: { name, handler }, context: options });
  }

  /**
   * Does once what is due, whatever the option `due.run` says: for cron jobs and tests. Applies change requests, and takes
   * the steps of rollouts. Returns the requests that it ended, and the rollouts that it moved. What it could not do,
   * because the storage failed for example, goes to `onError`.
   *
   * @throws FlagsError `storage_busy`, `storage_unavailable`
   * @example
   * const { items } = await flags.runDue();
   */
  runDue(): Promise<{ readonly items: readonly DueItem[] }> {
    return run(this, dueOperations.runDue, {}) as Promise<{ readonly items: readonly DueItem[] }>;
  }

  // What servers for SDKs need: followers have it, too

  /**
   * Finds the token with this secret. Returns undefined if it does not exist or has expired. Compares hashes in
   * constant time. Counts as a use of the token (`lastUsedAt` of a listed token).
   *
   * @example
   * const token = await flags.verifyToken(secret);
   * if (token?.kind !== 'admin') throw new Error('Not an administrator.');
   */
  verifyToken(secret: string): Promise<Token | undefined> {
    return run(this, verificationOperations.verifyToken, { input: secret });
  }

  /**
   * Finds the `client` and `frontend` tokens with these secrets, in the order of the secrets. Leaves out secrets of other
   * tokens, and those that do not exist or have expired. Counts as a use of each token, like
   * `verifyToken`: servers that check the tokens of their callers here ask for tokens in use.
   *
   * @param secrets at most 100
   * @throws FlagsError `invalid_input`
   * @example
   * const valid = new Set((await flags.verifyTokens(secrets)).map(({ secret }) => secret));
   */
  verifyTokens(secrets: readonly string[]): Promise<readonly VerifiedToken[]> {
    return run(this, verificationOperations.verifyTokens, { input: secrets });
  }

  /**
   * Records a client's registration. The latest registration sets the application's strategies. Safe to call
   * concurrently.
   *
   * The storage keeps at most 10,000 applications: 1,000 of one API token, and 100 of one frontend token. It does not store
   * further ones, and `status().dropped` counts them. Each application keeps the 1,000 instances seen most recently.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * await flags.registerApplication({ application: 'web', instance: 'web-1', strategies: ['default'] });
   */
  registerApplication(registration: ClientRegistration, origin?: ReportOrigin): Promise<void> {
    return run(this, reportOperations.registerApplication, { input: registration, context: origin });
  }

  /**
   * Records a client's counts. Safe to call concurrently; every report counts. Resolves when all of it is stored.
   *
   * A report of up to 490 counts of flags and variants is stored all or none. A larger one is stored in parts, so that it
   * stalls nobody: after an error or a crash, a part of it may count.
   *
   * A report may name unknown flags and unregistered applications, within the limits of {@link registerApplication}
   * and {@link MetricsReport}. For applications beyond the limit, only the counts of flags are recorded.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * await flags.reportMetrics({
   *   application: 'web',
   *   start: '2026-01-01T10:00:00Z',
   *   stop: '2026-01-01T10:01:00Z',
   *   counts: { checkout: { yes: 8, no: 2 } },
   * });
   */
  reportMetrics(report: MetricsReport, origin?: ReportOrigin): Promise<void> {
    return run(this, reportOperations.reportMetrics, { input: report, context: origin });
  }

  /**
   * Records registrations and counts of many clients. The registrations are recorded before the reports, each in the given
   * order. Resolves when all of it is stored.
   *
   * A small batch is stored all or none: after an error other than `outcome_unknown`, the caller may send it again. A batch
   * of more than about 100 registrations and reports, or 490 counts, is stored in parts: after an error or a crash, some
   * may count, and would count twice when sent again. With an id, the same batch may be sent again after any error within a
   * day: each part counts once.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const [start, stop] = ['2026-01-01T10:00:00Z', '2026-01-01T10:01:00Z'];
   * await flags.reportMetricsInBulk({
   *   reports: [
   *     { application: 'web', start, stop, counts: { checkout: { yes: 8, no: 2 } } },
   *     { application: 'shop', start, stop, counts: { checkout: { yes: 1, no: 0 } } },
   *   ],
   * });
   */
  reportMetricsInBulk(bulk: BulkReport, origin?: BulkOrigin): Promise<void> {
    return run(this, reportOperations.reportMetricsInBulk, { input: bulk, context: origin });
  }

  // Namespaces

  /** Constraints with a name, which strategies of many flags share. */
  get segments(): Segments {
    return namespaceOf(this, 'segments', Segments);
  }

  /** The secrets that admit callers to the HTTP API. */
  get tokens(): Tokens {
    return namespaceOf(this, 'tokens', Tokens);
  }

  /** Percentages that change in steps. */
  get rollouts(): Rollouts {
    return namespaceOf(this, 'rollouts', Rollouts);
  }

  /** Changes that wait for a time, for approval, or for both. */
  get changeRequests(): ChangeRequests<Own> {
    return namespaceOf(this, 'changeRequests', ChangeRequests<Own>);
  }

  /** The environments whose changes need approval. */
  get approvalPolicy(): ApprovalPolicies {
    return namespaceOf(this, 'approvalPolicy', ApprovalPolicies);
  }

  /** Change sets that were committed, how to take them back, and the flags of the past. */
  get history(): History {
    return namespaceOf(this, 'history', History);
  }

  /** Reads of the event log. */
  get events(): Events {
    return namespaceOf(this, 'events', Events);
  }

  /** The consumers of all nodes. */
  get consumers(): Consumers {
    return namespaceOf(this, 'consumers', Consumers);
  }

  /** What clients report, and how often flags were evaluated. */
  get usage(): Usage {
    return namespaceOf(this, 'usage', Usage);
  }

  /** The programs that report usage. */
  get applications(): Applications {
    return namespaceOf(this, 'applications', Applications);
  }

  /** Flags as code. */
  get definitions(): FlagDefinitions {
    return namespaceOf(this, 'definitions', FlagDefinitions);
  }
}

/** Throws for a method that was taken from its object: the only case in which flags have no evaluation. */
function evaluationOf(
  flags: { readonly [EVALUATION]: ReplicaEvaluation } | undefined,
  method: keyof EvaluationOperations,
): ReplicaEvaluation {
  const evaluation = flags?.[EVALUATION];
  if (!evaluation) throw notCalledOnFlags(method);
  return evaluation;
}
