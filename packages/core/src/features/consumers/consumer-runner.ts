import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { FlagsError, isFlagsError, shorten } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { sleep } from '../../base/sleep.js';
import type { EvaluationStatus } from '../../evaluation/evaluation.types.js';
import { type FeedReader, toFlagsEvent } from '../../kernel/log/feed.js';
import { type Cursor, PageReader } from '../../kernel/log/page-reader.js';
import type { Registry } from '../../kernel/registry.js';
import type { FlagsStorage, StoredEvent } from '../../storage/port.js';
import { FEED_PAGE_BYTES } from '../history/event.operations.js';
import { type ConsumerState, consumerDocuments, writeConsumer } from './consumer.js';
import type { ConsumeOptions, ConsumerHandler } from './consumer.types.js';

/** Milliseconds between two writes of the cursor. */
const WRITE_INTERVAL = 1_000;
/** Milliseconds that the end of a consumer waits for its handler. */
const STOP_TIMEOUT = 5_000;
/** Milliseconds before a failed batch is repeated. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [1_000, 300_000];

interface ConsumerRun {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly name: string;
  readonly handler: ConsumerHandler;
  readonly onHistoryLost: ConsumeOptions['onHistoryLost'];
  /** Milliseconds. */
  readonly lease: number;
  readonly instance: string;
  readonly pollInterval: number;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** The time in which this node holds the lease, until it loses the lease or gives it up, or the consumer is reset. */
interface Tenure {
  readonly ending: AbortController;
  readonly resets: number;
  position: string | null;
  error: string | null;
  /** Failures of the handler since its last success. */
  failures: number;
  /** Whether the position or the error is not stored yet. */
  isDirty: boolean;
  /** When the last write of the cursor began, and the last write that succeeded. */
  writtenAt: number;
  renewedAt: number;
}

/**
 * Runs a consumer on this node. It watches the lease until it can take it. Then it hands events to the handler, and writes the
 * cursor, which is also its sign of life. Leases are judged by the monotonic clock of each node: the holder ends by itself when
 * it could not write for as long as the lease, which others cannot have taken before.
 */
export class ConsumerRunner implements FeedReader {
  private readonly id = randomUUID();
  private readonly stopping = new AbortController();
  private readonly finished: Promise<void>;
  private tenure: Tenure | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isAbandoned = false;
  /** The reader of the latest tenure. */
  private reader: PageReader | undefined;
  /** Whether the last access to the consumer's document failed. Only the first of several failures in a row is reported. */
  private isWriteFailing = false;

  constructor(private readonly start: ConsumerRun) {
    this.finished = this.run();
  }

  wake(): void {
    this.reader?.wake();
  }

  async lastReadSucceeded(): Promise<boolean> {
    return this.reader?.lastReadSucceeded() ?? true;
  }

  /** Resolves at once: the position is stored. */
  async whenStarted(): Promise<void> {}

  hasStarted(): boolean {
    return true;
  }

  /** Reads the consumer now, if it is this one: this engine has reset or deleted it. */
  async check(name: string): Promise<void> {
    const { tenure } = this;
    if (name !== this.start.name || !tenure) return;
    // A running write may have read the consumer before that change.
    await this.writing;
    if (this.tenure !== tenure || tenure.ending.signal.aborted) return;
    this.renew(tenure);
    await this.writing;
  }

  /** Whether this node holds the lease. */
  get isRunning(): boolean {
    return this.tenure !== undefined;
  }

  /** Whether the handler has thrown, on this node or the one before, and nothing was handled since. */
  get isFailing(): boolean {
    return this.tenure !== undefined && this.tenure.error !== null;
  }

