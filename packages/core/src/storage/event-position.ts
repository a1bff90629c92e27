import { FlagsError } from '../errors.js';

/** Reads a position that a storage made out of a running number. Fails with `invalid_input` for any other text. */
export function parsePosition(position: string): number {
  const number = /^[1-9]\d{0,15}$/.test(position) ? Number(position) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new FlagsError(
    'invalid_input',
    `${JSON.stringify(position)} is not a position in this storage's events. Pass the position of an event it returned.`,
  );
}
