import { type AddressGroups, IPV4_GROUPS, IPV6_GROUPS, parseAddress } from './address.js';

/** The addresses of one family whose first bits are those of the base. */
export interface AddressRange {
  readonly base: AddressGroups;
  readonly groups: number;
  readonly bits: number;
}

const PREFIX_LENGTH = /^\d{1,3}$/;

/** Reads an address or CIDR range (`10.0.0.0/8`, `2001:db8::/32`); undefined for what is neither. */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const base = new Uint16Array(IPV6_GROUPS);
  const groups = parseAddress(slash < 0 ? text : text.slice(0, slash), base);
  if (groups === 0) return undefined;
  if (slash < 0) return { base, groups, bits: groups * 16 };
  const length = text.slice(slash + 1);
  const bits = Number(length);
  return PREFIX_LENGTH.test(length) && bits <= groups * 16 ? { base, groups, bits } : undefined;
}

export function isIPv4Range(range: AddressRange): boolean {
  return range.groups === IPV4_GROUPS;
}

// Evaluation is synchronous: the groups of the address at hand are read before the next one is.
const address = new Uint16Array(IPV6_GROUPS);

/** Whether any range holds the address; false for what is no address. Allocates nothing. */
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
