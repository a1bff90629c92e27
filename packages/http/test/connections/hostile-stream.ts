import { sample } from 'fast-check';
import { hostileBody, hostilePatch, hostileSegment } from '../contract/hostile-values.js';
import type { RawRequest } from '../contract/raw-client.js';
import { REQUESTS } from '../contract/requests.js';

/** Numbers from 0 (inclusive) to 1, determined by a seed. */
type Random = () => number;

const TYPES = ['application/json', 'application/json', 'application/json', 'text/plain', 'application/x-ndjson', ''];
const LARGEST = 64 * 1024;
const BEYOND_LIMIT = 1_100_000;
const DEPTH = 20_000;

/** Endless requests to every route in turn, whose bodies and addresses are garbage or nearly valid. */
export function* hostileRequests(seed: number): Generator<RawRequest, never> {
  const random = createRandom(seed);
  const bodies = sample(hostileBody, { numRuns: 400, seed });
  bodies.push(...sample(hostilePatch, { numRuns: 200, seed }));
  bodies.push(...REQUESTS.flatMap(({ request }) => (request.body === undefined ? [] : [JSON.stringify(request.body)])));
  const segments = sample(hostileSegment, { numRuns: 400, seed });
  for (;;) {
    for (const { route, request } of REQUESTS) {
      const isWrite = route.body !== undefined;
      const path = isWrite && random() < 0.8 ? request.path : hostilePath(route.path, () => pick(random, segments));
      const headers = [['content-type', pick(random, TYPES)]] as const;
      yield { method: request.method, path, headers, body: isWrite ? hostileBytes(random, bodies) : '' };
    }
  }
}

function hostilePath(path: string, segment: () => string): string {
  const query = Array.from({ length: 4 }, () => `${segment()}=${segment()}`).join('&');
  return `${path.replaceAll(/:\w+/g, segment)}?${query}`.replaceAll(/[\s#]/g, '+');
}

/** A body that is spoilt in one of several ways. */
function hostileBytes(random: Random, bodies: readonly string[]): Uint8Array {
  const body = pick(random, bodies);
  const size = Math.ceil(LARGEST ** random());
  const spoil = pick<() => string | Uint8Array>(random, [
    () => body,
    () => body.slice(0, Math.floor(random() * body.length)),
    () => flipped(Buffer.from(body), random),
    () =>
      `[${Array(1 + Math.floor(size / (body.length + 1)))
        .fill(body)
        .join(',')}]`,
    () => `{"name":"${'x'.repeat(size)}"}`,
    () => `{${Array.from({ length: Math.ceil(size / 12) }, (_, index) => `"k${index}":${index}`).join(',')}}`,
    () => `{"parameters":${'{"a":'.repeat(Math.min(size, DEPTH))}1${'}'.repeat(Math.min(size, DEPTH))}}`,
    () => '['.repeat(size),
    () => Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256))),
    () => (random() < 0.05 ? `{"name":"${'y'.repeat(BEYOND_LIMIT)}"}` : `"${'\\ud800'.repeat(Math.ceil(size / 6))}"`),
  ]);
  return Buffer.from(spoil());
}

function flipped(bytes: Buffer, random: Random): Buffer {
  for (let count = 0; count < 3 && bytes.length > 0; count++) {
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  }
  return bytes;
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

/** Mulberry32. */
function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
