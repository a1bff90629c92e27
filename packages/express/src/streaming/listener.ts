import type { ServerResponse } from 'node:http';
import { type Frame, HEARTBEAT } from './frames.js';

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
  let isReady = true;
  let missed = 0;

  function write(frame: Frame): void {
    isReady = response.write(frame);
  }

  response.on('drain', () => {
    isReady = true;
    missed = 0;
    onReady();
  });
  response.once('close', onLeft);
  // A connection that breaks while it is written to closes too.
  response.on('error', () => undefined);

  return {
    get isReady() {
      return isReady;
    },
    send(frames) {
      for (const frame of frames) write(frame);
    },
    beat() {
      if (isReady) return write(HEARTBEAT);
      missed += 1;
      if (missed >= PATIENCE) response.destroy();
    },
    end() {
      if (!isReady) return void response.destroy();
      isReady = false;
      response.end();
    },
    cut: () => void response.destroy(),
  };
}
