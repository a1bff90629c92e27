import { Administration } from './administration.js';
import type { ApplicationRef, ChangeSetRef, ConsumerRef, ListPage, PageQuery } from './base/common.types.js';
import type { FlagsSettings } from './base/settings.types.js';
import type { Change, ChangeSetOperations, UndoOperations } from './change.types.js';
import type { ActorOptions, ApplyOptions, ChangeSet, GivenActor } from './changesets/change-set.types.js';
import { apply } from './changesets/change-sets.operations.js';
import { plan, preview } from './changesets/plan.operations.js';
import { ENGINE, engineOf, notCalledOnFlags, run, toIdentity } from './changesets/run-operation.js';
import { planUndo, previewUndo, undoChangeSet } from './changesets/undo.operations.js';
import type {
  ConsumeOptions,
  Consumer,
  ConsumerHandler,
  ConsumerOperations,
  ConsumerReset,
} from './consumers/consumer.types.js';
import * as consumers from './consumers/consumers.operations.js';
import type {
  DefinitionOperations,
  Definitions,
  ExportQuery,
  ImportOptions,
  ImportResult,
} from './definitions/definition.types.js';
import { exportDefinitions } from './definitions/export.operations.js';
import { importDefinitions } from './definitions/import.operations.js';
import { CHANGE_SET } from './engine/operation.js';
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
import { ON_FLUSH, type UsageFlush } from './evaluation/usage.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from './features/environments/plan.types.js';
import type { FlagsEngine } from './flags-engine.js';
import { asOf } from './log/as-of.operations.js';
import { listEvents, listNextEvents, subscribe } from './log/event.operations.js';
import type {
  EventLog,
  EventOperations,
  EventQuery,
  FeedPage,
  FeedQuery,
  FlagsEventListener,
  SubscribeOptions,
} from './log/event.types.js';
import * as history from './log/history.operations.js';
import type { FlagsView, HistoryEntry, HistoryOperations, HistoryRef, UndoOptions } from './log/history.types.js';
import type { ReplicaEvaluation } from './replica/evaluation.operations.js';
import type { FlagDrift, FlagsSchema } from './typed-flags/schema.types.js';
import * as applications from './usage/applications.operations.js';
import * as reports from './usage/report.operations.js';
import * as seenFlags from './usage/seen-flags.operations.js';
import type {
  Application,
  ApplicationDetail,
  ApplicationFilter,
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  FlagApplication,
  MetricsReport,
  ReportOrigin,
  SeenFlags,
  UsageFilter,
  UsageOperations,
  UsagePeriod,
} from './usage/usage.types.js';
import { listUsage } from './usage/usage-over-time.operations.js';

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
export class Flags<Own extends string = never>
  extends Administration<Own>
  implements
    EvaluationOperations,
    FlagsLifecycle,
    EventOperations,
    ConsumerOperations,
    ChangeSetOperations<Own>,
    HistoryOperations,
    UndoOperations,
    DefinitionOperations,
    UsageOperations
{
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

  get closing(): AbortSignal {
    return this[ENGINE].lifetime.closing;
  }

  close(): Promise<void> {
    const { feed, lifetime, release } = this[ENGINE];
    feed.closePending();
    return lifetime.end(release);
  }

  subscribe(listener: FlagsEventListener, options?: SubscribeOptions): () => void {
    const engine = this[ENGINE];
    engine.lifetime.assertOpen();
    return subscribe(engine, listener, options);
  }

  asOf(time: string | Date | { readonly position: string }): FlagsView {
    const engine = this[ENGINE];
    engine.lifetime.assertOpen();
    return asOf(engine, time);
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

  // Change sets and their history

  apply(changes: readonly Change<Own>[], options?: ApplyOptions): Promise<ChangeSet> {
    return run(this, { op: 'apply', options }, (engine) => apply(engine, changes, options));
  }

  plan(changes: readonly Change<Own>[]): Promise<ChangePlan> {
    return run(this, { op: 'plan' }, (engine) => plan(engine, changes));
  }

  preview(changes: readonly Change<Own>[], options: PreviewQuery): Promise<ChangePreview> {
    return run(this, { op: 'preview', options }, (engine) => preview(engine, changes, options));
  }

  undoChangeSet(ref: ChangeSetRef, options?: UndoOptions): Promise<ChangeSet> {
    return run(this, { op: 'undoChangeSet', members: CHANGE_SET, ref, options }, (engine) =>
      undoChangeSet(engine, ref, options),
    );
  }

  planUndo(ref: ChangeSetRef, options?: Pick<UndoOptions, 'authorize'>): Promise<ChangePlan> {
    return run(this, { op: 'planUndo', members: CHANGE_SET, ref, options }, (engine) => planUndo(engine, ref, options));
  }

  previewUndo(ref: ChangeSetRef, options: PreviewQuery & Pick<UndoOptions, 'authorize'>): Promise<ChangePreview> {
    return run(this, { op: 'previewUndo', members: CHANGE_SET, ref, options }, (engine) =>
      previewUndo(engine, ref, options),
    );
  }

  listHistory(scope?: HistoryRef, page?: PageQuery): Promise<ListPage<HistoryEntry>> {
    return run(this, { op: 'listHistory', options: page }, (engine) => history.listHistory(engine, scope, page));
  }

  getChangeSet(ref: ChangeSetRef): Promise<HistoryEntry> {
    return run(this, { op: 'getChangeSet', members: CHANGE_SET, ref }, (engine) => history.getChangeSet(engine, ref));
  }

  listChangeSetProjects(ref: ChangeSetRef): Promise<ListPage<string | null>> {
    return run(this, { op: 'listChangeSetProjects', members: CHANGE_SET, ref }, (engine) =>
      history.listChangeSetProjects(engine, ref),
    );
  }

  // Events

  listEvents(query?: EventQuery): Promise<EventLog> {
    return run(this, { op: 'listEvents' }, (engine) => listEvents(engine, query));
  }

  listNextEvents(query?: FeedQuery): Promise<FeedPage> {
    return run(this, { op: 'listNextEvents' }, (engine) => listNextEvents(engine, query));
  }

  // Consumers

  consume(name: string, handler: ConsumerHandler, options?: ConsumeOptions): Promise<() => Promise<void>> {
    return run(this, { op: 'consume', options }, (engine) => consumers.consume(engine, name, handler, options));
  }

  listConsumers(page?: PageQuery): Promise<ListPage<Consumer>> {
    return run(this, { op: 'listConsumers' }, (engine) => consumers.listConsumers(engine, page));
  }

  resetConsumer(ref: ConsumerRef, input: ConsumerReset): Promise<void> {
    return run(this, { op: 'resetConsumer', members: ['consumer'], ref }, (engine) =>
      consumers.resetConsumer(engine, ref, input),
    );
  }

  deleteConsumer(ref: ConsumerRef): Promise<void> {
    return run(this, { op: 'deleteConsumer', members: ['consumer'], ref }, (engine) =>
      consumers.deleteConsumer(engine, ref),
    );
  }

  // Flags as code

  exportDefinitions(ref?: ExportQuery): Promise<Definitions> {
    return run(this, { op: 'exportDefinitions', members: ['project?'], ref }, (engine) =>
      exportDefinitions(engine, ref),
    );
  }

  importDefinitions(document: Definitions, options?: ImportOptions): Promise<ImportResult> {
    return run(this, { op: 'importDefinitions', options }, (engine) => importDefinitions(engine, document, options));
  }

  // Usage

  registerApplication(registration: ClientRegistration, options?: ReportOrigin): Promise<void> {
    return run(this, { op: 'registerApplication', options }, (engine) =>
      reports.registerApplication(engine, registration, options),
    );
  }

  reportMetrics(report: MetricsReport, options?: ReportOrigin): Promise<void> {
    return run(this, { op: 'reportMetrics', options }, (engine) => reports.reportMetrics(engine, report, options));
  }

  reportMetricsInBulk(bulk: BulkReport, options?: BulkOrigin): Promise<void> {
    return run(this, { op: 'reportMetricsInBulk', options }, (engine) =>
      reports.reportMetricsInBulk(engine, bulk, options),
    );
  }

  countEvaluations(): Promise<EvaluationCounts> {
    return run(this, { op: 'countEvaluations' }, (engine) => reports.countEvaluations(engine));
  }

  listSeenFlags(page?: PageQuery): Promise<ListPage<SeenFlags>> {
    return run(this, { op: 'listSeenFlags' }, (engine) => seenFlags.listSeenFlags(engine, page));
  }

  listUsage(filter?: UsageFilter, page?: PageQuery): Promise<ListPage<UsagePeriod>> {
    return run(this, { op: 'listUsage', options: page }, (engine) => listUsage(engine, filter, page));
  }

  listApplications(filter?: ApplicationFilter, page?: PageQuery): Promise<ListPage<Application>> {
    return run(this, { op: 'listApplications', members: ['strategies?'], ref: filter, options: page }, (engine) =>
      applications.listApplications(engine, filter, page),
    );
  }

  listApplicationsByFlag(page?: PageQuery): Promise<ListPage<FlagApplication>> {
    return run(this, { op: 'listApplicationsByFlag' }, (engine) => seenFlags.listApplicationsByFlag(engine, page));
  }

  getApplication(ref: ApplicationRef): Promise<ApplicationDetail> {
    return run(this, { op: 'getApplication', members: ['application'], ref }, (engine) =>
      applications.getApplication(engine, ref),
    );
  }

  deleteApplication(ref: ApplicationRef): Promise<void> {
    return run(this, { op: 'deleteApplication', members: ['application'], ref }, (engine) =>
      applications.deleteApplication(engine, ref),
    );
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

/** The end of an instance. */
export interface FlagsLifecycle {
  /**
   * Aborts as soon as `close` is called. End everything that depends on these flags then.
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
