import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { inAnyRange, parseAddress, parseRange } from '../../src/evaluation/ip-address.js';

const groupsOf = (text: string) => parseAddress(text, new Uint16Array(8));
const expectedGroups = (text: string) => ({ 0: 0, 4: 2, 6: 8 })[isIP(text)];

const group = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16)),
  fc.constantFrom('0', '', '00ab', 'FFFF'),
);
const ipv6Like = fc
  .tuple(fc.array(group, { maxLength: 9 }), fc.constantFrom('', '::', ':', '10.0.0.1'))
  .map(([groups, end]) => groups.join(':') + end);
const octet = fc.oneof(fc.nat(260).map(String), fc.constantFrom('00', '01', ''));
const ipv4Like = fc.array(octet, { minLength: 3, maxLength: 5 }).map((octets) => octets.join('.'));

describe('addresses', () => {
  it('are the addresses that Node accepts, without zones', () => {
    fc.assert(
      fc.property(fc.oneof(ipv6Like, ipv4Like, fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        if (!text.includes('%')) expect([text, groupsOf(text)]).toEqual([text, expectedGroups(text)]);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('an address', () => {
  it.each([
    ['0.0.0.0', 2],
    ['255.255.255.255', 2],
    ['1:2:3:4:5:6:7:8', 8],
    ['1:2:3:4:5:6:7::', 8],
    ['::2:3:4:5:6:7:8', 8],
    ['1:2:3:4:5:6:1.2.3.4', 8],
    ['::ffff:1.2.3.4', 8],
    ['::ABCD', 8],
    ['::', 8],
  ])('is %s', (text, groups) => {
    expect(groupsOf(text)).toBe(groups);
  });

  it.each([
    ['a number has a leading zero', ['01.2.3.4', '1.02.3.4', '1.2.3.00']],
    ['a number is too large, or too long', ['256.1.1.1', '1.1.1.256', '1.1.1.1000', '1.1.1.0001']],
    ['a number is missing', ['1.2.3', '1.2.3.', '1..3.4', '.1.2.3']],
    ['something follows', ['1.2.3.4.', '1.2.3.4.5', '1.2.3.4x', '1.2.3.4 ']],
    ['a sign stands for a digit', ['1.2.3./', '1.2.3.:', '::/', '::@', '::`', '::g', '::G', '1:g::']],
    ['a group is missing', ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:', ':2:3:4:5:6:7:8', ':1:2:3:4:5:6:7:8', ':', ':1']],
    ['a group is too many', ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:1.2.3.4', '1:2:3:4:5:6:7:8:1.2.3.4']],
    ['a gap stands for no group', ['1:2:3:4::5:6:7:8', '::1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8::']],
    ['there are two gaps', ['1::2::3', '::1::', '::1::2', ':::', '1:::2']],
    ['a group has five digits', ['12345::', '::12345', '1:2:3:4:5:6:7:00008']],
    ['IPv4 is no end, or broken', ['1.2.3.4::', '::1.2.3.4:5', '::1.2.3', '::1.2.3.256', '::12345.1.1.1']],
  ])('is none where %s', (_, texts) => {
    for (const text of texts) expect([text, groupsOf(text)]).toEqual([text, 0]);
  });
});

describe('ranges', () => {
  const families = [
    { family: 'ipv4' as const, address: fc.ipV4(), bits: 32 },
    { family: 'ipv6' as const, address: fc.ipV6(), bits: 128 },
  ];

  it.each(families)('of $family hold the addresses that a BlockList finds in them', ({ family, address, bits }) => {
    fc.assert(
      fc.property(address, fc.nat(bits), address, fc.nat(bits), (base, prefix, other, flip) => {
        const blocked = new BlockList();
        blocked.addSubnet(base, prefix, family);
        const range = parseRange(`${base}/${prefix}`);
        if (range === undefined) throw new Error(`${base}/${prefix} was not read`);
        for (const one of [base, other, flipped(base, flip)]) {
          expect([one, inAnyRange([range], one)]).toEqual([one, blocked.check(one, family)]);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('do not hold addresses of the other family', () => {
    const any = ['0.0.0.0/0', '::/0'].map(parseRange).filter((range) => range !== undefined);
    expect(any).toHaveLength(2);
    expect(inAnyRange(any.slice(0, 1), '::1')).toBe(false);
    expect(inAnyRange(any.slice(1), '10.0.0.1')).toBe(false);
  });

  it('of all bits hold one address, and no bits hold all', () => {
    const holds = (range: string, address: string) => {
      const read = parseRange(range);
      return read && inAnyRange([read], address);
    };
    expect(holds('10.0.0.1/32', '10.0.0.1')).toBe(true);
    expect(holds('10.0.0.1/32', '10.0.0.2')).toBe(false);
    expect(holds('::1/128', '::1')).toBe(true);
    expect(holds('::1/128', '::2')).toBe(false);
    expect(holds('10.0.0.1', '10.0.0.1')).toBe(true);
    expect(holds('10.0.0.0/0', '255.255.255.255')).toBe(true);
    expect(holds('10.0.0.0/8', 'no address')).toBe(false);
  });

  it('are not read with an invalid prefix', () => {
    for (const text of [
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/-1',
      '10.0.0.0/8.5',
      '10.0.0.0/1e1',
      '10.0.0.0/8x',
      '10.0.0.0/8/8',
      '::/129',
      '10.0.0/8',
      '/8',
      '',
    ]) {
      expect(parseRange(text)).toBeUndefined();
    }
  });
});

/** The address with one bit turned over: the neighbours are where mistakes are. */
function flipped(address: string, bit: number): string {
  const groups = new Uint16Array(8);
  const count = parseAddress(address, groups);
  const at = Math.min(bit, count * 16 - 1);
  groups[at >> 4] = (groups[at >> 4] ?? 0) ^ (1 << (15 - (at & 15)));
  const used = [...groups.subarray(0, count)];
  return count === 2
    ? used.flatMap((pair) => [pair >> 8, pair & 0xff]).join('.')
    : used.map((one) => one.toString(16)).join(':');
}
