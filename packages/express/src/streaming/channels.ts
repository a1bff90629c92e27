import type { Flags } from '@flags/core';
import { keyOf, type View } from '../client/view.js';
import type { ResponseCache } from '../response-cache.js';
import { runInTurn } from '../turns.js';
import { type Channel, createChannel, type Hydration } from './channel.js';

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

export function createChannels(flags: Flags, cache: ResponseCache<Hydration>): Channels {
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
