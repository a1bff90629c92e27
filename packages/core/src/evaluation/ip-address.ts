import { isIP } from 'node:net';

/** The 16-bit groups of an address: two for IPv4, eight for IPv6. */
export type AddressGroups = readonly number[];

const IPV4_GROUPS = 2;
const IPV6_GROUPS = 8;

/**
 * Returns the groups of an address; none if the text is not an address. IPv4 is four decimal numbers without leading
 * zeros; IPv6 has no zone.
 */
export function parseAddress(text: string): AddressGroups {
  const version = isIP(text);
  if (version === 4) return parseIPv4(text);
  return version === 6 && !text.includes('%') ? parseIPv6(text) : [];
}

function parseIPv4(text: string): AddressGroups {
  const [first = 0, second = 0, third = 0, fourth = 0] = text.split('.').map(Number);
  return [(first << 8) | second, (third << 8) | fourth];
}

/** Fills the gap of `::` with zeros. */
function parseIPv6(text: string): AddressGroups {
  const [start = '', end] = text.split('::');
  const before = parseGroups(start);
  if (end === undefined) return before;
  const after = parseGroups(end);
  const gap = Array.from({ length: IPV6_GROUPS - before.length - after.length }, () => 0);
  return [...before, ...gap, ...after];
}

function parseGroups(text: string): AddressGroups {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? parseIPv4(group) : Number.parseInt(group, 16)));
}

/** The addresses of one family that share the first bits of `base`. */
export interface AddressRange {
  readonly base: AddressGroups;
  readonly bits: number;
}

const PREFIX_LENGTH = /^\d{1,3}$/;

/** Parses an address or CIDR range (`10.0.0.0/8`, `2001:db8::/32`). Returns undefined for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const base = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (base.length === 0) return undefined;
  const most = base.length * 16;
  if (slash < 0) return { base, bits: most };
  const length = text.slice(slash + 1);
  const bits = Number(length);
  return PREFIX_LENGTH.test(length) && bits <= most ? { base, bits } : undefined;
}

/** Whether the text is an IPv4 or IPv6 address, or a CIDR range. Zones are not supported. */
export function isIpAddressOrCidr(text: string): boolean {
  return parseRange(text) !== undefined;
}

export function isIPv4Range(range: AddressRange): boolean {
  return range.base.length === IPV4_GROUPS;
}

/** Whether any range contains the address. Returns false if the text is not an address. */
export function inAnyRange(ranges: readonly AddressRange[], text: string): boolean {
  const address = parseAddress(text);
  return ranges.some(({ base, bits }) => base.length === address.length && isSamePrefix(base, address, bits));
}

function isSamePrefix(base: AddressGroups, address: AddressGroups, bits: number): boolean {
  const whole = bits >> 4;
  for (let at = 0; at < whole; at++) if (base[at] !== address[at]) return false;
  const difference = (base[whole] ?? 0) ^ (address[whole] ?? 0);
  return difference >> (16 - (bits & 15)) === 0;
}
