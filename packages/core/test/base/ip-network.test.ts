import { BlockList, isIPv6 } from 'node:net';
import { isIpAddressOrCidr } from '../../src/evaluation/ip-address.js';

const USABLE = '0.0.0.0 192.0.2.7 10.0.0.0/8 10.1.2.3/8 0.0.0.0/0 192.0.2.7/32 :: ::1 2001:db8::/32 ::/0 ::1/128';
const MAPPED = '::ffff:192.0.2.7 ::ffff:10.0.0.0/104';
const UNUSABLE = '10 10.0.0 10.0.0.0.0 010.0.0.1 256.0.0.1 10.0.0.0/33 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/-1 10.0.0.0/+8';
const UNUSABLE_6 = '::/129 ::: fe80::1%eth0 fe80::%1/64 [::1] ::1/1e1 /8 localhost 10.0.0.0/255.0.0.0';

describe('an address or network', () => {
  it.each([...USABLE.split(' '), ...MAPPED.split(' ')])('%s is one, and Node can match by it', (text) => {
    expect(isIpAddressOrCidr(text)).toBe(true);
    const [address = '', prefix] = text.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const list = new BlockList();
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
    expect(list.check(address, family)).toBe(true);
  });

  it.each([...UNUSABLE.split(' '), ...UNUSABLE_6.split(' '), '', ' ::1', '10.0.0.0 /8', '10.0.0.0/ 8'])(
    '%j is none',
    (text) => {
      expect(isIpAddressOrCidr(text)).toBe(false);
    },
  );
});
