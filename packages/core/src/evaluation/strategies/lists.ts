import { always, never } from '../context.js';
import { remoteAddress, userId } from '../context-field.js';
import { inAnyRange, isIPv4Range, parseRange } from '../network/address-range.js';
import { textOrNone } from '../shape.js';
import { splitList } from '../text-list.js';
import type { StrategyTest, StrategyTestFactory } from './strategy-test.js';

export const userWithId: StrategyTestFactory = ({ userIds }) => {
  const ids = new Set<string | undefined>(entriesOf(userIds, 'userIds'));
  return { holds: (context) => ids.has(userId(context)) };
};

/** Addresses as text, and IPv4 ranges. */
export const remoteAddressStrategy: StrategyTestFactory = ({ IPs }): StrategyTest => {
  const entries = entriesOf(IPs, 'IPs');
  const texts = new Set<string>(entries);
  const ranges = entries
    .map(parseRange)
    .filter((range) => range !== undefined)
    .filter(isIPv4Range);
  return {
    holds: (context) => {
      const address = remoteAddress(context);
      return address !== undefined && (texts.has(address) || inAnyRange(ranges, address));
    },
  };
};

export const applicationHostname: StrategyTestFactory = ({ hostNames }, { hostname }) => {
  const names = entriesOf(hostNames, 'hostNames').map((name) => name.toLowerCase());
  return { holds: hostname !== undefined && names.includes(hostname.toLowerCase()) ? always : never };
};

function entriesOf(list: unknown, what: string): string[] {
  const text = textOrNone(list, what);
  return text ? splitList(text) : [];
}
