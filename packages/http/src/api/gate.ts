import { HttpError } from '../messages/errors.js';
import type { FlagsReply } from '../messages/reply.js';
import type { FlagsRequest, ReplySink } from '../messages/request.js';

/** The kind of a long request: those of one kind share places. */
export type Load = 'read' | 'change' | 'report' | 'evaluation';

/** The number of long requests that work at once. It bounds their total memory. */
const PLACES: Readonly<Record<Load, number>> = { read: 2, change: 1, report: 2, evaluation: 2 };
/** The number of long replies to committed changes that are written at once. They hold their events. */
const REPLIES_TO_CHANGES = 2;
/** How many requests of people and tools wait, at most. */
const QUEUE_LENGTH = 8;
/** How many requests of one actor wait, at most, so that one actor cannot fill the queue. */
const QUEUE_LENGTH_PER_ACTOR = 4;

/** While others wait, a client moves at least 64 KiB in this time, in milliseconds, or is disconnected. */
export const PATIENCE = 5000;
/** While others wait, a client that takes longer to read its reply is disconnected, in milliseconds. */
const LONGEST_READ = 120_000;
/**
 * The interval of the check, in milliseconds. It runs only while requests wait. It is short, because many clients that do
 * not read keep their places one after the other, and the time until the next check adds up.
 */
export const CHECK_INTERVAL = 100;

interface Visitor {
  readonly load: Load;
  /** A request waits while another one of the same actor works. Absent: not counted per actor. */
  readonly actor: string | undefined;
  /** It holds nothing while it waits, so it waits however many others do. */
  readonly isPatient: boolean;
  /** Its signal aborts when the client disconnects. */
  readonly request: Pick<FlagsRequest, 'signal'>;
}

/** One passage through the gate. */
export interface Visit {
  /**
   * Resolves when the request has a place. Repeated calls do nothing. Rejects with `overloaded` when the queue is full,
   * and with the reason of the signal when the client disconnects while it waits.
   */
  enter(): Promise<void>;
  /** Frees the place of a change that is committed: only a long reply to it still counts. */
  commit(): void;
  /** Returns the sink of the reply. A client that does not read is disconnected while others wait. */
  watch(sink: ReplySink): ReplySink;
  isInside(): boolean;
  /** Frees the place. Repeated calls do nothing. */
  leave(): void;
}

/** Limits how many long requests of one API work at once. */
export type Gate = (visitor: Visitor) => Visit;

/** A visitor inside. */
interface Place extends Visitor {
  isCommitted: boolean;
  /** Absent before the reply, and after the client is disconnected. */
  reading?: Reading | undefined;
}

/** A client that reads its reply. */
interface Reading {
  readonly sink: ReplySink;
  readonly since: number;
  /** Since when the client has not taken the last slice; undefined if it has. */
  idleSince: number | undefined;
}

interface Waiting {
  readonly visitor: Visitor;
  readonly admit: () => void;
}

export function createGate(): Gate {
  const inside = new Set<Place>();
  const queue: Waiting[] = [];
  let check: NodeJS.Timeout | undefined;

  function hasRoom({ load, actor }: Visitor): boolean {
    const places = [...inside];
    const working = places.filter(({ isCommitted }) => !isCommitted);
    if (actor !== undefined && working.some((other) => other.actor === actor)) return false;
    if (load === 'change' && places.length - working.length >= REPLIES_TO_CHANGES) return false;
    return working.filter((other) => other.load === load).length < PLACES[load];
  }

  function admitNext(): void {
    for (const waiting of [...queue]) if (hasRoom(waiting.visitor)) waiting.admit();
  }

  function assertQueueHasRoom({ isPatient, actor }: Visitor): void {
    if (isPatient) return;
    const others = queue.filter(({ visitor }) => !visitor.isPatient);
    const own = others.filter(({ visitor }) => actor !== undefined && visitor.actor === actor);
    if (others.length >= QUEUE_LENGTH || own.length >= QUEUE_LENGTH_PER_ACTOR) throw overloaded();
  }

  function wait(place: Place): Promise<void> {
    assertQueueHasRoom(place);
    const { signal } = place.request;
    return new Promise((resolve, reject) => {
      const dequeue = () => {
        queue.splice(queue.indexOf(waiting), 1);
        signal?.removeEventListener('abort', giveUp);
        if (queue.length === 0) stopCheck();
      };
      const giveUp = () => {
        dequeue();
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        visitor: place,
        admit() {
          dequeue();
          inside.add(place);
          resolve();
        },
      };
      queue.push(waiting);
      signal?.addEventListener('abort', giveUp);
      check ??= setInterval(disconnectIdle, CHECK_INTERVAL).unref();
    });
  }

  function stopCheck(): void {
    clearInterval(check);
    check = undefined;
  }

  function disconnectIdle(): void {
    const now = performance.now();
    for (const place of inside) {
      const { sink, since = now, idleSince = now } = place.reading ?? {};
      if (now - idleSince < PATIENCE && now - since < LONGEST_READ) continue;
      place.reading = undefined;
      sink?.destroy();
    }
  }

  return (visitor) => {
    const place: Place = { ...visitor, isCommitted: false };
    let isEntering = false;
    return {
      async enter() {
        if (isEntering) return;
        isEntering = true;
        visitor.request.signal?.throwIfAborted();
        if (hasRoom(place)) inside.add(place);
        else await wait(place);
      },
      commit() {
        if (!inside.has(place)) return;
        place.isCommitted = true;
        admitNext();
      },
      watch(sink) {
        place.reading = { sink, since: performance.now(), idleSince: undefined };
        return watched(sink, place.reading);
      },
      isInside: () => inside.has(place),
      leave() {
        if (inside.delete(place)) admitNext();
      },
    };
  };
}

/** Notes since when the client has not taken the last slice. */
function watched(sink: ReplySink, reading: Reading): ReplySink {
  return {
    get destroyed() {
      return sink.destroyed;
    },
    write(slice) {
      const isTaken = sink.write(slice);
      reading.idleSince = isTaken ? undefined : performance.now();
      return isTaken;
    },
    end: () => sink.end(),
    destroy: () => sink.destroy(),
    on(event, listener) {
      if (event !== 'drain') return sink.on(event, listener);
      return sink.on('drain', () => {
        reading.idleSince = undefined;
        listener();
      });
    },
  };
}

export function overloaded(): HttpError {
  const message = 'Other long requests are running, and the queue is full. Nothing has changed. Try again later.';
  return new HttpError('overloaded', message, { 'retry-after': '1' });
}

/** Keeps the place until the client has taken the reply, because a long reply holds its source data. */
export function leaveAfter(reply: FlagsReply, visit: Visit): FlagsReply {
  const { stream, discard } = reply;
  if (!stream || !visit.isInside()) {
    visit.leave();
    return reply;
  }
  return {
    ...reply,
    async stream(sink) {
      try {
        await stream(visit.watch(sink));
      } finally {
        visit.leave();
      }
    },
    async discard() {
      visit.leave();
      await discard?.();
    },
  };
}
