import type { FlagConfiguration, SegmentConfiguration } from '@flags/core';
import type { Contents } from '../client/contents.js';
import { flagDigest, segmentDigest } from '../client/texts.js';

/** One thing that a client has to change to get from one state to the next. */
export type Change =
  | { readonly type: 'segment-updated'; readonly segment: SegmentConfiguration }
  | { readonly type: 'feature-updated'; readonly flag: FlagConfiguration }
  | { readonly type: 'feature-removed'; readonly flag: FlagConfiguration }
  | { readonly type: 'segment-removed'; readonly segment: SegmentConfiguration };

/** What has changed, in an order in which no flag ever misses a segment. Empty when a client would see no difference. */
export function changesBetween(before: Contents, after: Contents): readonly Change[] {
  const flags = differenceOf(before.flags, after.flags, { keyOf: ({ name }) => name, digestOf: flagDigest });
  const segments = differenceOf(before.segments, after.segments, { keyOf: ({ id }) => id, digestOf: segmentDigest });
  return [
    ...segments.updated.map((segment) => ({ type: 'segment-updated', segment }) as const),
    ...flags.updated.map((flag) => ({ type: 'feature-updated', flag }) as const),
    ...flags.removed.map((flag) => ({ type: 'feature-removed', flag }) as const),
    ...segments.removed.map((segment) => ({ type: 'segment-removed', segment }) as const),
  ];
}

interface Traits<Item> {
  readonly keyOf: (item: Item) => string | number;
  readonly digestOf: (item: Item) => string;
}

/** The same object is the same state; of another one the JSON decides. */
function differenceOf<Item>(before: readonly Item[], after: readonly Item[], { keyOf, digestOf }: Traits<Item>) {
  const gone = new Map(before.map((item) => [keyOf(item), item]));
  const updated: Item[] = [];
  for (const item of after) {
    const earlier = gone.get(keyOf(item));
    gone.delete(keyOf(item));
    if (earlier === item) continue;
    if (earlier === undefined || digestOf(earlier) !== digestOf(item)) updated.push(item);
  }
  return { updated, removed: [...gone.values()] };
}
