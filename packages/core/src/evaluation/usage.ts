/** How often a flag was evaluated since the last drain. */
export interface FlagUsage {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
  /** How often each variant was answered, those that were not left out; no variant counts as `disabled`. */
  readonly variants: readonly VariantUsage[];
}

export interface VariantUsage {
  readonly variant: string;
  readonly count: number;
}

/** A count that compiled variants hold on to. */
export interface VariantCounter {
  count: number;
}

/** The counts of one flag; the flag's compiled forms, one after the other, hold on to the same one. */
export class FlagCounter {
  yes = 0;
  no = 0;
  retired = false;
  private readonly variants = new Map<string, VariantCounter>();

  variant(name: string): VariantCounter {
    const known = this.variants.get(name);
    if (known) return known;
    const counter: VariantCounter = { count: 0 };
    this.variants.set(name, counter);
    return counter;
  }

  /** The counts so far, which start again from zero; undefined when nothing was counted. */
  drain(flag: string): FlagUsage | undefined {
    const { yes, no } = this;
    if (yes === 0 && no === 0) return undefined;
    this.yes = 0;
    this.no = 0;
    return { flag, yes, no, variants: this.drainVariants() };
  }

  private drainVariants(): VariantUsage[] {
    const counted: VariantUsage[] = [];
    for (const [variant, counter] of this.variants) {
      if (counter.count > 0) counted.push({ variant, count: counter.count });
      counter.count = 0;
    }
    return counted;
  }
}

/**
 * The counters of all flags of one environment. It outlives snapshots: those made by {@link Snapshot.with} share it, and
 * one that is compiled anew can be given it.
 */
export class UsageCounters {
  private readonly counters = new Map<string, FlagCounter>();

  /** @internal */
  of(flag: string): FlagCounter {
    const known = this.counters.get(flag);
    if (known) {
      known.retired = false;
      return known;
    }
    const counter = new FlagCounter();
    this.counters.set(flag, counter);
    return counter;
  }

  /** @internal Forgets a flag that is gone with the next drain. What an older snapshot still counts later is lost. */
  retire(flag: string): void {
    const counter = this.counters.get(flag);
    if (counter) counter.retired = true;
  }

  /** What was counted of a flag that was deleted must not be told of a later one of its name. */
  forget(flag: string): void {
    this.counters.delete(flag);
  }

  /** @internal */
  retireAllBut(isKept: (flag: string) => boolean): void {
    for (const [flag, counter] of this.counters) if (!isKept(flag)) counter.retired = true;
  }

  /** What was counted since the last drain, flags that were not evaluated left out. Every evaluation is in one drain. */
  drain(): FlagUsage[] {
    const drained: FlagUsage[] = [];
    for (const [flag, counter] of this.counters) {
      const usage = counter.drain(flag);
      if (usage) drained.push(usage);
      if (counter.retired) this.counters.delete(flag);
    }
    return drained;
  }
}
