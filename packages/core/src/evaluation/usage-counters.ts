import { NONE } from './convert.js';

/** The number of evaluations of a flag since the last drain. */
export interface FlagUsage {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
  /** Counts per variant, without variants that were not returned. A flag without a variant counts as `disabled`. */
  readonly variants: readonly VariantUsage[];
}

export interface VariantUsage {
  readonly variant: string;
  readonly count: number;
}

/** The number of evaluations of a flag in one environment. */
export interface EnvironmentCount extends Omit<FlagUsage, 'variants'> {
  readonly environment: string;
  /** Absent if no variant was counted. */
  readonly variants?: readonly VariantUsage[];
}

/** Registered, so that a package can listen to flags of the other build of this one. */
export const ON_FLUSH = Symbol.for('@flags/on-flush');

/** What was counted between two drains. */
export interface UsageFlush {
  readonly counts: readonly EnvironmentCount[];
  /** Returns whether a count is of a flag. Others are of misspelt names, or of flags that were archived or deleted meanwhile. */
  readonly isOfFlag: (count: EnvironmentCount) => boolean;
}

/** An engine or a follower. Applications do not see this member. */
interface CountedFlags {
  [ON_FLUSH](listener: (flush: UsageFlush) => void): () => void;
}

/**
 * Calls the listener with the evaluation counts of this process each time that they are recorded, the last time while the
 * flags close. Every evaluation is in exactly one call. An error of the listener goes to `onError`.
 *
 * @param flags an engine or a follower
 * @returns a function that removes the listener
 */
export function onUsageFlush(flags: object, listener: (flush: UsageFlush) => void): () => void {
  return (flags as CountedFlags)[ON_FLUSH](listener);
}

/** The counter of one variant. Compiled variants refer to it. */
export interface VariantCounter {
  readonly variant: string;
  count: number;
}

/** The number of unknown names that are counted between two drains. */
const MAX_UNKNOWN = 100;

/** The name of the variant of a flag that is off or has no variants. */
const DISABLED = 'disabled';

/** The counters of one flag. All compilations of the flag share them. */
export class FlagCounter {
  yes = 0;
  no = 0;
  retired = false;
  /** Evaluations of the variant that resulted in none. */
  disabled = 0;
  /** A list, which needs less memory than a map: a flag has few variants, or none. */
  private variants: readonly VariantCounter[] = NONE;

  variantCounter(variant: string): VariantCounter {
    const known = this.variants.find((counter) => counter.variant === variant);
    if (known) return known;
    const counter = { variant, count: 0 };
    // A spread would leave room for further items.
    this.variants = this.variants.concat(counter);
    return counter;
  }

  /** Returns the counts and resets them to zero; undefined if nothing was counted. */
  drain(flag: string): FlagUsage | undefined {
    const { yes, no } = this;
    if (yes === 0 && no === 0) return undefined;
    this.yes = 0;
    this.no = 0;
    return { flag, yes, no, variants: this.drainVariants() };
  }

  private drainVariants(): VariantUsage[] {
    // A variant may have that name, too.
    const named = this.variants.find(({ variant }) => variant === DISABLED);
    const disabled = this.disabled + (named?.count ?? 0);
    const usage: VariantUsage[] = disabled > 0 ? [{ variant: DISABLED, count: disabled }] : [];
    this.disabled = 0;
    for (const counter of this.variants) {
      const { variant, count } = counter;
      if (count > 0 && counter !== named) usage.push({ variant, count });
      counter.count = 0;
    }
    return usage;
  }
}

/**
 * The counters of all flags of one environment. Snapshots created by `Snapshot.with` share them.
 */
export class UsageCounters {
  private readonly counters = new Map<string, FlagCounter>();
  private unknown = 0;

  /** @internal */
  get(flag: string): FlagCounter {
    const known = this.counters.get(flag);
    if (known) {
      known.retired = false;
      return known;
    }
    const counter = new FlagCounter();
    this.counters.set(flag, counter);
    return counter;
  }

  /**
   * @internal Returns the counter of a name that no flag has, until the next drain; undefined beyond the limit of such
   * names.
   */
  getUnknown(name: string): FlagCounter | undefined {
    if (!this.counters.has(name) && ++this.unknown > MAX_UNKNOWN) return undefined;
    const counter = this.get(name);
    counter.retired = true;
    return counter;
  }

  /** @internal Removes a deleted flag's counters at the next drain. Later counts of an older snapshot are lost. */
  retire(flag: string): void {
    const counter = this.counters.get(flag);
    if (counter) counter.retired = true;
  }

  /** Removes a deleted flag's counts at once, so that a later flag of the same name does not inherit them. */
  forget(flag: string): void {
    this.counters.delete(flag);
  }

  /**
   * Returns the counts since the last drain, without flags that were not evaluated. Every evaluation is in exactly one
   * drain.
   */
  drain(): FlagUsage[] {
    const drained: FlagUsage[] = [];
    this.unknown = 0;
    for (const [flag, counter] of this.counters) {
      const usage = counter.drain(flag);
      if (usage) drained.push(usage);
      if (counter.retired) this.counters.delete(flag);
    }
    return drained;
  }
}
