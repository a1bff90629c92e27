import { v4 as randomId } from 'uuid';
import { cloneJson } from './base/json.js';
import { createLifetime } from './base/lifetime.js';
import { DueRequests } from './features/change-requests/due-requests.js';
import { createApprovalGate } from './features/change-requests/gate.js';
import { putEmptyPolicy } from './features/change-requests/policy.operations.js';
import { OwnConsumers } from './features/consumers/consumer-runner.js';
import { closeReplica, openReplica, type Replica, type ReplicaContext } from './features/environments/environments.js';
import type { FlagDocuments } from './features/environments/flag-documents.js';
import { RecentContexts, ReplicaEvaluation } from './features/environments/replica-evaluation.js';
import { LiveChildren } from './features/flags/live-children.js';
import { createProject } from './features/projects/project.decide.js';
import { DEFAULT_PROJECT } from './features/projects/project.js';
import { projectDocuments } from './features/projects/project.kind.js';
import { DueSteps } from './features/rollouts/due-steps.js';
import { RollingFlags } from './features/rollouts/rolling-flags.js';
import { toPlannedSet } from './features/segments/segment-uses.js';
import { createTokenFinder, createTokenUseRecorder } from './features/tokens/token-verification.operations.js';
import { createUsageWriter } from './features/usage/usage-writer.js';
import { REGISTRY } from './features.js';
import { type DeclaredMembers, Flags } from './flags.js';
import type { FlagsEngine, SharedFlagsEngine } from './flags-engine.js';
import { createValidators } from './input-schemas.js';
import { createChangeSetWriter } from './kernel/changes/change-set-writer.js';
import { engineOf } from './kernel/changes/run-operation.js';
import { DueRunner } from './kernel/due/runner.js';
import type { PreparedChange } from './kernel/engine.js';
import { stateAt } from './kernel/log/event-log.js';
import { createFeed } from './kernel/log/feed.js';
import { CHANGE_OPERATIONS, operationOf, REQUEST_OPERATIONS } from './operations.js';
import {
  assertOptions,
  createErrorReporter,
  createSettings,
  type FlagsOptions,
  resolveStorage,
  usageSettingsOf,
} from './options.js';
import { createReader, type Versioned } from './storage/documents.js';
import { memoryUsage } from './storage/memory/usage.js';
import type { DocumentKey, FlagsStorage } from './storage/port.js';
import { usageOf } from './storage/usage/port.js';
import { assertSchemaFits, createPropertyLift } from './typed-flags/define-flags.js';
import { findDrift, reconcileDrift } from './typed-flags/drift.js';
import { createPayloadReader } from './typed-flags/payload.js';
import type { FlagsSchema } from './typed-flags/schema.types.js';
import type { TypedFlags } from './typed-flags.types.js';

/**
 * Opens feature flags on a storage, which several processes may share. Creates the project `default` in a new storage.
 * Resolves when the flags are loaded; `close()` releases everything. Closes the storage if it rejects.
 *
 * @throws FlagsError `invalid_input` (invalid options), `storage_unsupported`, `storage_busy`, `storage_unavailable`
 * @example
 * const flags = await openFlags({ storage: sqliteStorage('./flags.db') });
 * await flags.createFlag({ project: 'default' }, { name: 'checkout' });
 */
