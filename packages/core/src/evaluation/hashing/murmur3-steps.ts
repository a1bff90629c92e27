/** The steps of murmur3 (x86, 32 bits), on signed 32-bit integers. */

// A constant: in sandboxes (as jest's) every look at a global is slow.
const imul = Math.imul;

export function mixBlock(state: number, block: number): number {
  const mixed = state ^ scramble(block);
  return (imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

export function mixTail(state: number, tail: number): number {
  return state ^ scramble(tail);
}

export function finish(state: number, length: number): number {
  let hash = state ^ length;
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scramble(block: number): number {
  const product = imul(block, 0xcc9e2d51);
  return imul((product << 15) | (product >>> 17), 0x1b873593);
}
