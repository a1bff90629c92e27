import type { UsageFlush } from '@flags/core/integration/opentelemetry';
import type { EnvironmentCount } from '@flags/core/integration/shared';
import type { Attributes, Counter } from '@opentelemetry/api';
import { attempt } from './meter.js';

/** The maximum number of series of `flags.evaluations`, including the shared one. */
const MAX_SERIES = 500;

/** The key of the flags without series of their own. */
const OTHER = 'other';

/** The variant that evaluation counts for a flag without one. */
const NO_VARIANT = 'disabled';

type Result = 'on' | 'off';

/** Adds evaluations to a counter, with a bounded number of series. A flag keeps the series that it has. */
export class EvaluationSeries {
  /** The series of each flag, by environment, result and variant. */
  private readonly flags = new Map<string, Map<string, Attributes>>();
  private size = 1;

  constructor(
    private readonly counter: Counter,
    private readonly isCounted: (flag: string) => boolean,
  ) {}

  /** Adds what one flush of usage has counted. */
  add({ counts, isOfFlag }: UsageFlush): void {
    let other = 0;
    for (const count of counts) {
      const own = this.flags.get(count.flag) ?? this.admit(count, isOfFlag);
      if (own) other += this.addCount(own, count);
      else other += count.yes + count.no;
    }
    if (other > 0) this.record(other, { 'feature_flag.key': OTHER });
  }

  /** Returns the series of a new flag, which are empty; undefined if it counts in the shared series. */
  private admit(count: EnvironmentCount, isOfFlag: UsageFlush['isOfFlag']): Map<string, Attributes> | undefined {
    const { flag } = count;
    // Names that no flag has could take the room of flags.
    if (this.size >= MAX_SERIES || !isOfFlag(count) || !this.isChosen(flag)) return undefined;
    const series = new Map<string, Attributes>();
    this.flags.set(flag, series);
    return series;
  }

  private isChosen(flag: string): boolean {
    let isChosen = false;
    attempt(() => {
      isChosen = this.isCounted(flag);
    });
    return isChosen;
  }

  /** Adds the evaluations of a flag. Returns the number of evaluations for which there is no more room. */
  private addCount(own: Map<string, Attributes>, count: EnvironmentCount): number {
    let rest = 0;
    const add = (evaluations: number, result: Result, variant?: string) => {
      if (evaluations <= 0) return;
      const attributes = this.attributesOf(own, count, { result, variant });
      if (attributes) this.record(evaluations, attributes);
      else rest += evaluations;
    };
    let withoutVariant = count.yes;
    for (const { variant, count: evaluations } of count.variants ?? []) {
      if (variant === NO_VARIANT) continue;
      withoutVariant -= evaluations;
      add(evaluations, 'on', variant);
    }
    add(withoutVariant, 'on');
    add(count.no, 'off');
    return rest;
  }

  /** Returns the attributes of a series, which is new or known; undefined beyond the limit. */
  private attributesOf(
    own: Map<string, Attributes>,
    { flag, environment }: EnvironmentCount,
    { result, variant }: { readonly result: Result; readonly variant: string | undefined },
  ): Attributes | undefined {
    const key = JSON.stringify([environment, result, variant]);
    const known = own.get(key);
    if (known || this.size >= MAX_SERIES) return known;
    const attributes: Attributes = {
      'feature_flag.key': flag,
      'flags.environment': environment,
      'flags.result': result,
      ...(variant !== undefined && { 'feature_flag.result.variant': variant }),
    };
    own.set(key, attributes);
    this.size += 1;
    return attributes;
  }

  private record(evaluations: number, attributes: Attributes): void {
    attempt(() => this.counter.add(evaluations, attributes));
  }
}
