import { LRUCache } from 'lru-cache';
import { compareCodePoints } from '../base/collections.js';
import { throwEnvironmentNotFound } from '../base/environments.js';
import { deepFreeze } from '../base/json.js';
import { pause } from '../base/paced.js';
import { assertOptions, assertReference } from '../base/validator.js';
import type { Engine } from '../engine/engine.js';
import { EVALUATE_PACED, type PinnedFlags } from '../evaluation/evaluate-paced.js';
import type {
  ConfigurationChange,
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
  PayloadReader,
  VariantOptions,
} from '../evaluation/evaluation.types.js';
import type { Snapshot } from '../evaluation/snapshot.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { Replica } from './replica.js';

/** What evaluation needs beside the rest of the engine. */
export interface EvaluationEngine extends Engine {
  readonly replica: Replica;
  readonly usageWriter: Pick<UsageWriter, 'dropped'>;
  readonly payloads: PayloadReader;
}

/** What happens to each context before its evaluation. */
export interface ContextOptions {
  /** Puts declared properties where constraints find them. */
  readonly lift?: ((context: EvaluationContext | undefined) => EvaluationContext | undefined) | undefined;
  /** Keeps the evaluated contexts. */
  readonly recent?: RecentContexts | undefined;
}

/**
 * Evaluation on the replica. Throws only for an unknown environment, for options that are not an object, and for a
 * reference without its members. The actors of an instance share it.
 */
export class ReplicaEvaluation implements EvaluationOperations {
  declare readonly evaluator: Evaluator;
  // Declared only, so that the constructor writes each once, and not `undefined` before.
  declare private readonly engine: EvaluationEngine;
  declare private readonly standard: Replica['state']['standard'];
  declare private readonly lift: ContextOptions['lift'];
  declare private readonly recent: ContextOptions['recent'];

  constructor(engine: EvaluationEngine, { lift, recent }: ContextOptions) {
    this.engine = engine;
    this.standard = engine.replica.state.standard;
    this.lift = lift;
    this.recent = recent;
    this.evaluator = Object.freeze<Evaluator>({
      isEnabled: (flag, context, options) => this.isEnabled(flag, context, options),
      getVariant: (flag, context, options) => this.getVariant(flag, context, options),
      getPayload: (flag, context, options) => this.getPayload(flag, context, options),
      forContext: (context, options) => this.forContext(context, options),
      explain: (flag, context, options) => this.explain(flag, context, options),
      evaluateAll: (context, options) => this.evaluateAll(context, options),
    });
  }

  isEnabled(flag: string, context?: EvaluationContext, options?: EvaluationOptions): boolean {
    const read = this.read(context);
    if (options === undefined) return this.standard.snapshot.isEnabled(flag, read);
    return this.snapshotFor(options).isEnabled(flag, read, options?.fallback);
  }

  getVariant(flag: string, context?: EvaluationContext, options?: VariantOptions): EvaluatedVariant {
    const read = this.read(context);
    if (options === undefined) return this.standard.snapshot.getVariant(flag, read);
    return this.snapshotFor(options).getVariant(flag, read, options?.fallback);
  }

  getPayload(flag: string, context?: EvaluationContext, options?: PayloadOptions): unknown {
    const read = this.read(context);
    return this.readPayload(flag, this.snapshotFor(options).getVariant(flag, read), options?.fallback);
  }

  forContext(context: EvaluationContext, options?: EnvironmentChoice): ContextualFlags {
    const read = this.read(context) ?? context;
    return pin(this.snapshotFor(options), read, (...input) => this.readPayload(...input));
  }

  evaluateAll(context: EvaluationContext, options?: EnvironmentChoice): readonly EvaluatedFlag[] {
    return this.forContext(context, options).evaluateAll();
  }

  explain(flag: string, context?: EvaluationContext, options?: EnvironmentChoice): FlagExplanation {
    // The explanation exposes compiled definitions. Freezing it protects them from the caller.
    return deepFreeze(this.snapshotFor(options).explain(flag, this.lift ? this.lift(context) : context));
  }

  recentContexts(): readonly EvaluationContext[] {
    return this.recent?.list() ?? [];
  }

  onImpression(listener: (impression: Impression) => void): () => void {
    return this.engine.replica.impressions.add(listener);
  }

  configuration(options?: EnvironmentChoice): EnvironmentConfiguration {
    const { replica, settings } = this.engine;
    const environment = options?.environment ?? settings.environment;
    return replica.state.configurationOf(environment) ?? throwEnvironmentNotFound(this.engine, environment);
  }

  projectOf(ref: { readonly flag: string } | { readonly segment: number }): string | null | undefined {
    const { documents } = this.engine.replica;
    assertReference('projectOf', ['flag'], ref);
    if ('flag' in ref) return documents.flags.get(ref.flag)?.project;
    const segment = documents.segments.get(`${ref.segment}`);
    return segment && (segment.project ?? null);
  }

  onConfigurationChange(listener: (change: ConfigurationChange) => void): () => void {
    return this.engine.replica.changes.add(listener);
  }

  status(): EvaluationStatus {
    return this.describe(this.engine.replica.poller.status());
  }

  async refresh(): Promise<EvaluationStatus> {
    return this.describe(await this.engine.replica.poller.refresh());
  }

