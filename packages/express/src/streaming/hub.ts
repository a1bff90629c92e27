import type { ServerResponse } from 'node:http';
import { type Flags, FlagsError } from '@flags/core';
import { keyOf, type View } from '../client/view.js';
import { type Channel, createChannel } from './channel.js';
import { createListener, type Listener } from './listener.js';

/** So many channels are remembered that nobody listens to, for clients that come back. */
const IDLE_CHANNELS = 20;

export interface Listening {
  readonly view: View;
  readonly lastEventId: string | undefined;
  /** Asked at every heartbeat; a client that may not come in any more is sent away. */
  readonly isStillAdmitted: () => Promise<boolean>;
}

/** Streams changes to all who listen. It has a timer, and looks for changes, only while somebody does. */
export interface Hub {
  /**
   * Makes what answers a request to listen.
   *
   * @throws FlagsError `environment_not_found`, `closed`
   */
  prepare(listening: Listening): (response: ServerResponse) => void;
  /** Ends all streams, and refuses others. Calling it again does nothing. */
  close(): void;
}

export interface HubOptions {
  /** Milliseconds between two signs of life. */
  readonly heartbeatInterval: number;
}

export function createHub(flags: Flags, { heartbeatInterval }: HubOptions): Hub {
  const channels = new Map<string, Channel>();
  const admissions = new Map<Listener, Listening['isStillAdmitted']>();
  let closed = false;
  let stop: (() => void) | undefined;

  function channelOf(view: View): Channel {
    const key = keyOf(view);
    // Moved to the end: the first ones are those that were not asked for the longest.
    const channel = channels.get(key) ?? createChannel(flags, view);
    channels.delete(key);
    channels.set(key, channel);
    return channel;
  }

  function forgetIdle(): void {
    const idle = [...channels].filter(([, { listeners }]) => listeners.size === 0);
    for (const [key] of idle.slice(0, -IDLE_CHANNELS)) channels.delete(key);
  }

  function advance(): void {
    for (const channel of channels.values()) if (channel.listeners.size > 0) channel.advance();
  }

  async function beat(): Promise<void> {
    for (const [listener, isStillAdmitted] of [...admissions]) {
      listener.beat();
      if (!(await isStillAdmitted())) listener.end();
    }
  }

  function start(): () => void {
    let due: NodeJS.Immediate | undefined;
    // Changes that are made together are told together.
    const stopFollowing = flags.onConfigurationChange(() => {
      due ??= setImmediate(() => {
        due = undefined;
        advance();
      });
    });
    const timer = setInterval(() => void beat(), heartbeatInterval).unref();
    flags.closing.addEventListener('abort', close);
    return () => {
      stopFollowing();
      clearImmediate(due);
      clearInterval(timer);
      flags.closing.removeEventListener('abort', close);
    };
  }

  function listen(response: ServerResponse, { view, lastEventId, isStillAdmitted }: Listening): void {
    // A client that has left already tells so no more.
    if (response.destroyed) return;
    const channel = channelOf(view);
    const listener = createListener(response, {
      onReady: () => channel.deliver(listener),
      onLeft: () => {
        channel.leave(listener);
        admissions.delete(listener);
        forgetIdle();
        if (admissions.size > 0) return;
        stop?.();
        stop = undefined;
      },
    });
    admissions.set(listener, isStillAdmitted);
    stop ??= start();
    channel.join(listener, lastEventId);
  }

  function close(): void {
    closed = true;
    for (const listener of admissions.keys()) listener.end();
  }

  return {
    prepare(listening) {
      if (closed || flags.closing.aborted) throw new FlagsError('closed', 'Streaming has ended; connect again later.');
      flags.configuration(listening.view);
      return (response) => (closed ? void response.end() : listen(response, listening));
    },
    close,
  };
}
