import { type Flags, FlagsError } from '@flags/core';
import { keyOf, type View } from '../client/view.js';
import { runInTurn } from '../coalesce-per-tick.js';
import type { ReplySink } from '../request.js';
import type { ResponseCache } from '../response-cache.js';
import { type Channel, createChannel, type Hydration } from './channel.js';
import { type Admission, deliver, type StreamPermission } from './deliver.js';
import { createListener, type Listener, watch } from './listener.js';

/** So many channels are remembered that nobody listens to, for clients that come back. */
const IDLE_CHANNELS = 20;

/** One channel for all who see the same. */
export interface Channels {
  of(view: View): Channel;
  /** Looks for changes in all channels that have listeners, one channel per turn, and calls `onAdvanced` after each. */
  advance(onAdvanced: (channel: Channel) => void): void;
  /** Forgets channels that nobody listens to any more, but for the latest. */
  forgetIdle(): void;
}

function createChannels(flags: Flags, cache: ResponseCache<Hydration>): Channels {
  const channels = new Map<string, Channel>();
  const due = new Set<Channel>();
  return {
    of(view) {
      const key = keyOf(view);
      // Moved to the end: the first ones are those that were not asked for the longest.
      const channel = channels.get(key) ?? createChannel(flags, view, cache);
      channels.delete(key);
      channels.set(key, channel);
      return channel;
    },
    advance(onAdvanced) {
      for (const channel of channels.values()) {
        if (channel.listeners.size === 0 || due.has(channel)) continue;
        due.add(channel);
        runInTurn(() => {
          due.delete(channel);
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

export interface Listening extends StreamPermission {
  readonly view: View;
  readonly lastEventId: string | undefined;
}

/** Streams changes to all who listen. It has a timer, and looks for changes, only while somebody does. */
export interface Hub {
  /**
   * Makes what answers a request to listen.
   *
   * @throws FlagsError `environment_not_found`, `closed`
   */
  prepare(listening: Listening): Promise<(sink: ReplySink) => void>;
  /** Ends all streams, and refuses others. Calling it again does nothing. */
  close(): void;
}

export interface HubOptions {
  /** Milliseconds between two signs of life. */
  readonly heartbeatInterval: number;
  readonly cache: ResponseCache<Hydration>;
}

type Admissions = Map<Listener, Admission>;

export function createHub(flags: Flags, { heartbeatInterval, cache }: HubOptions): Hub {
  const channels = createChannels(flags, cache);
  const admissions: Admissions = new Map();
  const beat = createBeat(admissions);
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

  function listen(sink: ReplySink, { view, lastEventId, ...permission }: Listening): void {
    // A client that has left already tells so no more.
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
 * Makes a beat: a sign of life to every client, and the end of those that may not come in any more. An answer that takes long
 * keeps no other client waiting, and is not asked for twice at once.
 */
function createBeat(admissions: Admissions): () => void {
  const asked = new Set<Listener>();

  async function review(listener: Listener, { isStillAdmitted }: Admission): Promise<void> {
    asked.add(listener);
    const isAdmitted = await isStillAdmitted();
    asked.delete(listener);
    if (!isAdmitted) listener.end();
  }

  return () => {
    for (const [listener, admission] of admissions) {
      listener.beat();
      if (!asked.has(listener)) void review(listener, admission);
    }
  };
}