export async function openFlags<Schema extends FlagsSchema, const Own extends string = never>(
  options: FlagsOptions<Own> & { readonly schema: Schema },
): Promise<TypedFlags<Schema, Own>>;
/** Opens feature flags whose evaluation accepts any name. */
export async function openFlags<const Own extends string = never>(options: FlagsOptions<Own>): Promise<Flags<Own>>;
export async function openFlags(options: FlagsOptions): Promise<Flags> {
  const storage = await resolveStorage(options);
  try {
    assertOptions(options);
    return await openOn(options, storage);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function openOn(options: FlagsOptions, storage: FlagsStorage): Promise<Flags> {
  const { context, start } = prepareEngine(options, storage);
  const { onError } = context;
  const replica = await openReplica(options, context);
  const { engine, flags, watch } = start(replica);
  try {
    await addDefaultProject(engine);
  } catch (error) {
    await closeReplica(replica);
    throw error;
  }
  watch();
  const { schema } = options;
  if (!schema) return flags;
  try {
    await reconcileDrift(schema, { engine, flags, onError, ...options });
  } catch (error) {
    await flags.close();
    throw error;
  }
  return flags;
}

/** An engine that waits for its replica. */
export interface PreparedEngine {
  readonly context: ReplicaContext;
  /** `watch` starts to listen to the storage. */
  readonly start: (replica: Replica) => {
    readonly engine: FlagsEngine;
    readonly flags: Flags;
    readonly watch: () => void;
  };
}

/** Creates an engine synchronously: only its replica reads the storage. */
export function prepareEngine(options: FlagsOptions, storage: FlagsStorage): PreparedEngine {
  const { schema } = options;
  const settings = createSettings(withEnvironments(options));
  if (schema) assertSchemaFits(schema, settings);
  const usageSettings = usageSettingsOf(options);
  const usage = usageOf(storage) ?? memoryUsage();
  const { now = () => new Date(), newId = () => randomId(), actor = 'system' } = options;
  const onError = createErrorReporter(options.onError);
  const { pollInterval = 1000, isUser = () => true } = options;
  const { run: mode = false, authorize, guard } = options.due ?? {};
  const feed = createFeed({ storage, registry: REGISTRY, pollInterval, onError });
  let known: FlagDocuments | undefined;
  const isFlag = (name: string) => known?.flags.has(name) ?? false;
  const usageWriter = createUsageWriter({ usage, isFlag, now, retention: usageSettings.retention, onError });
  const past: ReplicaContext['stateAt'] = async (key, until) =>
    (await stateAt({ storage, registry: REGISTRY }, key, { until }))?.state;
  const context = {
    storage,
    registry: REGISTRY,
    usageWriter,
    usageSettings,
    settings,
    now,
    pollInterval,
    onError,
    stateAt: past,
  };

  function start(replica: Replica): ReturnType<PreparedEngine['start']> {
    known = replica.documents;
    // With push notifications the replica is almost always current. While it is stale, another server may have taken over
    // that has given a revision of the replica to another commit.
    const isCurrent = () => replica.poller.status().state === 'current';
    const getCached =
      storage.watch && ((key: DocumentKey) => (isCurrent() ? cloneDocument(replica.documents.get(key)) : undefined));
    const gate = createApprovalGate({ storage, replica });
    const writer = createChangeSetWriter({
      storage,
      registry: REGISTRY,
      now,
      feed,
      applyUpdates: replica.applyCommit,
      forgetUsage: usageWriter.forget,
      toPlannedSet: (decided) => toPlannedSet(REGISTRY, decided),
      getCached,
      gate,
    });
    const reader = createReader(storage);
    const tokenUse = createTokenUseRecorder({ storage, now, interval: usageSettings.interval, onError });
    let stopWatching: (() => void) | undefined;
    const lifetime = createLifetime();
    const dueRequests = new DueRequests({ engineOf: () => shared, authorize, actor });
    const rolling = new RollingFlags(replica.documents.flags);
    const steps = new DueSteps(() => shared, rolling, { guard, authorize, actor });
    const due = new DueRunner([dueRequests, steps], {
      mode,
      polls: pollInterval > 0,
      now,
      lifetime,
      onError,
    });
    replica.onDocuments.add((keys) => due.wakeBy(rolling.follow(keys)));
    const children = new LiveChildren(replica.documents.flags);
    replica.onDocuments.add((keys) => children.follow(keys));
    const shared: SharedFlagsEngine = {
      settings,
      validate: createValidators(settings),
      registry: REGISTRY,
      operations: { find: operationOf, inSets: CHANGE_OPERATIONS, inRequests: REQUEST_OPERATIONS },
      storage,
      usage,
      usageWriter,
      feed,
      pollInterval,
      onError,
      instance: replica.instance,
      replica,
      memory: {
        statesOf: (documents) => replica.documents.statesOf(documents),
        get: (key) => replica.documents.get(key),
        refresh: () => replica.poller.refresh(),
      },
      ...reader,
      findToken: createTokenFinder({ storage, read: reader.read }),
      tokenUse,
      maxTokenLifetime: options.maxTokenLifetime,
      payloads: createPayloadReader(schema),
      now,
      newId,
      isUser,
      writer,
      gate,
      due,
      dueRequests,
      rolling,
      children,
      consumers: new OwnConsumers(),
      lifetime,
      async release() {
        stopWatching?.();
        due.close();
        try {
          await tokenUse.close();
          await feed.close();
          await closeReplica(replica);
          await usage.close();
        } finally {
          await storage.close();
        }
      },
    };
    const engine = engineOf(shared, { name: actor });
    const watch = () => {
      due.start();
      stopWatching = storage.watch?.(() => {
        feed.wake();
        void replica.poller.refresh();
      });
    };
    const flags = new Flags(engine, createEvaluation(engine, options), declaredMembers(engine, options));
    return { engine, flags, watch };
  }

  return { context, start };
}

/** The environments of the schema are the default. */
function withEnvironments(options: FlagsOptions): FlagsOptions {
  const environments = options.environments ?? options.schema?.environments?.map((name) => ({ name }));
  return environments ? { ...options, environments } : options;
}

function cloneDocument(known: Versioned<unknown> | undefined): Versioned<unknown> | undefined {
  return known && { state: cloneJson(known.state), revision: known.revision };
}

/** Creates the default project unless it exists. Another process may create it at the same moment. */
async function addDefaultProject({ run, now }: FlagsEngine): Promise<void> {
  const createdAt = now().toISOString();
  const change: PreparedChange = {
    subject: { kind: projectDocuments.kind, id: DEFAULT_PROJECT },
    async decide(unit) {
      if (await unit.read(projectDocuments, DEFAULT_PROJECT)) return;
      const events = createProject(undefined, { id: DEFAULT_PROJECT, name: 'Default' }, createdAt);
      await unit.apply(projectDocuments, DEFAULT_PROJECT, events);
      await putEmptyPolicy(unit);
    },
    result: () => undefined,
  };
  await run([change], undefined);
}

function createEvaluation(engine: FlagsEngine, { schema, recentContexts = 0 }: FlagsOptions): ReplicaEvaluation {
  return new ReplicaEvaluation(engine, {
    lift: schema && createPropertyLift(schema),
    recent: recentContexts > 0 ? new RecentContexts(recentContexts) : undefined,
  });
}

function declaredMembers(engine: FlagsEngine, { schema, declare }: FlagsOptions): DeclaredMembers | undefined {
  return schema && { schema, drift: () => engine.lifetime.track(() => findDrift(schema, engine, declare)) };
}
