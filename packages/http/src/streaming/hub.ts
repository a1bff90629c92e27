import { type Flags, FlagsError } from '@flags/core';
import { nextTurn } from '@flags/core/integration';
import type { ResponseCache } from '../caching.js';
import { keyOf, type View } from '../client/view.js';
import type { ReplySink } from '../request.js';
import {
  type Admission,
  type Channel,
  createChannel,
  deliver,
  type Hydration,
  type StreamPermission,
} from './channel.js';
import { createListener, type Listener, watch } from './listener.js';

/** The maximum number of channels without listeners. They remain for clients that reconnect. */
const IDLE_CHANNELS = 20;

/** One channel per view. */
export interface Channels {
  of(view: View): Channel;
  /** Updates all channels that have listeners, one per event-loop turn. Calls `onAdvanced` after each. */
  advance(onAdvanced: (channel: Channel) => void): void;
  /** Removes channels without listeners, except the most recent ones. */
  forgetIdle(): void;
}

function createChannels(flags: Flags, cache: ResponseCache<Hydration>): Channels {
  const channels = new Map<string, Channel>();
  const scheduled = new Set<Channel>();
  return {
    of(view) {
      const key = keyOf(view);
      // Reinserts the channel, because eviction starts with the oldest one.
      const channel = channels.get(key) ?? createChannel(flags, view, cache);
      channels.delete(key);
      channels.set(key, channel);
      return channel;
    },
    advance(onAdvanced) {
      for (const channel of channels.values()) {
        if (channel.listeners.size === 0 || scheduled.has(channel)) continue;
        scheduled.add(channel);
        void nextTurn().then(() => {
          scheduled.delete(channel);
          channel.advance();
          onAdvanced(channel);
        });
      }
    },
    forgetIdle() {
      const idle = [...channels].filter(([, { listeners }]) => listeners.size === 0);
      for (const [key] of idle.slice(0, -IDLE_CHANNELS)) channels.delete(key);
    },
  };
}

export interface StreamRequest extends StreamPermission {
  readonly view: View;
  readonly lastEventId: string | undefined;
}

/** Streams changes to all listeners. The timer and the change listener exist only while clients listen. */
export interface Hub {
  /**
   * Returns a function that streams to one client.
   *
   * @throws FlagsError `environment_not_found`, `closed`
   */
  prepare(listening: StreamRequest): Promise<(sink: ReplySink) => void>;
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
  const channels = createChannels(flags, cache);
  const admissions: Admissions = new Map();
  const beat = createHeartbeat(admissions);
  let closed = false;
  let stop: (() => void) | undefined;

  function start(): () => void {
    const onChange = () => channels.advance((channel) => deliver(admissionsTo(channel)));
    return watch(flags, { onChange, onHeartbeat: beat, heartbeatInterval, onClosing: close });
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

  function listen(sink: ReplySink, { view, lastEventId, ...permission }: StreamRequest): void {
    // The sink of a disconnected client emits no further `close` event.
    if (sink.destroyed) return;
    const channel = channels.of(view);
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
  }

  return {
    async prepare(listening) {
      if (closed || flags.closing.aborted) throw new FlagsError('closed', 'Streaming has ended; connect again later.');
      await flags.loadConfiguration(listening.view);
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
