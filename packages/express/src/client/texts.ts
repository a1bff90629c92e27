import type { FlagConfiguration, SegmentConfiguration } from '@flags/core';
import { clientFlagToWire, clientSegmentToWire } from '../wire/client-flag.js';

/** The JSON of a flag. Made once: a flag's object is the same until the flag changes. */
export const flagText = rememberText<FlagConfiguration>(clientFlagToWire);

/** The JSON of a segment, made once. */
export const segmentText = rememberText<SegmentConfiguration>(clientSegmentToWire);

function rememberText<Item extends object>(toWire: (item: Item) => object): (item: Item) => string {
  const texts = new WeakMap<Item, string>();
  return (item) => {
    const known = texts.get(item);
    if (known !== undefined) return known;
    const text = JSON.stringify(toWire(item));
    texts.set(item, text);
    return text;
  };
}
