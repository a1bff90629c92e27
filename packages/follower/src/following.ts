import type { EvaluationProblem } from '@flags/core';
import { FlagsError, isFlagsError } from '@flags/core';
import {
  type ClientDocument,
  createListeners,
  type Listeners,
  type ReportProblem,
  readClientDocument,
} from '@flags/core/integration/follower';
import { sleep } from '@flags/core/integration/shared';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { assertNext, readMessage } from './messages.js';
import type { FollowedState } from './state.js';
import { createDeadline, type Deadline, jitter, type Times } from './times.js';
import {
  chunksOf,
  discard,
  failureOf,
  parseJson,
  readText,
  tooLong,
  type Upstream,
  UpstreamFailure,
} from './upstream.js';

/** The longest pause after the first failure, in milliseconds. It doubles with each further failure. */
const FIRST_PAUSE = 500;
/**
 * Milliseconds until all followers have a change by their streams. Nodes of the server may poll, so they differ by this
 * time.
 */
const STREAM_LAG = 2_000;
/** The most followers in a chain. A longer chain is refused, because it may be a circle. */
const MAX_DEPTH = 3;

export interface FollowingOptions {
  readonly upstream: Upstream;
  readonly state: FollowedState;
  readonly times: Times;
  readonly now: () => number;
  /** Milliseconds between two polls of a server without a stream. */
  readonly pollInterval: number;
  readonly maxBytes: number;
  /** Finds the scope of the own token. Called at every connection. */
  readonly introduce: (signal: AbortSignal) => Promise<void>;
  readonly onProblem: (problem: EvaluationProblem) => void;
  /** Called with the first error of a series. */
  readonly onError: (error: unknown) => void;
  /** Called after every attempt: with its error, or without one as soon as the flags are current. */
  readonly onOutcome: (error: unknown) => void;
}

/** Whether the flags are current. */
export interface Connection {
  readonly isConnected: boolean;
  /** Milliseconds since 1970 when the flags were last known to be current; undefined if they never were. */
  readonly checkedAt: number | undefined;
  /** Why the last attempt failed. */
  readonly error: unknown;
}

/**
 * Follows the flags of a server: by its stream, or else by polls. After a failure, evaluation continues with the last
 * flags.
 */
export class Following {
  /** 1 for a follower of the source of flags. */
  depth = 1;
  /** Why the server refuses this follower: its token, or its depth. Evaluation goes on, and serving ends. */
  refusal: FlagsError | undefined;
  private connection: Connection = { isConnected: false, checkedAt: undefined, error: undefined };
  /** The id of the last message; '' if it had none. Undefined: the next connection loads everything. */
  private lastEventId: string | undefined;
  private entityTag: string | undefined;
  private isIntroduced = false;
  private streamDue = 0;
  /** Whether the server has a stream, as far as it is known. */
  hasStream = true;
  private failures = 0;
  /**
   * Whether the current series of failures was reported. True before the first flags: a failed start rejects with its
   * error instead.
   */
  private isReported = true;
  private isStopped = false;
  private attempt = new AbortController();
  /** Callers of `refresh` before and during the attempt that serves them. */
  private waiting: (() => void)[] = [];
  private served: (() => void)[] = [];
  private running: Promise<void> | undefined;
  private readonly outcomes: Listeners<unknown>;

  constructor(private readonly options: FollowingOptions) {
    this.outcomes = createListeners(options.onError);
    this.outcomes.add(options.onOutcome);
    options.upstream.onDepth((depth) => this.readDepth(depth));
    // Ends the stream, so that the next attempt finds the refusal.
    options.upstream.onRefused(() => this.connection.isConnected && this.attempt.abort());
  }

  status(): Connection {
    return this.connection;
  }

  /** Calls the listener after every attempt, and returns a function that removes it. */
  onOutcome(listener: (error: unknown) => void): () => void {
    return this.outcomes.add(listener);
  }

  start(): void {
    this.running = this.run();
  }

