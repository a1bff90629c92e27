import { type Flags, FlagsError } from '@flags/core';
import { nextTurn } from '@flags/core/integration';
import type { ResponseCache } from '../caching.js';
import { type ClientQuery, keyOf } from '../client/client-document.js';
import type { ReplySink } from '../request.js';
import {
  type Admission,
  type Channel,
  createChannel,
  deliver,
  type Hydration,
  type StreamPermission,
} from './channel.js';
import { createListener, type Listener } from './listener.js';

/** The maximum number of channels without listeners. They remain for clients that reconnect. */
const IDLE_CHANNELS = 20;

/** One channel for each query that clients ask. */
interface Channels {
  of(asked: ClientQuery): Channel;
  /** Removes channels without listeners, except the most recent ones. */
  forgetIdle(): void;
  close(): void;
}

/** @param onAdvanced called after a channel with listeners has changed, one channel per event-loop turn */
function createChannels(
  flags: Flags,
  cache: ResponseCache<Hydration>,
  onAdvanced: (channel: Channel) => void,
): Channels {
  const channels = new Map<string, Channel>();
  const scheduled = new Set<Channel>();

  /** Changes of one moment become one message. */
  function onChange(channel: Channel): void {
    if (channel.listeners.size === 0 || scheduled.has(channel)) return;
    scheduled.add(channel);
    void nextTurn().then(() => {
      scheduled.delete(channel);
      channel.advance();
      onAdvanced(channel);
    });
  }

  function remove(key: string, channel: Channel): void {
    channels.delete(key);
    channel.close();
  }

  return {
    of(asked) {
      const key = keyOf(asked);
      // Reinserts the channel, because eviction starts with the oldest one.
      const channel = channels.get(key) ?? createChannel(flags, { asked, cache, onChange });
      channels.delete(key);
      channels.set(key, channel);
      return channel;
    },
    forgetIdle() {
      const idle = [...channels].filter(([, { listeners }]) => listeners.size === 0);
      for (const [key, channel] of idle.slice(0, -IDLE_CHANNELS)) remove(key, channel);
    },
    close() {
      for (const [key, channel] of channels) remove(key, channel);
    },
  };
}

export interface StreamRequest extends StreamPermission {
  readonly asked: ClientQuery;
  readonly lastEventId: string | undefined;
}

/** Streams changes to all listeners. The timer exists only while clients listen. */
export interface Hub {
  /**
   * Returns a function that streams to one client.
   *
   * @throws FlagsError `environment_not_found`, `closed`
   */
  prepare(listening: StreamRequest): (sink: ReplySink) => void;
  /** Ends all streams, and refuses new ones. Repeated calls do nothing. */
  close(): void;
}

export interface HubOptions {
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  readonly cache: ResponseCache<Hydration>;
}

type Admissions = Map<Listener, Admission>;

export function createHub(flags: Flags, { heartbeatInterval, cache }: HubOptions): Hub {
  const channels = createChannels(flags, cache, (channel) => deliver(admissionsTo(channel)));
  const admissions: Admissions = new Map();
  const beat = createHeartbeat(admissions);
  let closed = false;
  let stop: (() => void) | undefined;

  function start(): () => void {
    const timer = setInterval(beat, heartbeatInterval).unref();
    flags.closing.addEventListener('abort', close);
    return () => {
      clearInterval(timer);
      flags.closing.removeEventListener('abort', close);
    };
  }

  function admissionsTo(channel: Channel): readonly (readonly [Listener, Admission])[] {
    return [...channel.listeners.keys()].flatMap((listener) => {
      const admission = admissions.get(listener);
      return admission ? [[listener, admission] as const] : [];
    });
  }

  function leave(listener: Listener): void {
    admissions.delete(listener);
    channels.forgetIdle();
    if (admissions.size > 0) return;
    stop?.();
    stop = undefined;
  }

  function listen(sink: ReplySink, { asked, lastEventId, ...permission }: StreamRequest): void {
    // The sink of a disconnected client emits no further `close` event.
    if (sink.destroyed) return;
    const channel = channels.of(asked);
    const listener = createListener(sink, {
      onReady: () => deliver([[listener, admission]]),
      onLeft: () => {
        channel.leave(listener);
        leave(listener);
      },
    });
    const admission = { ...permission, channel };
    admissions.set(listener, admission);
    stop ??= start();
    channel.join(listener, lastEventId);
  }

  function close(): void {
    closed = true;
    for (const listener of admissions.keys()) listener.end();
    channels.close();
  }

  return {
    prepare(listening) {
      if (closed || flags.closing.aborted) throw new FlagsError('closed', 'Streaming has ended; connect again later.');
      // Refuses an unknown environment before the reply begins.
      flags.configuration(listening.asked);
      return (sink) => (closed ? void sink.end() : listen(sink, listening));
    },
    close,
  };
}

/**
 * Creates the heartbeat function. Each heartbeat signals every client, and ends streams of clients without permission.
 * A slow permission check delays no other client, and a client has at most one check at a time.
 */
export function createHeartbeat(
  admissions: ReadonlyMap<Listener, Pick<StreamPermission, 'isStillAdmitted'>>,
): () => void {
  const pendingChecks = new Set<Listener>();

  async function review(
    listener: Listener,
    { isStillAdmitted }: Pick<StreamPermission, 'isStillAdmitted'>,
  ): Promise<void> {
    pendingChecks.add(listener);
    const isAdmitted = await isStillAdmitted();
    pendingChecks.delete(listener);
    if (!isAdmitted) listener.end();
  }

  return () => {
    for (const [listener, admission] of admissions) {
      listener.beat();
      if (!pendingChecks.has(listener)) void review(listener, admission);
    }
  };
}
