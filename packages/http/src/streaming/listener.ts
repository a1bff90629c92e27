import timers from 'node:timers';
import type { Flags } from '@flags/core';
import { nextTurn } from '@flags/core/integration';
import type { ReplySink } from '../request.js';
import { type Frame, HEARTBEAT } from './frames.js';

/** Kept: fake timers in the tests of a host would otherwise hold up every stream. */
const { clearImmediate, setImmediate } = timers;

/** The maximum bytes per write. Each accepted write shows that the client still reads. */
const WRITE_SIZE = 64 * 1024;

/** The send queue of one client. It references shared buffers and copies nothing. */
export interface Outbox {
  /** Whether the client has taken all data. */
  readonly isEmpty: boolean;
  /** The number of bytes that the client has taken. */
  readonly taken: number;
  put(frames: readonly Frame[]): void;
  /** Continues after the client has taken the last write. Call it on every `drain`. */
  advance(): void;
}

/**
 * Creates the send queue of one client.
 *
 * @param onEmpty Called when the queue drains; not called if `put` drains it immediately.
 */
function createOutbox(sink: Pick<ReplySink, 'write' | 'destroyed'>, onEmpty: () => void): Outbox {
  const frames: Frame[] = [];
  let current: Buffer | undefined;
  let offset = 0;
  let pendingBytes = 0;
  let taken = 0;
  let isWaiting = false;
  let isPaused = false;

  function nextBuffer(): Buffer | undefined {
    for (let [frame] = frames; frame; [frame] = frames) {
      if (Buffer.isBuffer(frame)) return frames.shift() as Buffer;
      const buffer = frame.next();
      if (buffer) return buffer;
      frames.shift();
    }
    return undefined;
  }

  function writeChunk(buffer: Buffer): void {
    const chunk = buffer.subarray(offset, offset + WRITE_SIZE);
    offset += chunk.length;
    current = offset < buffer.length ? buffer : undefined;
    if (!current) offset = 0;
    isWaiting = !sink.write(chunk);
    if (isWaiting) pendingBytes += chunk.length;
    else taken += chunk.length;
  }

  /** Pauses between the parts of a long frame, so that a fast client does not delay other requests. */
  function pump(): void {
    while (!isWaiting && !isPaused) {
      current ??= nextBuffer();
      if (!current) return;
      writeChunk(current);
      if (frames[0] && !Buffer.isBuffer(frames[0])) pause();
    }
  }

  function pause(): void {
    isPaused = true;
    void nextTurn().then(() => {
      isPaused = false;
      if (!sink.destroyed) proceed();
    });
  }

  function proceed(): void {
    pump();
    if (isEmpty()) onEmpty();
  }

  function isEmpty(): boolean {
    return !isWaiting && !isPaused && !current && frames.length === 0;
  }

  return {
    get isEmpty() {
      return isEmpty();
    },
    get taken() {
      return taken;
    },
    put(added) {
      frames.push(...added);
      pump();
    },
    advance() {
      isWaiting = false;
      taken += pendingBytes;
      pendingBytes = 0;
      proceed();
    },
  };
}

/** The number of heartbeats without progress after which a client counts as stalled. */
const MAX_MISSED_HEARTBEATS = 4;

/**
 * One streaming client, without a backlog. It accepts no changes until earlier data is sent. Then it receives the
 * changes that it missed.
 */
export interface Listener {
  readonly isReady: boolean;
  send(frames: readonly Frame[]): void;
  /** Sends a heartbeat, or disconnects a stalled client. */
  beat(): void;
  /** Ends the stream after all data is sent. Disconnects a client with pending data. */
  end(): void;
  /** Disconnects immediately. */
  cut(): void;
}

export interface ListenerEvents {
  readonly onReady: () => void;
  readonly onLeft: () => void;
}

export function createListener(sink: ReplySink, { onReady, onLeft }: ListenerEvents): Listener {
  const outbox = createOutbox(sink, onReady);
  let lastTaken = 0;
  let missedHeartbeats = 0;
  let ended = false;

  sink.on('drain', () => outbox.advance());
  sink.on('close', onLeft);
  // A failed write also closes the connection, and `close` handles it.
  sink.on('error', () => undefined);

  return {
    get isReady() {
      return outbox.isEmpty && !ended;
    },
    send: (frames) => outbox.put(frames),
    beat() {
      if (outbox.isEmpty && !ended) return outbox.put([HEARTBEAT]);
      missedHeartbeats = outbox.taken === lastTaken ? missedHeartbeats + 1 : 0;
      lastTaken = outbox.taken;
      if (missedHeartbeats >= MAX_MISSED_HEARTBEATS) sink.destroy();
    },
    end() {
      if (!outbox.isEmpty) return void sink.destroy();
      ended = true;
      sink.end();
    },
    cut: () => void sink.destroy(),
  };
}

export interface Watcher {
  /** Called once for simultaneous changes. */
  readonly onChange: () => void;
  readonly onHeartbeat: () => void;
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Called when the flags start to close. */
  readonly onClosing: () => void;
}

/** Watches the flags until the returned function is called. The timer does not keep the process alive. */
export function watch(flags: Flags, { onChange, onHeartbeat, heartbeatInterval, onClosing }: Watcher): () => void {
  let scheduled: NodeJS.Immediate | undefined;
  const stopFollowing = flags.onConfigurationChange(() => {
    scheduled ??= setImmediate(() => {
      scheduled = undefined;
      onChange();
    });
  });
  const timer = setInterval(onHeartbeat, heartbeatInterval).unref();
  flags.closing.addEventListener('abort', onClosing);
  return () => {
    stopFollowing();
    clearImmediate(scheduled);
    clearInterval(timer);
    flags.closing.removeEventListener('abort', onClosing);
  };
}
