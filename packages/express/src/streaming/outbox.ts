import type { Writable } from 'node:stream';
import { runInTurn } from '../turns.js';
import type { Frame } from './frames.js';

/** So many bytes are handed over at once: each lot that a client has taken shows that it reads. */
const LOT = 64 * 1024;

/** What is under way to one client. It holds on to buffers that all clients share, and copies nothing. */
export interface Outbox {
  /** Whether everything was taken. */
  readonly isEmpty: boolean;
  /** How many bytes were taken so far. */
  readonly taken: number;
  put(frames: readonly Frame[]): void;
  /** Goes on after what was handed over last has been taken: call it on every `drain`. */
  advance(): void;
}

/** @param onEmpty called when everything was taken, unless that was so at once */
export function createOutbox(response: Pick<Writable, 'write' | 'destroyed'>, onEmpty: () => void): Outbox {
  const frames: Frame[] = [];
  let current: Buffer | undefined;
  let place = 0;
  let underWay = 0;
  let taken = 0;
  let isWaiting = false;
  let isPaused = false;

  function nextBuffer(): Buffer | undefined {
    for (let [frame] = frames; frame; [frame] = frames) {
      if (Buffer.isBuffer(frame)) return frames.shift() as Buffer;
      const buffer = frame.next();
      if (buffer) return buffer;
      frames.shift();
    }
    return undefined;
  }

  function handOver(buffer: Buffer): void {
    const lot = buffer.subarray(place, place + LOT);
    place += lot.length;
    current = place < buffer.length ? buffer : undefined;
    if (!current) place = 0;
    isWaiting = !response.write(lot);
    if (isWaiting) underWay += lot.length;
    else taken += lot.length;
  }

  /** The next lot of a long frame waits for its turn: a client that takes all at once would keep others waiting. */
  function pump(): void {
    while (!isWaiting && !isPaused) {
      current ??= nextBuffer();
      if (!current) return;
      handOver(current);
      if (frames[0] && !Buffer.isBuffer(frames[0])) pause();
    }
  }

  function pause(): void {
    isPaused = true;
    runInTurn(() => {
      isPaused = false;
      if (!response.destroyed) proceed();
    });
  }

  function proceed(): void {
    pump();
    if (isEmpty()) onEmpty();
  }

  function isEmpty(): boolean {
    return !isWaiting && !isPaused && !current && frames.length === 0;
  }

  return {
    get isEmpty() {
      return isEmpty();
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
      proceed();
    },
  };
}
