import type { Writable } from 'node:stream';

/** So many bytes are handed over at once: each lot that a client has taken shows that it reads. */
const LOT = 64 * 1024;

/** What is under way to one client. It holds on to the frames, which all clients share, and copies nothing. */
export interface Outbox {
  /** Whether everything was taken. */
  readonly isEmpty: boolean;
  /** How many bytes were taken so far. */
  readonly taken: number;
  put(frames: readonly Buffer[]): void;
  /** Goes on after what was handed over last has been taken: call it on every `drain`. */
  advance(): void;
}

export function createOutbox(response: Pick<Writable, 'write'>): Outbox {
  const frames: Buffer[] = [];
  let place = 0;
  let underWay = 0;
  let taken = 0;
  let isWaiting = false;

  function handOver(frame: Buffer): void {
    const lot = frame.subarray(place, place + LOT);
    place += lot.length;
    if (place === frame.length) {
      frames.shift();
      place = 0;
    }
    isWaiting = !response.write(lot);
    if (isWaiting) underWay += lot.length;
    else taken += lot.length;
  }

  function pump(): void {
    for (let frame = frames[0]; frame && !isWaiting; frame = frames[0]) handOver(frame);
  }

  return {
    get isEmpty() {
      return !isWaiting && frames.length === 0;
    },
    get taken() {
      return taken;
    },
    put(added) {
      frames.push(...added);
      pump();
    },
    advance() {
      isWaiting = false;
      taken += underWay;
      underWay = 0;
      pump();
    },
  };
}
