import { randomFillSync } from 'node:crypto';
import type { Storage } from '../storage/port.js';
import type { DocumentReader } from './documents.js';

const BYTES = 16;
const TIME_BYTES = 6;
const random = Buffer.allocUnsafeSlow(BYTES * 256);
let used = random.length;

const DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const HYPHEN = '-'.charCodeAt(0);
const text = Buffer.allocUnsafeSlow(36);

/**
 * Returns a UUID (version 7) as a flat string: the time in milliseconds, then random bits. Ids that grow with time make
 * the database change one page of their index again and again; random ids would change another page with every commit.
 *
 * The strings of `randomUUID` consist of many parts, which every stored event would keep in memory, and joining them costs
 * more than making the id.
 */
export function newSetId(time: number): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  random.writeUIntBE(Math.max(0, time), used, TIME_BYTES);
  let at = 0;
  for (let index = 0; index < BYTES; index++) {
    const byte = withVersion(random[used++] ?? 0, index);
    if (index === 4 || index === 6 || index === 8 || index === 10) text[at++] = HYPHEN;
    text[at++] = DIGITS[byte >> 4] ?? 0;
    text[at++] = DIGITS[byte & 15] ?? 0;
  }
  return text.toString('latin1');
}

/** Sets the bits of the version and of the variant. */
function withVersion(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x70;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}

/** A set that its caller may have sent before. */
export interface RepeatableSet {
  readonly context: { readonly actor: string };
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Whether a set was committed before, under the id that the caller gave. */
export async function isRepetition(storage: Pick<Storage, 'events'>, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false;
  const { events } = await storage.events({
    order: 'oldest-first',
    filter: { changeSet: id },
    limit: 1,
    withoutData: true,
  });
  return events.length > 0;
}

/** Returns the result of a repeated set. It has no documents: the caller reads the first result from the events. */
export function toRepetition({ id, at, context: { actor } }: RepeatableSet) {
  const missing = () => Promise.reject(new Error('A repeated change set reads its result from the events.'));
  const documents: DocumentReader = { read: missing, list: missing };
  return { id, at, actor, documents };
}
