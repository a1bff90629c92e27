import { FlagsError } from '@flags/core';

/** The place of an event in the feed: that of its commit, and its own within it. Numbers as texts: they may exceed 2^53. */
export interface Position {
  readonly commitOrder: string;
  readonly id: string;
}

export function toPosition({ commitOrder, id }: Position): string {
  return `${commitOrder}-${id}`;
}

const NUMBER = /^(0|[1-9]\d{0,18})$/;
/** The largest number that the columns hold. */
const LARGEST = 2n ** 63n - 1n;

/** Fails with `invalid_input` for a text that {@link toPosition} has not made. */
export function parsePosition(position: string): Position {
  const [commitOrder = '', id = '', ...more] = position.split('-');
  const isSound = more.length === 0 && [commitOrder, id].every((part) => NUMBER.test(part) && BigInt(part) <= LARGEST);
  if (isSound) return { commitOrder, id };
  throw new FlagsError(
    'invalid_input',
    `${JSON.stringify(position)} is not a position in this storage's events. Pass the position of an event it returned.`,
  );
}
