import { type Flags, FlagsError, type FlagsEvent } from '@flags/core';
import { HostFault, invalidInput } from '../errors.js';
import { ownBytes } from '../reply.js';
import type { ReplySink } from '../request.js';
import type { StreamPermission } from './channel.js';
import { HEARTBEAT } from './frames.js';
import { createHeartbeat } from './hub.js';
import { createListener, type Listener } from './listener.js';

export interface EventStreamRequest extends Omit<StreamPermission, 'tokenId'> {
  /** The position of the last event that the client has. Undefined: the stream begins now. */
  readonly lastEventId: string | undefined;
  /** Whether the client may see events of this project. Checked before every event. */
  readonly maySee: (project: string | null) => Promise<boolean>;
}

/**
 * Streams the event log to administrators. Each client has its own position in the log and receives the next event after
 * it has taken the previous one. A slow client therefore holds one page of events, and no backlog.
 */
export interface EventHub {
  /**
   * Returns a function that streams to one client.
   *
   * @throws FlagsError `invalid_input` (`lastEventId` is no position of this log), `closed`
   */
  prepare(request: EventStreamRequest): Promise<(sink: ReplySink) => void>;
  /** Ends all streams, and refuses new ones. Repeated calls do nothing. */
  close(): void;
}

export interface EventHubOptions {
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Converts an event to its wire form. */
  readonly toWire: (event: FlagsEvent) => object;
}

/** Creates the hub. Its timer runs only while clients listen, and does not keep the process alive. */
export function createEventHub(flags: Flags, { heartbeatInterval, toWire }: EventHubOptions): EventHub {
  const clients = new Map<Listener, EventStreamRequest>();
  const beat = createHeartbeat(clients);
  const frameOf = createFrameEncoder(toWire);
  let stop: (() => void) | undefined;
  let closed = false;

  function start(): () => void {
    const timer = setInterval(beat, heartbeatInterval).unref();
    flags.closing.addEventListener('abort', close);
    return () => {
      clearInterval(timer);
      flags.closing.removeEventListener('abort', close);
    };
  }

  function listen(sink: ReplySink, request: EventStreamRequest): void {
    // The sink of a disconnected client emits no further `close` event.
    if (sink.destroyed) return;
    let proceed: () => void = () => undefined;
    let unsubscribe: () => void = () => undefined;
    const listener = createListener(sink, { onReady: () => proceed(), onLeft: leave });
    const whenReady = () =>
      new Promise<void>((resolve) => {
        if (listener.isReady || !clients.has(listener)) return resolve();
        proceed = resolve;
      });
    clients.set(listener, request);
    stop ??= start();
    // Sends the head of the response, so that the client knows that it listens.
    listener.send([HEARTBEAT]);
    const after = request.lastEventId === undefined ? {} : { after: request.lastEventId };
    unsubscribe = flags.subscribe(async (event) => {
      await whenReady();
      if (await mayReceive(event, listener, request)) listener.send([frameOf(event)]);
    }, after);

    function leave(): void {
      clients.delete(listener);
      unsubscribe();
      proceed();
      if (clients.size > 0) return;
      stop?.();
      stop = undefined;
    }
  }

  /** After a fault the client reconnects with its last position, so that it misses nothing. */
  async function mayReceive(event: FlagsEvent, listener: Listener, request: EventStreamRequest): Promise<boolean> {
    try {
      if (request.hasValidToken && !(await request.hasValidToken())) listener.end();
      else if (clients.has(listener) && (await request.maySee(event.project))) return clients.has(listener);
      return false;
    } catch (error) {
      listener.cut();
      throw error instanceof HostFault ? error.thrown : error;
    }
  }

  function close(): void {
    closed = true;
    for (const listener of clients.keys()) listener.end();
  }

  const isClosed = () => closed || flags.closing.aborted;
  return {
    async prepare(request) {
      if (isClosed()) throw new FlagsError('closed', 'Streaming has ended; connect again later.');
      if (request.lastEventId !== undefined) await assertInLog(flags, request.lastEventId);
      return (sink) => (isClosed() ? void sink.end() : listen(sink, request));
    },
    close,
  };
}

/** Refuses a position beyond the newest event, as after a restored backup: the stream would be silent until the log gets there. */
async function assertInLog(flags: Flags, position: string): Promise<void> {
  const [newest] = (await flags.listEvents({ limit: 1 })).events;
  const { total } = await flags.listEvents({ after: position, limit: 0 });
  if (total > 0 || newest?.position === position) return;
  throw invalidInput([{ message: 'must be the position of an event of this log', path: '/after' }]);
}

/** Creates a function that encodes an event. Clients receive the same event at about the same time, so it keeps one. */
function createFrameEncoder(toWire: EventHubOptions['toWire']): (event: FlagsEvent) => Buffer {
  let latest: { readonly position: string; readonly frame: WeakRef<Buffer> } | undefined;
  return (event) => {
    const known = latest?.position === event.position ? latest.frame.deref() : undefined;
    if (known) return known;
    const frame = ownBytes(`id:${event.position}\ndata:${JSON.stringify(toWire(event))}\n\n`);
    latest = { position: event.position, frame: new WeakRef(frame) };
    return frame;
  };
}