  /** Milliseconds after which other followers of the server have a change, too. */
  get lag(): number {
    return this.hasStream ? STREAM_LAG : 1.2 * this.options.pollInterval + STREAM_LAG;
  }

  /** Loads the flags now. Resolves after an attempt that begins after the call, whatever its outcome. */
  refresh(): Promise<void> {
    if (this.isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.served.length === 0) this.attempt.abort();
    });
  }

  /** Begins to call `onError`, also for the failure that lasts. Called at the end of the start. */
  reportFailures(): void {
    const { error } = this.connection;
    this.isReported = error !== undefined;
    if (this.isReported) this.options.onError(error);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.attempt.abort();
    await this.running;
    this.connection = { ...this.connection, isConnected: false };
    for (const resolve of [...this.served, ...this.waiting]) resolve();
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      this.attempt = new AbortController();
      this.served = this.waiting;
      this.waiting = [];
      // A resumed stream sends nothing if nothing has changed, so callers of `refresh` would wait: load everything
      // instead.
      if (this.served.length > 0) this.lastEventId = undefined;
      const pause = await this.connect(this.attempt.signal);
      if (this.isStopped || this.waiting.length > 0) continue;
      this.attempt = new AbortController();
      await sleep(pause, this.attempt.signal);
    }
  }

  /** Returns the milliseconds until the next attempt. */
  private async connect(signal: AbortSignal): Promise<number> {
    const { now, times, pollInterval, introduce } = this.options;
    const startedAt = now();
    try {
      if (!this.isIntroduced) await introduce(signal);
      this.isIntroduced = true;
      if (now() < this.streamDue || !(await this.stream(signal))) {
        await this.poll(signal);
        this.failures = 0;
        return jitter(pollInterval);
      }
      this.disconnect(undefined);
    } catch (error) {
      if (signal.aborted && !isFlagsError(signal.reason)) return 0;
      this.fail(signal.aborted ? signal.reason : error);
    }
    // A long connection ends a series of failures.
    this.failures = now() - startedAt > times.backoff ? 0 : this.failures + 1;
    const { retryAfter = 0 } = Object(this.connection.error) as Partial<UpstreamFailure>;
    return retryAfter + Math.random() * Math.min(times.backoff, FIRST_PAUSE * 2 ** this.failures);
  }

  /** Follows the stream to its end. Returns false if the server has no stream, or if a proxy buffers it. */
  private async stream(signal: AbortSignal): Promise<boolean> {
    const { upstream, times } = this.options;
    const deadline = createDeadline(signal, times.firstMessage);
    try {
      const response = await upstream.send({
        path: '/api/client/streaming',
        headers: { accept: 'text/event-stream', ...(this.lastEventId && { 'last-event-id': this.lastEventId }) },
        signal: deadline.signal,
      });
      const type = response.headers.get('content-type') ?? '';
      if (response.status !== 200 || !type.startsWith('text/event-stream')) {
        await discard(response);
        // A server that is overloaded, restarts or refuses the token is asked again soon.
        if (response.status < 500 && ![401, 403, 429].includes(response.status)) this.pollFromNowOn();
        return false;
      }
      this.hasStream = true;
      // The server sends missed changes at once, so the flags are current.
      if (this.lastEventId) this.succeed();
      await this.readStream(response, deadline);
      return true;
    } catch (error) {
      if (!deadline.isOver) throw error;
      const isEmpty = this.lastEventId === undefined;
      // Some messages may be lost, so the next connection loads everything.
      this.lastEventId = undefined;
      if (!isEmpty) throw error;
      this.pollFromNowOn();
      return false;
    } finally {
      deadline.end();
    }
  }

  private pollFromNowOn(): void {
    const { now, times } = this.options;
    this.hasStream = false;
    this.streamDue = now() + times.streamRetry;
  }

  private async readStream(response: Response, deadline: Deadline): Promise<void> {
    const { upstream, times, maxBytes, now } = this.options;
    const messages: EventSourceMessage[] = [];
    const parser = createParser({
      maxBufferSize: maxBytes,
      onEvent: (message) => void messages.push(message),
      onError({ type }) {
        if (type === 'max-buffer-size-exceeded') throw tooLong(upstream.url, maxBytes);
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of chunksOf(response)) {
      try {
        parser.feed(decoder.decode(chunk, { stream: true }));
        for (const message of messages.splice(0)) await this.receive(message);
      } catch (error) {
        this.lastEventId = undefined;
        throw unreadable(upstream.url, error);
      }
      deadline.extend(this.lastEventId === undefined ? times.firstMessage : times.silence);
      if (this.connection.isConnected) this.connection = { ...this.connection, checkedAt: now() };
    }
  }

  /** Applies a message. Throws if it cannot be read or is not the next one: then everything is loaded again. */
  private async receive(message: EventSourceMessage): Promise<void> {
    const { state, upstream, onProblem } = this.options;
    assertNext(message, this.lastEventId);
    const read = readMessage(parseJson(message.data, upstream.url), onProblem);
    if ('document' in read) await state.replace(read.document);
    else await state.apply(read.change);
    this.lastEventId = message.id ?? '';
    // The tag of the last poll does not fit this state.
    this.entityTag = undefined;
    this.succeed();
  }

  private async poll(signal: AbortSignal): Promise<void> {
    const { upstream, state, times, maxBytes, onProblem } = this.options;
    const deadline = createDeadline(signal, times.silence);
    try {
      const response = await upstream.send({
        path: '/api/client/features',
        headers: this.entityTag ? { 'if-none-match': this.entityTag } : {},
        signal: deadline.signal,
      });
      if (response.status === 200) {
        const text = await readText(response, maxBytes, () => deadline.extend(times.silence));
        await state.replace(readableDocument(parseJson(text, upstream.url), upstream.url, onProblem));
        this.entityTag = response.headers.get('etag') ?? undefined;
      } else {
        await discard(response);
        if (response.status !== 304) throw failureOf(response, `${upstream.url}/api/client/features`);
      }
      // A later stream must not repeat changes that are older than this state.
      this.lastEventId = undefined;
      this.succeed();
    } finally {
      deadline.end();
    }
  }

  private succeed(): void {
    this.connection = { isConnected: true, checkedAt: this.options.now(), error: undefined };
    this.refusal = undefined;
    this.isReported = false;
    this.finishAttempt();
  }

  private fail(error: unknown): void {
    this.disconnect(error);
    if (isFlagsError(error) && ['unauthenticated', 'upstream_loop'].includes(error.code)) this.refusal = error;
    if (!this.isReported) this.options.onError(error);
    this.isReported = true;
    this.finishAttempt(error);
  }

  private disconnect(error: unknown): void {
    this.isIntroduced = false;
    this.connection = { ...this.connection, isConnected: false, error };
  }

  private finishAttempt(error?: unknown): void {
    this.outcomes.notify(error);
    for (const resolve of this.served) resolve();
    this.served = [];
    if (this.waiting.length > 0) this.attempt.abort();
  }

  /** Refuses a chain that is too long, also while the stream is connected: a circle grows with every response. */
  private readDepth(depth: number): void {
    this.depth = depth + 1;
    if (this.depth <= MAX_DEPTH) return;
    const message = `${this.options.upstream.url} is a follower too far from its source: at most ${MAX_DEPTH} may follow one another. If they follow in a circle, let one of them follow the source.`;
    const error = new FlagsError('upstream_loop', message);
    this.attempt.abort(error);
    throw error;
  }
}

function readableDocument(data: Readonly<Record<string, unknown>>, url: string, report: ReportProblem): ClientDocument {
  try {
    return readClientDocument(data, report);
  } catch (error) {
    throw unreadable(url, error);
  }
}

function unreadable(url: string, error: unknown): unknown {
  if (error instanceof UpstreamFailure) return error;
  const message = `${url} sends what cannot be read: ${(error as Error).message}. Everything is loaded again.`;
  return new UpstreamFailure(message, undefined, 0, { cause: error });
}
