import type { TextEncoding } from '../../api/text-encoding.js';
import { Murmur3Bytes } from './murmur3-bytes.js';
import { finish, mixBlock, mixTail } from './murmur3-steps.js';

// As a method call, charCodeAt goes megamorphic over the representations of strings and costs four times as much.
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (text: string, at: number) => number;

/** A prefix whose hashing is done: what remains for a call is the id alone. */
export interface HashedPrefix {
  readonly state: number;
  /** The bytes after the last whole block of four. */
  readonly carry: number;
  readonly carryBits: number;
  readonly length: number;
  readonly encoding: TextEncoding;
}

export function hashPrefix(prefix: string, seed: number, encoding: TextEncoding): HashedPrefix {
  const bytes = new Murmur3Bytes(seed);
  bytes.write(prefix, encoding);
  const { state, carry, carryBits, length } = bytes;
  return { state, carry, carryBits, length, encoding };
}

/**
 * The x86 32-bit murmur3 hash of the prefix followed by the id, as a signed integer (`>>> 0` for the unsigned one: a
 * larger number returned from here would be allocated). Allocates nothing.
 */
export function hashWith(prefix: HashedPrefix, id: string): number {
  const bits = prefix.carryBits;
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
