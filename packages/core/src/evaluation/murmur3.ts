import type { TextEncoding } from './evaluation.types.js';

/** The steps of MurmurHash3 (x86, 32 bits), on signed 32-bit integers. */

// Cached, because sandboxes such as jest's make every access to a global slow.
const imul = Math.imul;

function mixBlock(state: number, block: number): number {
  const mixed = state ^ scramble(block);
  return (imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function mixTail(state: number, tail: number): number {
  return state ^ scramble(tail);
}

function finish(state: number, length: number): number {
  let hash = state ^ length;
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scramble(block: number): number {
  const product = imul(block, 0xcc9e2d51);
  return imul((product << 15) | (product >>> 17), 0x1b873593);
}

const LAST_ASCII = 0x7f;
/** UTF-8 encoders replace an unpaired surrogate by this character. */
const REPLACEMENT_CHARACTER = 0xfffd;

/** Hashes byte by byte. Used for prefixes and for non-ASCII ids. */
class Murmur3Bytes {
  state: number;
  carry = 0;
  carryBits = 0;
  length = 0;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  resume(from: HashedPrefix): void {
    this.state = from.state;
    this.carry = from.carry;
    this.carryBits = (from.length & 3) << 3;
    this.length = from.length;
  }

  write(text: string, encoding: TextEncoding): void {
    if (encoding === 'utf8') this.writeUtf8(text);
    else this.writeLowBytes(text);
  }

  digest(): number {
    return finish(this.carryBits === 0 ? this.state : mixTail(this.state, this.carry), this.length);
  }

  private writeLowBytes(text: string): void {
    for (let at = 0; at < text.length; at++) this.byte(text.charCodeAt(at) & 0xff);
  }

  private writeUtf8(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const point = text.codePointAt(at) ?? 0;
      if (point > 0xffff) at++;
      this.codePoint(point >= 0xd800 && point <= 0xdfff ? REPLACEMENT_CHARACTER : point);
    }
  }

  private codePoint(point: number): void {
    if (point <= LAST_ASCII) {
      this.byte(point);
    } else if (point <= 0x7ff) {
      this.byte(0xc0 | (point >> 6));
      this.byte(0x80 | (point & 0x3f));
    } else if (point <= 0xffff) {
      this.byte(0xe0 | (point >> 12));
      this.byte(0x80 | ((point >> 6) & 0x3f));
      this.byte(0x80 | (point & 0x3f));
    } else {
      this.byte(0xf0 | (point >> 18));
      this.byte(0x80 | ((point >> 12) & 0x3f));
      this.byte(0x80 | ((point >> 6) & 0x3f));
      this.byte(0x80 | (point & 0x3f));
    }
  }

  private byte(byte: number): void {
    this.carry |= byte << this.carryBits;
    this.carryBits += 8;
    this.length++;
    if (this.carryBits < 32) return;
    this.state = mixBlock(this.state, this.carry);
    this.carry = 0;
    this.carryBits = 0;
  }
}

// Several times faster than a call as a method.
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (text: string, at: number) => number;

/** The hash state after a prefix, so that a call only hashes the id. */
export class HashedPrefix {
  readonly state: number;
  /** The bytes after the last complete block of four. */
  readonly carry: number;
  readonly length: number;
  readonly encoding: TextEncoding;

  constructor(prefix: string, seed: number, encoding: TextEncoding) {
    const bytes = new Murmur3Bytes(seed);
    bytes.write(prefix, encoding);
    this.state = bytes.state;
    this.carry = bytes.carry;
    this.length = bytes.length;
    this.encoding = encoding;
  }
}

/**
 * Returns the x86 32-bit MurmurHash3 of prefix and id as a signed integer. Use `>>> 0` for the unsigned number, which
 * would be heap-allocated if it was returned from here. Allocates nothing.
 */
export function hashWith(prefix: HashedPrefix, id: string): number {
  const bits = (prefix.length & 3) << 3;
  const length = id.length;
  const blocksEnd = length & ~3;
  let state = prefix.state;
  let carry = prefix.carry;
  let units = 0;
  let at = 0;
  for (; at < blocksEnd; at += 4) {
    const a = charCodeAt(id, at);
    const b = charCodeAt(id, at + 1);
    const c = charCodeAt(id, at + 2);
    const d = charCodeAt(id, at + 3);
    units |= a | b | c | d;
    const word = a | (b << 8) | (c << 16) | (d << 24);
    state = mixBlock(state, carry | (word << bits));
    carry = bits === 0 ? 0 : word >>> (32 - bits);
  }
  let carryBits = bits;
  for (; at < length; at++) {
    const unit = charCodeAt(id, at);
    units |= unit;
    carry |= unit << carryBits;
    carryBits += 8;
    if (carryBits === 32) {
      state = mixBlock(state, carry);
      carry = 0;
      carryBits = 0;
    }
  }
  if (units > 0x7f) return hashEncoded(prefix, id);
  return finish(carryBits === 0 ? state : mixTail(state, carry), prefix.length + length);
}

const encoded = new Murmur3Bytes(0);

function hashEncoded(prefix: HashedPrefix, id: string): number {
  encoded.resume(prefix);
  encoded.write(id, prefix.encoding);
  return encoded.digest();
}
