import { randomFillSync } from 'node:crypto';

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