  /** Gives the lease up after the handler has ended. The lease lapses if that takes longer than 5 seconds. */
  async end(): Promise<void> {
    this.stopping.abort();
    this.tenure?.ending.abort(new FlagsError('closed', `The consumer ${this.start.name} was ended on this node.`));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_TIMEOUT);
    });
    await Promise.race([this.finished, timeout]);
    clearTimeout(timer);
    clearTimeout(this.timer);
    this.isAbandoned = true;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const tenure = await this.watch();
        if (tenure) await this.hold(tenure);
      } catch (error) {
        // Only the deletion of the consumer rejects.
        this.stopping.abort();
        this.start.onError(error);
      }
    }
  }

  /** Waits until the lease is free or has lapsed, and takes it. Rejects if the consumer does not exist. */
  private async watch(): Promise<Tenure | undefined> {
    const { storage, name, lease, pollInterval } = this.start;
    let seen = { revision: 0, at: 0 };
    while (!this.stopping.signal.aborted) {
      try {
        const found = await storage.get({ kind: consumerDocuments.kind, id: name });
        if (!found) throw wasDeleted(name);
        const at = performance.now();
        if (found.revision !== seen.revision) seen = { revision: found.revision, at };
        const { holder } = found.body as ConsumerState;
        const isFree = holder === null || holder === this.id || at - seen.at >= lease;
        const tenure = isFree ? await this.take(found.revision) : undefined;
        this.isWriteFailing = false;
        if (tenure) return tenure;
      } catch (error) {
        if (isFlagsError(error) && error.code === 'consumer_not_found') throw error;
        this.reportWrite(error);
      }
      await sleep(Math.max(lease / 10, pollInterval), this.stopping.signal);
    }
    return undefined;
  }

  /** Takes the lease unless the consumer has changed since this revision. */
  private async take(seen: number): Promise<Tenure | undefined> {
    const { storage, name, instance, now } = this.start;
    const at = performance.now();
    let tenure: Tenure | undefined;
    await writeConsumer(storage, name, (stored, revision) => {
      tenure = stored && revision === seen ? startTenure(stored, at) : undefined;
      if (!stored || !tenure) return undefined;
      const since = stored.holder === this.id ? stored.since : now().toISOString();
      return { ...stored, holder: this.id, node: instance, since };
    });
    return tenure;
  }

  private async hold(tenure: Tenure): Promise<void> {
    const { signal } = tenure.ending;
    this.tenure = tenure;
    this.reader = this.createReader(tenure);
    if (this.stopping.signal.aborted) tenure.ending.abort();
    this.schedule(tenure, this.start.lease / 3);
    this.reader.wake();
    if (!signal.aborted) await once(signal, 'abort');
    await this.reader.whenIdle();
    clearTimeout(this.timer);
    this.tenure = undefined;
    await this.writing;
    if (this.isAbandoned) return;
    if (this.stopping.signal.aborted) await this.write(tenure, { holder: null, node: null, since: null });
    if (isFlagsError(signal.reason) && signal.reason.code === 'consumer_not_found') throw signal.reason;
  }

  private createReader(tenure: Tenure): PageReader {
    const { storage, onError } = this.start;
    const cursor: Cursor = {
      get position() {
        return { after: tenure.position ?? undefined };
      },
      hasEnded: () => tenure.ending.signal.aborted,
      handle: (events) => this.handle(tenure, events),
      skip: (newest, error) => this.skip(tenure, newest, error),
    };
    return new PageReader({
      storage,
      cursor,
      maxBytes: FEED_PAGE_BYTES,
      onError: (error) => {
        if (!this.stopping.signal.aborted) onError(error);
      },
    });
  }

  private async handle(tenure: Tenure, events: readonly StoredEvent[]): Promise<void> {
    const { registry, handler, onError } = this.start;
    const { signal } = tenure.ending;
    if (this.hasLapsed(tenure)) tenure.ending.abort(this.lostLease());
    if (signal.aborted) return;
    try {
      await handler(
        events.map((event) => toFlagsEvent(registry, event)),
        { signal },
      );
      tenure.position = events.at(-1)?.position ?? tenure.position;
      tenure.error = null;
      tenure.failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const message = messageOf(error);
      // Reports a repetition only if it fails for another reason.
      if (tenure.failures === 0 || message !== tenure.error) onError(error);
      tenure.error = message;
      tenure.failures += 1;
    }
    this.changed(tenure);
    if (tenure.failures > 0) await sleep(pauseAfter(tenure.failures), signal);
  }

  private async skip(tenure: Tenure, newest: string | undefined, error: unknown): Promise<void> {
    const { onHistoryLost, onError } = this.start;
    tenure.position = newest ?? null;
    this.changed(tenure);
    if (onHistoryLost) await onHistoryLost(newest);
    else onError(error);
  }

  private changed(tenure: Tenure): void {
    tenure.isDirty = true;
    if (!this.writing) this.schedule(tenure, tenure.writtenAt + WRITE_INTERVAL - performance.now());
  }

  /** Renews the lease after a delay in milliseconds, and ends the tenure at the moment at which the lease lapses. */
  private schedule(tenure: Tenure, delay: number): void {
    clearTimeout(this.timer);
    if (this.isAbandoned) return;
    const left = tenure.renewedAt + this.start.lease - performance.now();
    const due = tenure.ending.signal.aborted ? delay : Math.min(delay, left);
    this.timer = setTimeout(() => this.renew(tenure), Math.max(0, due)).unref();
  }

  private renew(tenure: Tenure): void {
    if (this.hasLapsed(tenure)) tenure.ending.abort(this.lostLease());
    this.schedule(tenure, this.start.lease / 3);
    this.writing ??= this.write(tenure).finally(() => {
      this.writing = undefined;
      if (tenure.isDirty && this.tenure === tenure) this.changed(tenure);
    });
  }

  /** Writes the cursor, which is also the sign of life. Ends the tenure if the consumer was deleted, reset or taken over. */
  private async write(tenure: Tenure, change?: Pick<ConsumerState, 'holder' | 'node' | 'since'>): Promise<void> {
    const { storage, name } = this.start;
    const startedAt = performance.now();
    const { isDirty } = tenure;
    tenure.writtenAt = startedAt;
    tenure.isDirty = false;
    let end: Error | undefined;
    try {
      await writeConsumer(storage, name, (stored) => {
        end = stored ? undefined : wasDeleted(name);
        if (!stored) return undefined;
        if (stored.holder !== this.id) end = this.lostLease();
        else if (stored.resets !== tenure.resets) end = new Error(`The consumer ${name} was reset.`);
        else return { ...stored, position: tenure.position, error: tenure.error, ...change };
        return stored.holder === this.id && change ? { ...stored, ...change } : undefined;
      });
      this.isWriteFailing = false;
      if (end) tenure.ending.abort(end);
      else tenure.renewedAt = startedAt;
    } catch (error) {
      tenure.isDirty ||= isDirty;
      this.reportWrite(error);
    }
  }

  private hasLapsed({ renewedAt }: Tenure): boolean {
    return performance.now() - renewedAt >= this.start.lease;
  }

  private lostLease(): Error {
    return new Error(`Another node may run the consumer ${this.start.name} now.`);
  }

  private reportWrite(error: unknown): void {
    if (!this.isWriteFailing && !this.stopping.signal.aborted) this.start.onError(error);
    this.isWriteFailing = true;
  }
}

