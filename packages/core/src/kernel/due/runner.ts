import { FlagsError } from '../../base/errors.js';
import type { Lifetime } from '../../base/lifetime.js';
import type { DueCounts, DueSource } from './source.js';

/** Milliseconds between two polls of the sources. */
const POLL = 5_000;
/** Milliseconds after which a due item is overdue: two polls have not done it. */
export const OVERDUE = 2 * POLL;

/** Whether this process does what is due. `elsewhere`: another one does, or the host calls `runDue`. */
export type DueMode = boolean | 'elsewhere';

/**
 * Throws `due_disabled` if no process applies what is due: otherwise the engine would accept a time that never takes
 * effect.
 */
export function assertDueRuns({ due }: { readonly due: { readonly mode: DueMode } }): void {
  if (due.mode !== false) return;
  const message =
    'Nothing is applied at a time here: open the flags with due: { run: true }, or with run: "elsewhere" if another ' +
    'process does it.';
  throw new FlagsError('due_disabled', message);
}

interface DueRunnerOptions {
  readonly mode: DueMode;
  /** Whether the engine polls. The engine of a command line does not. */
  readonly polls: boolean;
  readonly now: () => Date;
  readonly lifetime: Lifetime;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs each source at every poll, and earlier when a source has something due before the next poll. One timer serves
 * all sources, and no source waits for another one.
 */
export class DueRunner {
  readonly mode: DueMode;
  private timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by the engine's clock. */
  private wakesAt = Number.NEGATIVE_INFINITY;
  private isClosed = false;
  /** Tasks that failed at the last poll. A series of failures is reported once. */
  private readonly failing = new Set<string>();
  private readonly latest = new Map<DueSource, Promise<unknown>>();
  private readonly underWay = new Set<DueSource>();

  constructor(
    private readonly sources: readonly DueSource[],
    private readonly options: DueRunnerOptions,
  ) {
    this.mode = options.mode;
  }

  /** Starts the timer, if this process runs or tidies something. */
  start(): void {
    const tidies = this.options.polls && this.sources.some(({ tidy }) => tidy !== undefined);
    if (this.mode === true || tidies) this.wakeAfter(0);
  }

  /** Moves the timer to an earlier time, in milliseconds since 1970. */
  wakeBy(at: number): void {
    if (this.mode === true && this.timer && at < this.wakesAt) this.wakeAfter(Math.max(0, at - this.now()));
  }

  /** Does once what is due. Resolves to what it has done, in the order of the sources. */
  async runDue(): Promise<readonly unknown[]> {
    const runs = await Promise.allSettled(this.sources.map((source) => this.run(source)));
    return runs.flatMap((run) => {
      if (run.status === 'rejected') throw run.reason;
      return run.value;
    });
  }

  /** Sums the counts of the sources. Undefined if this process accepts no times. */
  counts(): Required<DueCounts> | undefined {
    if (this.mode === false) return undefined;
    const all = this.sources.map((source) => source.counts(this.now()));
    const sum = (name: keyof DueCounts) => all.reduce((total, counts) => total + (counts[name] ?? 0), 0);
    return { pending: sum('pending'), overdue: sum('overdue'), unguarded: sum('unguarded') };
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private now(): number {
    return this.options.now().getTime();
  }

  private wakeAfter(delay: number): void {
    clearTimeout(this.timer);
    if (this.isClosed) return;
    this.wakesAt = this.now() + delay;
    this.timer = setTimeout(() => this.wake(), delay).unref();
  }

  private wake(): void {
    this.wakeAfter(POLL);
    for (const source of this.sources) {
      if (source.isConcurrent || !this.underWay.has(source)) void this.poll(source);
    }
  }

  private async poll(source: DueSource): Promise<void> {
    const { lifetime } = this.options;
    this.underWay.add(source);
    const began = this.now();
    // Rejects after `close`, which waits for a run.
    const work = lifetime.track(async () => {
      const done = this.mode === true ? await this.attempt(source.name, () => this.run(source)) : undefined;
      await this.attempt(`${source.name}, old ones`, async () => source.tidy?.(began));
      return done;
    });
    const done = await work.catch(() => undefined);
    this.underWay.delete(source);
    const next = source.nextAt();
    // A run may leave items undone, for the next poll. The timer fires earlier only for items that have become due
    // since.
    if (next > began || (done && done.length > 0)) this.wakeBy(next);
  }

  private async attempt<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.failing.delete(name);
      return result;
    } catch (error) {
      if (!this.failing.has(name)) this.options.onError(error);
      this.failing.add(name);
      return undefined;
    }
  }

  /** Runs a source one call after the other: two calls at once would decide about the same items. */
  private run(source: DueSource): Promise<readonly unknown[]> {
    if (source.isConcurrent) return source.run(this.now());
    const run = (this.latest.get(source) ?? Promise.resolve()).then(() => source.run(this.now()));
    this.latest.set(
      source,
      run.catch(() => undefined),
    );
    return run;
  }
}
