import type { Flags } from '@flags/core';
import { clearImmediate, runInTurn, setImmediate } from '../coalesce-per-tick.js';
import type { ReplySink } from '../request.js';
import { type Frame, HEARTBEAT } from './frames.js';

/** So many bytes are handed over at once: each lot that a client has taken shows that it reads. */
const LOT = 64 * 1024;

/** What is under way to one client. It holds on to buffers that all clients share, and copies nothing. */
export interface Outbox {
  /** Whether everything was taken. */
  readonly isEmpty: boolean;
  /** How many bytes were taken so far. */
  readonly taken: number;
  put(frames: readonly Frame[]): void;
  /** Goes on after what was handed over last has been taken: call it on every `drain`. */
  advance(): void;
}

/** @param onEmpty called when everything was taken, unless that was so at once */
function createOutbox(sink: Pick<ReplySink, 'write' | 'destroyed'>, onEmpty: () => void): Outbox {
  const frames: Frame[] = [];
  let current: Buffer | undefined;
  let place = 0;
  let underWay = 0;
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

  function handOver(buffer: Buffer): void {
    const lot = buffer.subarray(place, place + LOT);
    place += lot.length;
    current = place < buffer.length ? buffer : undefined;
    if (!current) place = 0;
    isWaiting = !sink.write(lot);
    if (isWaiting) underWay += lot.length;
    else taken += lot.length;
  }

  /** The next lot of a long frame waits for its turn: a client that takes all at once would keep others waiting. */
  function pump(): void {
    while (!isWaiting && !isPaused) {
      current ??= nextBuffer();
      if (!current) return;
      handOver(current);
      if (frames[0] && !Buffer.isBuffer(frames[0])) pause();
    }
  }

  function pause(): void {
    isPaused = true;
    runInTurn(() => {
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
      taken += underWay;
      underWay = 0;
      proceed();
    },
  };
}

/** A client that has taken nothing for so many heartbeats does not read any more. */
const PATIENCE = 4;

/**
 * One client that listens. Nothing is queued for it: while what it was sent is under way it is not ready for more, and
 * gets what it has missed when it is.
 */
export interface Listener {
  readonly isReady: boolean;
  send(frames: readonly Frame[]): void;
  /** Sends a sign of life, or cuts a client off that has stopped reading. */
  beat(): void;
  /** Ends the answer of a client that reads: what it was sent still arrives. Any other is cut off. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
}

export interface ListenerEvents {
  readonly onReady: () => void;
  readonly onLeft: () => void;
}

export function createListener(sink: ReplySink, { onReady, onLeft }: ListenerEvents): Listener {
  const outbox = createOutbox(sink, onReady);
  let taken = 0;
  let missed = 0;
  let ended = false;

  sink.on('drain', () => outbox.advance());
  sink.on('close', onLeft);
  // A connection that breaks while it is written to closes too.
  sink.on('error', () => undefined);

  return {
    get isReady() {
      return outbox.isEmpty && !ended;
    },
    send: (frames) => outbox.put(frames),
    beat() {
      if (outbox.isEmpty && !ended) return outbox.put([HEARTBEAT]);
      missed = outbox.taken === taken ? missed + 1 : 0;
      taken = outbox.taken;
      if (missed >= PATIENCE) sink.destroy();
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
  /** Called once for changes that are made together. */
  readonly onChange: () => void;
  readonly onHeartbeat: () => void;
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Called when the flags begin to close. */
  readonly onClosing: () => void;
}

/** Watches the flags until the function that it gives is called. The timer does not keep the process alive. */
export function watch(flags: Flags, { onChange, onHeartbeat, heartbeatInterval, onClosing }: Watcher): () => void {
  let due: NodeJS.Immediate | undefined;
  const stopFollowing = flags.onConfigurationChange(() => {
    due ??= setImmediate(() => {
      due = undefined;
      onChange();
    });
  });
  const timer = setInterval(onHeartbeat, heartbeatInterval).unref();
  flags.closing.addEventListener('abort', onClosing);
  return () => {
    stopFollowing();
    clearImmediate(due);
    clearInterval(timer);
    flags.closing.removeEventListener('abort', onClosing);
  };
}