/** The consumers of this process, until they are stopped. */
export class OwnConsumers extends Set<ConsumerRunner> {
  /** Undefined without consumers. */
  counts(): EvaluationStatus['consumers'] {
    if (this.size === 0) return undefined;
    const all = [...this];
    return {
      running: all.filter(({ isRunning }) => isRunning).length,
      failing: all.filter(({ isFailing }) => isFailing).length,
    };
  }
}

function startTenure({ position, error, resets }: ConsumerState, at: number): Tenure {
  const ending = new AbortController();
  // The first batch is stored at once: nodes that die soon after each takeover would otherwise never come further.
  const writtenAt = Number.NEGATIVE_INFINITY;
  return { ending, resets, position, error, failures: 0, isDirty: false, writtenAt, renewedAt: at };
}

function wasDeleted(name: string): FlagsError {
  return new FlagsError('consumer_not_found', `The consumer ${name} was deleted, so it has ended on this node.`);
}

/** Doubles with each failure. Jitter keeps consumers from calling a receiver at the same moment. */
function pauseAfter(failures: number): number {
  const longest = Math.min(2 * SHORTEST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return longest * (0.5 + Math.random() / 2);
}

/** A storage may refuse NUL and unpaired surrogates. */
function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  const text = shorten(typeof message === 'string' ? message : String(error), LIMITS.consumerError);
  return text.replace(/[\p{Cs}\0]/gu, '\uFFFD');
}
