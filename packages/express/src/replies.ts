import { ownBytes } from './own-bytes.js';
import type { Reply } from './reply.js';

/** What is kept at a time, for each row. */
export interface RepliesLimits {
  /** Bytes of bodies and addresses together. */
  readonly bytes: number;
  /** Each also costs its headers, and its place. */
  readonly replies: number;
}

/** A query that means nothing makes another address for the same answer. */
const LIMITS: RepliesLimits = { bytes: 8 * 1024 * 1024, replies: 1000 };

/** Replies that were made while nothing has changed since. */
export interface Replies {
  /** The reply to this key if it was made at this stamp. With another stamp than the last, all are forgotten. */
  get(key: string, stamp: string): Reply | undefined;
  /** Gives the reply, ready to be sent again, and keeps it while the stamp is the last and there is room. */
  keep(key: string, stamp: string, reply: Reply): Reply;
}

export function createReplies(limits = LIMITS): Replies {
  const replies = new Map<string, Reply>();
  let latest: string | undefined;
  let room = limits.bytes;

  return {
    get(key, stamp) {
      if (stamp !== latest) {
        replies.clear();
        room = limits.bytes;
        latest = stamp;
      }
      return replies.get(key);
    },

    keep(key, stamp, made) {
      if (made.slices) return made;
      const { text = '', ...reply } = made;
      const ready = { ...reply, bytes: reply.bytes ?? ownBytes(text) };
      const size = key.length + ready.bytes.length;
      const isFull = size > room || replies.size >= limits.replies;
      if (stamp !== latest || isFull || replies.has(key)) return ready;
      room -= size;
      replies.set(key, ready);
      return ready;
    },
  };
}
