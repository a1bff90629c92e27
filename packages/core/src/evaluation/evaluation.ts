import { throwEnvironmentNotFound } from '../base/assert-environment.js';
import { compareCodePoints, type Listeners } from '../base/collections.js';
import { deepFreeze } from '../base/json.js';
import { pause } from '../base/paced.js';
import type { FlagsSettings } from '../base/settings.types.js';
import { assertOptions } from '../base/validator.js';
import { EVALUATE_PACED, type PinnedFlags } from './evaluate-paced.js';
import type {
  ConfigurationChange,
  ContextualFlags,
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluatedFlag,
  EvaluatedVariant,
  EvaluationContext,
  EvaluationOptions,
  Evaluator,
  FlagExplanation,
  FollowedEvaluation,
  Impression,
  PayloadOptions,
  PayloadReader,
  VariantOptions,
} from './evaluation.types.js';
import type { ProblemReporter } from './problem.js';
import type { Snapshot } from './snapshot.js';
import { type EnvironmentCount, ON_FLUSH, type UsageFlush } from './usage-counters.js';

/** The compiled environments. Each change replaces their snapshots. */
export interface EvaluatedState {
  /** The default environment. */
  readonly standard: { readonly snapshot: Snapshot };
  /** Returns the snapshot of an environment, or undefined for an unknown one. */
  snapshotOf(environment: string): Snapshot | undefined;
  /** Returns a frozen object, the same one until a change. Returns undefined for an unknown environment. */
  configurationOf(environment: string): EnvironmentConfiguration | undefined;
}

/** What happens to each context before its evaluation. */
export interface ContextOptions {
  /** Puts declared properties where constraints find them. */
  readonly lift?: ((context: EvaluationContext | undefined) => EvaluationContext | undefined) | undefined;
  /** Keeps the evaluated contexts. */
  readonly recent?: { remember(context: EvaluationContext | undefined): void } | undefined;
}

/** What evaluation works with. */
export interface EvaluationParts extends ContextOptions {
  readonly state: EvaluatedState;
  readonly settings: FlagsSettings;
  readonly payloads: PayloadReader;
  /** For problems that evaluation finds outside of snapshots. */
  readonly problems: Pick<ProblemReporter, 'report'>;
  readonly impressions: Listeners<Impression>;
  readonly changes: Listeners<ConfigurationChange>;
  /** Notified when evaluations are recorded. */
  readonly counts: Listeners<readonly EnvironmentCount[]>;
}

/**
 * Evaluation on snapshots in memory, without a storage. Throws only for an unknown environment, for options that are not an
 * object, and for a listener that is not a function.
 */
export class Evaluation implements Omit<FollowedEvaluation, 'status' | 'refresh'> {
  declare readonly evaluator: Evaluator;
  // Declared only, so that the constructor writes each once, and not `undefined` before.
  declare private readonly parts: EvaluationParts;
  declare private readonly standard: EvaluatedState['standard'];
  declare private readonly lift: ContextOptions['lift'];
  declare private readonly recent: ContextOptions['recent'];

  constructor(parts: EvaluationParts) {
    this.parts = parts;
    this.standard = parts.state.standard;
    this.lift = parts.lift;
    this.recent = parts.recent;
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

  onImpression(listener: (impression: Impression) => void): () => void {
    return this.parts.impressions.add(listener);
  }

  configuration(options?: EnvironmentChoice): EnvironmentConfiguration {
    const { state, settings } = this.parts;
    const environment = options?.environment ?? settings.environment;
    return state.configurationOf(environment) ?? throwEnvironmentNotFound({ settings }, environment);
  }

  onConfigurationChange(listener: (change: ConfigurationChange) => void): () => void {
    return this.parts.changes.add(listener);
  }

  /** @internal */
  [ON_FLUSH](listener: (flush: UsageFlush) => void): () => void {
    const isOfFlag = ({ environment, flag }: EnvironmentCount) =>
      this.parts.state.snapshotOf(environment)?.definition(flag) !== undefined;
    return this.parts.counts.add((counts) => listener({ counts, isOfFlag }));
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
    return this.parts.state.snapshotOf(environment) ?? throwEnvironmentNotFound(this.parts, environment);
  }

  private readPayload(flag: string, variant: EvaluatedVariant, fallback: unknown): unknown {
    const reading = this.parts.payloads.read(flag, variant);
    if (reading === undefined) return fallback;
    if (reading.issue === undefined) return reading.value;
    this.parts.problems.report({ code: 'invalid_payload', flag, message: reading.issue });
    return fallback;
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
