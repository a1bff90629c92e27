/** The 16-bit groups of an address: two for IPv4, eight for IPv6. */
export type AddressGroups = Uint16Array;

const IPV4_GROUPS = 2;
const IPV6_GROUPS = 8;

/**
 * Parses an address into the eight groups of `into`. Returns the number of groups, or 0 if the text is not an address.
 * IPv4 is four decimal numbers without leading zeros; IPv6 has no zone. An IPv4-mapped address (RFC 4291, 2.5.5.2) is its
 * IPv4 address. Allocates nothing.
 */
export function parseAddress(text: string, into: AddressGroups): number {
  if (parseIPv4(text, 0, into, 0)) return IPV4_GROUPS;
  if (!parseIPv6(text, into)) return 0;
  if (!isMapped(into)) return IPV6_GROUPS;
  into.copyWithin(0, IPV6_GROUPS - IPV4_GROUPS);
  into.fill(0, IPV4_GROUPS);
  return IPV4_GROUPS;
}

/** The bits before the IPv4 address: `::ffff:`. */
const MAPPED_PREFIX = 96;

function isMapped(groups: AddressGroups): boolean {
  for (let at = 0; at < 5; at++) if (groups[at] !== 0) return false;
  return groups[5] === 0xffff;
}

const scratch = new Uint16Array(IPV6_GROUPS);

/**
 * Returns the IPv4 address of an IPv4-mapped one, and any other text unchanged. A server that listens on IPv6 gets the
 * addresses of its IPv4 clients in that form.
 */
export function withoutMapping(address: string): string {
  if (!address.includes(':') || parseAddress(address, scratch) !== IPV4_GROUPS) return address;
  const [high = 0, low = 0] = scratch;
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

const COLON = 0x3a;
const DOT = 0x2e;

function parseIPv4(text: string, start: number, into: AddressGroups, at: number): boolean {
  let position = start;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && text.charCodeAt(position++) !== DOT) return false;
    const from = position;
    let value = 0;
    for (let digit = decimalDigit(text, position); digit >= 0; digit = decimalDigit(text, position)) {
      value = value * 10 + digit;
      if (++position - from > 3) return false;
    }
    if (position === from || value > 255) return false;
    if (position - from > 1 && decimalDigit(text, from) === 0) return false;
    const group = at + (octet >> 1);
    into[group] = (octet & 1) === 0 ? value << 8 : (into[group] ?? 0) | value;
  }
  return position === text.length;
}

function parseIPv6(text: string, into: AddressGroups): boolean {
  const length = text.length;
  let groups = 0;
  let gap = -1;
  let position = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false;
    gap = 0;
    position = 2;
  }
  while (position < length) {
    const digits = hexDigits(text, position);
    if (digits === 0 || digits > 4 || groups === IPV6_GROUPS) return false;
    if (text.charCodeAt(position + digits) === DOT) {
      if (groups > IPV6_GROUPS - IPV4_GROUPS || !parseIPv4(text, position, into, groups)) return false;
      groups += IPV4_GROUPS;
      break;
    }
    into[groups++] = hexValue(text, position, position + digits);
    position += digits;
    if (position === length) break;
    if (text.charCodeAt(position++) !== COLON || position === length) return false;
    if (text.charCodeAt(position) !== COLON) continue;
    if (gap >= 0) return false;
    gap = groups;
    position++;
  }
  if (gap < 0) return groups === IPV6_GROUPS;
  return groups < IPV6_GROUPS && openGap(into, gap, groups);
}

/** Moves the groups after `::` to the end and fills the gap with zeros. */
function openGap(into: AddressGroups, gap: number, groups: number): true {
  const moved = groups - gap;
  into.copyWithin(IPV6_GROUPS - moved, gap, groups);
  into.fill(0, gap, IPV6_GROUPS - moved);
  return true;
}

function hexDigits(text: string, start: number): number {
  let position = start;
  while (position - start < 5 && hexDigit(text, position) >= 0) position++;
  return position - start;
}

function hexValue(text: string, start: number, end: number): number {
  let value = 0;
  for (let position = start; position < end; position++) value = (value << 4) | hexDigit(text, position);
  return value;
}

function hexDigit(text: string, at: number): number {
  const digit = decimalDigit(text, at);
  if (digit >= 0) return digit;
  const letter = text.charCodeAt(at) | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function decimalDigit(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** The addresses of one family that share the first bits of `base`. */
export interface AddressRange {
  readonly base: AddressGroups;
  readonly groups: number;
  readonly bits: number;
}

const PREFIX_LENGTH = /^\d{1,3}$/;

/** Parses an address or CIDR range (`10.0.0.0/8`, `2001:db8::/32`). Returns undefined for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const base = new Uint16Array(IPV6_GROUPS);
  const address = slash < 0 ? text : text.slice(0, slash);
  const groups = parseAddress(address, base);
  if (groups === 0) return undefined;
  if (slash < 0) return { base, groups, bits: groups * 16 };
  const length = text.slice(slash + 1);
  const prefix = groups === IPV4_GROUPS && address.includes(':') ? MAPPED_PREFIX : 0;
  const bits = Number(length) - prefix;
  if (!PREFIX_LENGTH.test(length) || bits > groups * 16) return undefined;
  // A network that is larger than all mapped addresses contains all of IPv4.
  return { base, groups, bits: Math.max(bits, 0) };
}

/** Whether the text is an IPv4 or IPv6 address, or a CIDR range. Zones are not supported. */
export function isIpAddressOrCidr(text: string): boolean {
  return parseRange(text) !== undefined;
}

export function isIPv4Range(range: AddressRange): boolean {
  return range.groups === IPV4_GROUPS;
}

// Shared by all calls: evaluation is synchronous, so a call reads these groups before the next call overwrites them.
const address = new Uint16Array(IPV6_GROUPS);

/** Whether any range contains the address. Returns false if the text is not an address. Allocates nothing. */
export function inAnyRange(ranges: readonly AddressRange[], text: string): boolean {
  const groups = parseAddress(text, address);
  if (groups === 0) return false;
  for (const range of ranges) if (range.groups === groups && sameBits(range.base, range.bits)) return true;
  return false;
}

function sameBits(base: AddressGroups, bits: number): boolean {
  const whole = bits >> 4;
  for (let at = 0; at < whole; at++) if (base[at] !== address[at]) return false;
  const rest = bits & 15;
  if (rest === 0) return true;
  const difference = (base[whole] ?? 0) ^ (address[whole] ?? 0);
  return difference >> (16 - rest) === 0;
}
