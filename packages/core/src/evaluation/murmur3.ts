import { Buffer } from 'node:buffer';
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

// Several times faster than a call as a method.
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (text: string, at: number) => number;

const LAST_ASCII = 0x7f;

/** The hash state after a prefix, so that a call only hashes the id. */
export interface HashedPrefix {
  readonly state: number;
  /** The bytes after the last complete block of four. */
  readonly carry: number;
  readonly carryBits: number;
  readonly length: number;
  readonly encoding: TextEncoding;
}

export function hashPrefix(prefix: string, seed: number, encoding: TextEncoding): HashedPrefix {
  return append({ state: seed | 0, carry: 0, carryBits: 0, length: 0, encoding }, prefix);
}

/** Hashes byte by byte: prefixes, and ids that are not ASCII. */
function append(prefix: HashedPrefix, text: string): HashedPrefix {
  const { encoding } = prefix;
  // Latin-1 keeps the low byte of each UTF-16 unit.
  const bytes = Buffer.from(text, encoding === 'utf8' ? 'utf8' : 'latin1');
  let { state, carry, carryBits } = prefix;
  for (const byte of bytes) {
    carry |= byte << carryBits;
    carryBits += 8;
    if (carryBits < 32) continue;
    state = mixBlock(state, carry);
    carry = 0;
    carryBits = 0;
  }
  return { state, carry, carryBits, length: prefix.length + bytes.length, encoding };
}

function digest({ state, carry, carryBits, length }: HashedPrefix): number {
  return finish(carryBits === 0 ? state : mixTail(state, carry), length);
}

/**
 * Returns the x86 32-bit MurmurHash3 of prefix and id as a signed integer. Use `>>> 0` for the unsigned number, which
 * would be heap-allocated if it was returned from here. Allocates nothing for ASCII ids.
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
  if (units > LAST_ASCII) return digest(append(prefix, id));
  return finish(carryBits === 0 ? state : mixTail(state, carry), prefix.length + length);
}
