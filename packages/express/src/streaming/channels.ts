import type { Flags } from '@flags/core';
import { keyOf, type View } from '../client/view.js';
import { type Channel, createChannel } from './channel.js';

/** So many channels are remembered that nobody listens to, for clients that come back. */
const IDLE_CHANNELS = 20;

/** One channel for all who see the same. */
export interface Channels {
  of(view: View): Channel;
  /** Looks for changes in all channels that somebody listens to; who listens is sent them by `deliver`. */
  advance(): void;
  /** Forgets channels that nobody listens to any more, but for the latest. */
  forgetIdle(): void;
}

export function createChannels(flags: Flags): Channels {
  const channels = new Map<string, Channel>();
  return {
    of(view) {
      const key = keyOf(view);
      // Moved to the end: the first ones are those that were not asked for the longest.
      const channel = channels.get(key) ?? createChannel(flags, view);
      channels.delete(key);
      channels.set(key, channel);
      return channel;
    },
    advance() {
      for (const channel of channels.values()) if (channel.listeners.size > 0) channel.advance();
    },
    forgetIdle() {
      const idle = [...channels].filter(([, { listeners }]) => listeners.size === 0);
      for (const [key] of idle.slice(0, -IDLE_CHANNELS)) channels.delete(key);
    },
  };
}
