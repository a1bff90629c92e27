import { randomFillSync } from 'node:crypto';

const BYTES = 16;
const random = Buffer.allocUnsafeSlow(BYTES * 256);
let used = random.length;

const DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const HYPHEN = '-'.charCodeAt(0);
const text = Buffer.allocUnsafeSlow(36);

/**
 * Returns a random UUID (version 4) as a flat string. The strings of `randomUUID` consist of many parts, which every
 * stored event would keep in memory, and joining them costs more than making the id.
 */
export function newSetId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
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
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}
