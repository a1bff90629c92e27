import type { BodyMeter, FlagsRequest } from '../messages/request.js';
import { CHECK_INTERVAL, overloaded, PATIENCE } from './gate.js';

/** A body up to this size, in bytes, is read and handled without waiting. */
export const SHORT_BODY = 64 * 1024;

/**
 * The total size of the longer bodies of one API that are read or handled at once, in bytes: a few of the default limit.
 * More of them would only wait at the gate, in memory, and those beyond its queue would be refused.
 */
const ROOM = 4 * 1024 * 1024;
/** How many longer bodies wait unread, at most. */
const QUEUE_LENGTH = 256;

/** A body that is read or handled. */
interface LongBody {
  readonly size: number;
  readonly cutOff: () => void;
  /** Whether all of it has arrived. */
  isRead: boolean;
  /** Bytes received since the last check. */
  received: number;
  checkedAt: number;
}

/** The meter of one request, and its release. */
export interface BodyStay extends BodyMeter {
  /** The body is not held any more. Repeated calls do nothing. */
  leave(): void;
}

/** Limits the memory of the bodies of one API that are longer than 64 KiB. */
export type BodyRoom = (request: Pick<FlagsRequest, 'signal'>) => BodyStay;

export function createBodyRoom(): BodyRoom {
  const inside = new Set<LongBody>();
  const queue: { readonly body: LongBody; readonly admit: () => void }[] = [];
  let check: NodeJS.Timeout | undefined;

  function hasRoom({ size }: LongBody): boolean {
    let sum = size;
    for (const body of inside) sum += body.size;
    // A host may allow bodies that are larger than the whole room.
    return sum <= ROOM || inside.size === 0;
  }

  function enter(body: LongBody): void {
    body.checkedAt = performance.now();
    inside.add(body);
  }

  /** In the order of arrival, so that a large body does not wait forever. */
  function admitNext(): void {
    for (let next = queue[0]; next && hasRoom(next.body); next = queue[0]) next.admit();
  }

  function wait(body: LongBody, signal: AbortSignal | undefined): Promise<void> {
    if (queue.length >= QUEUE_LENGTH) throw overloaded();
    return new Promise((resolve, reject) => {
      const dequeue = () => {
        queue.splice(queue.indexOf(waiting), 1);
        signal?.removeEventListener('abort', giveUp);
        if (queue.length === 0) stopCheck();
      };
      const giveUp = () => {
        dequeue();
        reject(signal?.reason);
        admitNext();
      };
      const waiting = {
        body,
        admit() {
          dequeue();
          enter(body);
          resolve();
        },
      };
      queue.push(waiting);
      signal?.addEventListener('abort', giveUp);
      check ??= setInterval(cutOffSlow, CHECK_INTERVAL).unref();
    });
  }

  function stopCheck(): void {
    clearInterval(check);
    check = undefined;
  }

  function cutOffSlow(): void {
    const now = performance.now();
    for (const body of inside) {
      if (body.isRead || now - body.checkedAt < PATIENCE) continue;
      if (body.received < SHORT_BODY) body.cutOff();
      body.received = 0;
      body.checkedAt = now;
    }
  }

  return (request) => {
    let body: LongBody | undefined;
    return {
      async admit(size, cutOff) {
        if (body) return;
        body = { size, cutOff, isRead: false, received: 0, checkedAt: 0 };
        if (queue.length === 0 && hasRoom(body)) enter(body);
        else await wait(body, request.signal);
      },
      receive(bytes) {
        if (body) body.received += bytes;
      },
      end() {
        if (body) body.isRead = true;
      },
      leave() {
        if (body && inside.delete(body)) admitNext();
      },
    };
  };
}
