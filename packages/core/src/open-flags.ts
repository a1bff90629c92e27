import type { FlagsSettings } from './base/settings.types.js';
import { RecentContexts, ReplicaEvaluation } from './features/environments/replica-evaluation.js';
import { CHANGE_OPERATIONS, FEATURES, operationOf, REGISTRY, REQUEST_OPERATIONS } from './features.js';
import { type DeclaredMembers, Flags } from './flags.js';
import type { FlagsEngine, SharedFlagsEngine } from './flags-engine.js';
import { createValidators } from './input-schemas.js';
import { engineOf } from './kernel/changes/run-operation.js';
import { createKernel, seedOf } from './kernel/create-kernel.js';
import { type LoadedDocuments, loadDocuments } from './kernel/replica/replica.js';
import {
  assertOptions,
  createErrorReporter,
  createSettings,
  type FlagsOptions,
  resolveStorage,
  usageSettingsOf,
} from './options.js';
import { memoryUsage } from './storage/memory/usage.js';
import type { FlagsStorage } from './storage/port.js';
import { usageOf } from './storage/usage/port.js';
import { assertSchemaFits, createPropertyLift } from './typed-flags/define-flags.js';
import { findDrift, reconcileDrift } from './typed-flags/drift.js';
import { createPayloadReader } from './typed-flags/payload.js';
import type { FlagsSchema } from './typed-flags/schema.types.js';
import type { TypedFlags } from './typed-flags.types.js';

/** The actor of changes without one. */
const SYSTEM = 'system';

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
  const { engine, flags } = await openOn(options, await resolveStorage(options));
  try {
    // The documents were read one kind after the other. The feed brings all of them to one state.
    await engine.memory.refresh();
    await engine.run(seedOf(FEATURES, engine), undefined);
    engine.start();
    const { schema } = options;
    if (schema) await reconcileDrift(schema, { engine, flags, ...options, onError: engine.onError });
    return flags;
  } catch (error) {
    await flags.close();
    throw error;
  }
}

async function openOn(options: FlagsOptions, storage: FlagsStorage): Promise<CreatedFlags> {
  try {
    assertOptions(options);
    const { start } = prepareEngine(options, storage);
    return createFlags(start(await loadDocuments({ storage, registry: REGISTRY })), options);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** An engine that waits for its documents. */
export interface PreparedEngine {
  readonly settings: FlagsSettings;
  readonly start: (loaded: LoadedDocuments) => SharedFlagsEngine;
}

/** Checks the options of an engine. Reads nothing: only the documents come from the storage. */
export function prepareEngine(options: FlagsOptions, storage: FlagsStorage): PreparedEngine {
  const { schema, actor = SYSTEM, now, newId, isUser, pollInterval } = options;
  const settings = createSettings(withEnvironments(options));
  if (schema) assertSchemaFits(schema, settings);
  const usage = usageSettingsOf(options);
  const kernel = {
    storage,
    usage: usageOf(storage) ?? memoryUsage(),
    registry: REGISTRY,
    operations: { find: operationOf, inSets: CHANGE_OPERATIONS, inRequests: REQUEST_OPERATIONS },
    settings,
    validate: createValidators(settings),
    now,
    newId,
    isUser,
    instance: usage.instance,
    pollInterval,
    onError: createErrorReporter(options.onError),
    dueMode: options.due?.run ?? false,
  };
  const given = { ...options, actor, usage, payloads: createPayloadReader(schema) };
  return {
    settings,
    start: (loaded) => createKernel<SharedFlagsEngine, typeof given>(FEATURES, kernel, { loaded, options: given }),
  };
}

interface CreatedFlags {
  readonly engine: FlagsEngine;
  readonly flags: Flags;
}

/** Creates the flags of an engine for the actor of the options. */
export function createFlags(shared: SharedFlagsEngine, options: FlagsOptions): CreatedFlags {
  const engine = engineOf(shared, { name: options.actor ?? SYSTEM });
  return { engine, flags: new Flags(engine, createEvaluation(engine, options), declaredMembers(engine, options)) };
}

/** The environments of the schema are the default. */
function withEnvironments(options: FlagsOptions): FlagsOptions {
  const environments = options.environments ?? options.schema?.environments?.map((name) => ({ name }));
  return environments ? { ...options, environments } : options;
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
