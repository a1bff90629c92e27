import fc from 'fast-check';
import { hashPrefix, hashWith } from '../../src/evaluation/murmur3.js';
import { rollout, withStrategy } from './one-flag.js';
import { unleashReference } from './unleash-reference.js';

const hash = (prefix: string, id: string, seed = 0) => hashWith(hashPrefix(prefix, seed, 'utf8'), id) >>> 0;

/** Murmur3 over bytes, as its description has it. */
function murmur3(bytes: Uint8Array, seed: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const scrambled = (block: number) => Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
  const rotated = (value: number, by: number) => (value << by) | (value >>> (32 - by));
  const whole = bytes.length - (bytes.length % 4);
  let state = seed;
  for (let at = 0; at < whole; at += 4) {
    state = (Math.imul(rotated(state ^ scrambled(view.getInt32(at, true)), 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | view.getUint8(at);
  state ^= scrambled(tail) ^ bytes.length;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

describe('the hash', () => {
  it('is murmur3 (x86, 32 bits) by its published vectors', () => {
    expect(hash('', '')).toBe(0);
    expect(hash('', '', 1)).toBe(0x514e28b7);
    expect(hash('', 'test')).toBe(0xba6bd213);
    expect(hash('', 'Hello, world!', 0x9747b28c)).toBe(0x24884cba);
    expect(hash('', 'The quick brown fox jumps over the lazy dog', 0x9747b28c)).toBe(0x2fa826cd);
  });

  it('is that of the UTF-8 bytes of prefix and id together, wherever one ends and the other starts', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\ud800'), fc.string({ maxLength: 1 })),
    });
    fc.assert(
      fc.property(text, text, fc.integer(), (prefix, id, seed) => {
        const joined = Buffer.concat([Buffer.from(prefix), Buffer.from(id)]);
        expect(hash(prefix, id, seed)).toBe(murmur3(joined, seed));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'])(
    'is that of the UTF-8 bytes at the edges of their lengths: %j',
    (character) => {
      const id = `${character}a${character}`;
      expect(hash('', id)).toBe(murmur3(Buffer.from(id), 0));
    },
  );

  it.each(['\ud800', '\udbff', '\udc00', '\udfff'])('takes half a pair for U+FFFD: %j', (half) => {
    expect(hash('', `a${half}b`)).toBe(hash('', 'a\ufffdb'));
  });

  it('of an ASCII id does not depend on the encoding', () => {
    const ascii = fc.string({ unit: 'binary-ascii' });
    fc.assert(
      fc.property(ascii, ascii, (prefix, id) => {
        expect(hashWith(hashPrefix(prefix, 0, 'low-byte'), id)).toBe(hashWith(hashPrefix(prefix, 0, 'utf8'), id));
      }),
    );
  });
});

describe('ids that are not ASCII', () => {
  const strategy = rollout(50, { groupId: 'gruppé' });
  const ids = Array.from({ length: 300 }, (_, at) => `å${at}-ключ-€-😀`);
  const decisions = (snapshot: { isEnabled(name: string, context: object): boolean }) =>
    ids.map((userId) => snapshot.isEnabled('checkout', { userId }));

  it('are hashed as UTF-8', () => {
    const expected = ids.map((id) => (murmur3(Buffer.from(`gruppé:${id}`), 0) % 100) + 1 <= 50);
    expect(decisions(withStrategy(strategy))).toEqual(expected);
  });

  it('are hashed as the Node SDK does on demand', () => {
    const reference = unleashReference([{ name: 'checkout', enabled: true, strategies: [strategy] }]);
    expect(decisions(withStrategy(strategy, { idEncoding: 'low-byte' }))).toEqual(decisions(reference));
    expect(decisions(withStrategy(strategy))).not.toEqual(decisions(reference));
  });
});
