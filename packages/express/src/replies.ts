import { ownBytes } from './own-bytes.js';
import type { Reply } from './reply.js';

/** Bodies of so many bytes are kept at a time, for each row. */
const CAPACITY = 8 * 1024 * 1024;

/** Replies that were made while nothing has changed since. */
export interface Replies {
  /** The reply to this key if it was made at this stamp. With another stamp than the last, all are forgotten. */
  get(key: string, stamp: string): Reply | undefined;
  /** Gives the reply, ready to be sent again, and keeps it while the stamp is the last and there is room. */
  keep(key: string, stamp: string, reply: Reply): Reply;
}

export function createReplies(capacity = CAPACITY): Replies {
  const replies = new Map<string, Reply>();
  let latest: string | undefined;
  let room = capacity;

  return {
    get(key, stamp) {
      if (stamp !== latest) {
        replies.clear();
        room = capacity;
        latest = stamp;
      }
      return replies.get(key);
    },

    keep(key, stamp, { text = '', ...reply }) {
      const ready = { ...reply, bytes: reply.bytes ?? ownBytes(text) };
      const size = key.length + ready.bytes.length;
      if (stamp !== latest || size > room || replies.has(key)) return ready;
      room -= size;
      replies.set(key, ready);
      return ready;
    },
  };
}
