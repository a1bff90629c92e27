import { HttpError } from './errors.js';
import type { FlagsReply } from './reply.js';

/** The kind of a heavy request: reads share several places, and changes share one. */
export type Weight = 'read' | 'change';

/** The number of heavy requests that run at once. It bounds their total memory. */
const PLACES: Readonly<Record<Weight, number>> = { read: 2, change: 1 };
/** How many requests wait, at most. */
const QUEUE_LENGTH = 8;
/** How many requests of one actor wait, at most, so that one actor cannot fill the queue. */
const QUEUE_LENGTH_PER_ACTOR = 4;
/** The time in which a client must take a long reply, in milliseconds. Its place is occupied until then. */
const LONGEST_READ = 120_000;

interface Visitor {
  readonly weight: Weight;
  /** A heavy request waits while another one of the same actor works. */
  readonly actor: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal | undefined;
}

/** A waiting visitor, and the function that admits it. */
interface Waiting extends Visitor {
  readonly admit: () => void;
}

/** One passage through the gate. */
export interface Visit {
  /**
   * Resolves when the request has a place. Repeated calls do nothing. Rejects with `overloaded` when the queue is full,
   * and with the reason of the signal when the client disconnects while it waits.
   */
  enter(): Promise<void>;
  /** Frees the place. Repeated calls do nothing. */
  leave(): void;
}

/** Limits how many heavy requests of one API work at once. */
export type Gate = (visitor: Visitor) => Visit;

export function createGate(): Gate {
  const inside = new Set<Visitor>();
  const queue: Waiting[] = [];

  function hasRoom({ weight, actor }: Visitor): boolean {
    const visitors = [...inside];
    if (visitors.some((other) => other.actor === actor)) return false;
    return visitors.filter((other) => other.weight === weight).length < PLACES[weight];
  }

  function admitNext(): void {
    for (const waiting of [...queue]) if (hasRoom(waiting)) waiting.admit();
  }

  function wait(visitor: Visitor): Promise<void> {
    const own = queue.filter(({ actor }) => actor === visitor.actor);
    if (queue.length >= QUEUE_LENGTH || own.length >= QUEUE_LENGTH_PER_ACTOR) throw overloaded();
    const { signal } = visitor;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        ...visitor,
        admit() {
          dequeue();
          inside.add(visitor);
          resolve();
        },
      };
      function dequeue(): void {
        queue.splice(queue.indexOf(waiting), 1);
        signal?.removeEventListener('abort', giveUp);
      }
      function giveUp(): void {
        dequeue();
        reject(signal?.reason);
      }
      queue.push(waiting);
      signal?.addEventListener('abort', giveUp);
    });
  }

  return (visitor) => ({
    async enter() {
      if (inside.has(visitor)) return;
      visitor.signal?.throwIfAborted();
      if (hasRoom(visitor)) inside.add(visitor);
      else await wait(visitor);
    },
    leave() {
      if (inside.delete(visitor)) admitNext();
    },
  });
}

function overloaded(): HttpError {
  const message = 'Other heavy requests are running, and the queue is full. Nothing has changed. Try again later.';
  return new HttpError('overloaded', message, { 'retry-after': '1' });
}

/** Keeps the place until the client has taken the reply, because a long reply holds its source data. */
export function leaveAfter(reply: FlagsReply, leave: () => void): FlagsReply {
  const { stream, discard } = reply;
  if (!stream) {
    leave();
    return reply;
  }
  return {
    ...reply,
    async stream(sink) {
      const timer = setTimeout(() => sink.destroy(), LONGEST_READ).unref();
      try {
        await stream(sink);
      } finally {
        clearTimeout(timer);
        leave();
      }
    },
    async discard() {
      leave();
      await discard?.();
    },
  };
}
