import { FlagsError } from '@flags/core';
import { paced } from '@flags/core/integration/http';
import type { FlagsSource } from '../source.js';
import { createSliceWriter, type ReplySink } from './reply.js';

/** A message of a stream: bytes that clients share, or the slices of a long message, which follow the client's pace. */
export type Frame = Buffer | AsyncGenerator<string | Buffer, void>;

/** A comment line. It prevents proxies and clients from closing an idle connection. */
export const HEARTBEAT: Buffer = Buffer.from(':\n\n');

/** The maximum bytes per write. Each accepted write shows that the client still reads. */
const WRITE_SIZE = 64 * 1024;

/** The number of heartbeats without progress after which a client counts as stalled. */
const MAX_MISSED_HEARTBEATS = 4;

/**
 * One streaming client, without a backlog. It accepts no changes until earlier data is sent. Then it receives the
 * changes that it missed.
 */
export interface EventStream {
  readonly isReady: boolean;
  send(frames: readonly Frame[]): void;
  /** Sends a heartbeat, or disconnects a stalled client. */
  beat(): void;
  /** Ends the stream after all data is sent. Disconnects a client with pending data. */
  end(): void;
  /** Disconnects immediately. */
  cut(): void;
}

interface StreamEvents {
  /** Called when the client has taken all data, unless it took it immediately. */
  readonly onReady: (stream: EventStream) => void;
  readonly onLeft: (stream: EventStream) => void;
}

function createEventStream(sink: ReplySink, { onReady, onLeft }: StreamEvents): EventStream {
  const frames: Frame[] = [];
  const write = createSliceWriter(sink);
  let isBusy = false;
  /** Counts the slices that the client has taken. */
  let taken = 0;
  let takenBefore = 0;
  let missedHeartbeats = 0;
  let ended = false;

  /** Stays synchronous while the client takes short messages immediately. Stays busy when the client has left. */
  async function sendAll(): Promise<void> {
    isBusy = true;
    for (let frame = frames.shift(); frame; frame = frames.shift()) {
      if (Buffer.isBuffer(frame)) {
        for (let start = 0; start < frame.length; start += WRITE_SIZE) {
          const isTaken = write(frame.subarray(start, start + WRITE_SIZE));
          if (isTaken !== true && !(await isTaken)) return;
          taken++;
        }
        continue;
      }
      for await (const slice of frame) {
        if (!(await write(slice))) return;
        taken++;
      }
    }
    isBusy = false;
  }

  sink.on('close', () => onLeft(stream));

  const stream: EventStream = {
    get isReady() {
      return !isBusy && !ended;
    },
    send(added) {
      frames.push(...added);
      if (isBusy) return;
      const sending = sendAll();
      if (isBusy) void sending.then(() => isBusy || onReady(stream), stream.cut);
    },
    beat() {
      if (stream.isReady) return stream.send([HEARTBEAT]);
      missedHeartbeats = taken === takenBefore ? missedHeartbeats + 1 : 0;
      takenBefore = taken;
      if (missedHeartbeats >= MAX_MISSED_HEARTBEATS) sink.destroy();
    },
    end() {
      if (isBusy) return void sink.destroy();
      ended = true;
      sink.end();
    },
    cut: () => void sink.destroy(),
  };
  return stream;
}

/** The permission of a streaming client. */
export interface StreamPermission {
  /** Checked at every heartbeat. The stream ends when the client loses its permission, or the server has stopped. */
  readonly isStillAdmitted: () => Promise<boolean>;
  /** Checked before every event; absent when the client has no API token. */
  readonly hasValidToken: (() => Promise<boolean>) | undefined;
}

interface EventStreamsOptions {
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Called when the first client joins. Returns a function to call after the last one has left. */
  readonly onStart?: () => () => void;
  /** Called after every heartbeat. */
  readonly onBeat?: () => void;
}

/**
 * Creates the clients of one kind of stream, their heartbeats, and the end of all streams. The timer exists only while
 * clients listen, and keeps no process alive.
 */
export function createEventStreams(
  source: Pick<FlagsSource, 'closing'>,
  { heartbeatInterval, onStart, onBeat }: EventStreamsOptions,
) {
  const streams = new Map<EventStream, StreamPermission>();
  const pendingChecks = new Set<EventStream>();
  let closed = false;
  let stop: (() => void) | undefined;

  /** Ends streams of clients without permission. A slow check delays no other client, and a client has one at a time. */
  async function review(stream: EventStream, { isStillAdmitted }: StreamPermission): Promise<void> {
    if (pendingChecks.has(stream)) return;
    pendingChecks.add(stream);
    const isAdmitted = await isStillAdmitted();
    pendingChecks.delete(stream);
    if (!isAdmitted) stream.end();
  }

  /** In slices: a thousand streams would otherwise take a turn of some hundred milliseconds. */
  async function beatAll(): Promise<void> {
    for await (const [stream, permission] of paced(streams)) {
      stream.beat();
      void review(stream, permission);
    }
    onBeat?.();
  }

  function start(): () => void {
    const timer = setInterval(beatAll, heartbeatInterval).unref();
    const onStop = onStart?.();
    source.closing.addEventListener('abort', close);
    return () => {
      clearInterval(timer);
      onStop?.();
      source.closing.removeEventListener('abort', close);
    };
  }

  /** Ends all streams, and refuses new ones. Repeated calls do nothing. */
  function close(): void {
    closed = true;
    for (const stream of streams.keys()) stream.end();
  }

  const isClosed = () => closed || source.closing.aborted;
  return {
    /** @throws FlagsError `closed` */
    assertOpen(): void {
      if (isClosed()) throw new FlagsError('closed', 'Streaming has ended; connect again later.');
    },
    /** Adds a client; undefined if it has disconnected, or if the streams have ended. */
    add(sink: ReplySink, permission: StreamPermission, { onReady, onLeft }: StreamEvents): EventStream | undefined {
      // The sink of a disconnected client emits no further `close` event.
      if (sink.destroyed) return undefined;
      if (isClosed()) return void sink.end();
      const stream = createEventStream(sink, {
        onReady,
        onLeft() {
          streams.delete(stream);
          onLeft(stream);
          if (streams.size > 0) return;
          stop?.();
          stop = undefined;
        },
      });
      streams.set(stream, permission);
      stop ??= start();
      return stream;
    },
    close,
  };
}