  private read(context: EvaluationContext | undefined): EvaluationContext | undefined {
    const read = this.lift ? this.lift(context) : context;
    if (this.recent) this.recent.remember(read);
    return read;
  }

  private snapshotFor(options: EnvironmentChoice | null | undefined): Snapshot {
    if (options !== null) assertOptions('an evaluation', options);
    const environment = options?.environment;
    if (environment === undefined) return this.standard.snapshot;
    return this.engine.replica.state.snapshotOf(environment) ?? throwEnvironmentNotFound(this.engine, environment);
  }

  private readPayload(flag: string, variant: EvaluatedVariant, fallback: unknown): unknown {
    const reading = this.engine.payloads.read(flag, variant);
    if (reading === undefined) return fallback;
    if (reading.issue === undefined) return reading.value;
    this.engine.replica.problems.report({ code: 'invalid_payload', flag, message: reading.issue });
    return fallback;
  }

  private describe(status: EvaluationStatus): EvaluationStatus {
    const walBytes = this.engine.storage.walBytes?.();
    const { names, reports, usage } = this.engine.usageWriter.dropped;
    const hasDropped = names + reports + usage > 0;
    return Object.freeze({
      ...status,
      ...(walBytes !== undefined && { walBytes }),
      ...(hasDropped && { dropped: { names, reports, ...(usage > 0 && { usage }) } }),
    });
  }
}

function fallbackIn<Fallback>(options: { readonly fallback?: Fallback } | null | undefined): Fallback | undefined {
  if (options !== null) assertOptions('an evaluation', options);
  return options?.fallback;
}

type ReadPayload = (flag: string, variant: EvaluatedVariant, fallback: unknown) => unknown;

/** Binds evaluation to one snapshot and one context. */
function pin(snapshot: Snapshot, context: EvaluationContext, readPayload: ReadPayload): PinnedFlags {
  return {
    isEnabled: (flag, options) => snapshot.isEnabled(flag, context, fallbackIn(options)),
    getVariant: (flag, options) => snapshot.getVariant(flag, context, fallbackIn(options)),
    getPayload: (flag, options) => readPayload(flag, snapshot.getVariant(flag, context), fallbackIn(options)),
    evaluateAll: () =>
      [...snapshot.names()].sort(compareCodePoints).flatMap((name) => evaluateOne(snapshot, name, context)),
    async *[EVALUATE_PACED]({ names, signal, isCounted = false }) {
      const evaluateFlag = isCounted ? countOne : evaluateOne;
      let page: EvaluatedFlag[] = [];
      for (const name of names ?? [...snapshot.names()].sort(compareCodePoints)) {
        await pause(signal);
        page.push(...evaluateFlag(snapshot, name, context));
        if (page.length < EVALUATED_PER_PAGE) continue;
        yield page;
        page = [];
      }
      yield page;
    },
  };
}

/** Large enough that a page costs little, and small enough that few results are in memory. */
const EVALUATED_PER_PAGE = 50;

function evaluateOne(snapshot: Snapshot, name: string, context: EvaluationContext): EvaluatedFlag[] {
  const evaluation = snapshot.evaluate(name, context);
  const impressionData = snapshot.definition(name)?.impressionData ?? false;
  return evaluation ? [{ name, ...evaluation, impressionData }] : [];
}

function countOne(snapshot: Snapshot, name: string, context: EvaluationContext): EvaluatedFlag[] {
  const definition = snapshot.definition(name);
  if (!definition) return [];
  const variant = snapshot.getVariant(name, context);
  return [{ name, enabled: variant.flagEnabled, variant, impressionData: definition.impressionData ?? false }];
}

/** A context with longer JSON is not kept, so that 1,000 of them need about 2 MB. */
const MAX_LENGTH = 1_000;
/** A context with more properties is not kept: copying them would take too long. */
const MAX_PROPERTIES = 50;

/** The contexts of the last evaluations, each once, the newest `limit` of them. They stay in the memory of the process. */
export class RecentContexts {
  private readonly texts: LRUCache<string, true>;
  private last: EvaluationContext | undefined;

  constructor(limit: number) {
    this.texts = new LRUCache({ max: limit });
  }

  remember(context: EvaluationContext | undefined): void {
    if (context === this.last) return;
    this.last = context;
    const text = textOf(context);
    if (text !== undefined) this.texts.set(text, true);
  }

  /** Returns copies, the newest first. */
  list(): readonly EvaluationContext[] {
    return [...this.texts.keys()].map((text): EvaluationContext => JSON.parse(text));
  }
}

/** Returns a context as JSON, without its time. Undefined for one without fields, and for one that is too large. */
function textOf(context: EvaluationContext | undefined): string | undefined {
  try {
    const { userId, sessionId, remoteAddress, environment, appName, properties = {} } = context ?? {};
    let count = 0;
    for (const _ in properties) if (++count > MAX_PROPERTIES) return undefined;
    const fields = onlyScalars({ userId, sessionId, remoteAddress, environment, appName });
    const own = onlyScalars(properties);
    const kept = Object.keys(own).length > 0 ? { ...fields, properties: own } : fields;
    const text = JSON.stringify(kept);
    return text.length > MAX_LENGTH || text === '{}' ? undefined : text;
  } catch {
    // A context may contain anything, even getters that throw.
    return undefined;
  }
}

function onlyScalars(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
}
