import { hash } from 'node:crypto';
import type { FlagConfiguration, SegmentConfiguration } from '@flags/core';
import { clientFlagToWire, clientSegmentToWire } from '../wire/client-flag.js';

/** The JSON of a flag. It is made when it is sent: the texts of all flags would double what the process holds. */
export function flagText(flag: FlagConfiguration): string {
  return JSON.stringify(clientFlagToWire(flag));
}

/** The JSON of a segment. */
export function segmentText(segment: SegmentConfiguration): string {
  return JSON.stringify(clientSegmentToWire(segment));
}

/** The hash of a flag's JSON, made once: a flag's object is the same until the flag changes. */
export const flagDigest = rememberDigest(flagText);

/** The hash of a segment's JSON, made once. */
export const segmentDigest = rememberDigest(segmentText);

function rememberDigest<Item extends object>(toText: (item: Item) => string): (item: Item) => string {
  const digests = new WeakMap<Item, string>();
  return (item) => {
    const known = digests.get(item);
    if (known !== undefined) return known;
    const digest = hash('sha256', toText(item), 'base64').slice(0, 22);
    digests.set(item, digest);
    return digest;
  };
}
