import type { ServerResponse } from 'node:http';
import { type Frame, HEARTBEAT } from './frames.js';
import { createOutbox } from './outbox.js';

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

export function createListener(response: ServerResponse, { onReady, onLeft }: ListenerEvents): Listener {
  const outbox = createOutbox(response, onReady);
  let taken = 0;
  let missed = 0;
  let ended = false;

  response.on('drain', () => outbox.advance());
  response.once('close', onLeft);
  // A connection that breaks while it is written to closes too.
  response.on('error', () => undefined);

  return {
    get isReady() {
      return outbox.isEmpty && !ended;
    },
    send: (frames) => outbox.put(frames),
    beat() {
      if (outbox.isEmpty && !ended) return outbox.put([HEARTBEAT]);
      missed = outbox.taken === taken ? missed + 1 : 0;
      taken = outbox.taken;
      if (missed >= PATIENCE) response.destroy();
    },
    end() {
      if (!outbox.isEmpty) return void response.destroy();
      ended = true;
      response.end();
    },
    cut: () => void response.destroy(),
  };
}
