import { ERROR_LIMITS, type ErrorDetail, FlagsError } from './errors.js';

/** Creates the `invalid_input` error for these issues. The message names the first one. */
export function invalidInput(issues: readonly ErrorDetail[]): FlagsError {
  const [first] = issues;
  const place = first?.path ? `${first.path} ` : '';
  const message = `The input is not valid: ${place}${first?.message ?? 'it has the wrong shape'}${othersOf(issues)}`;
  return new FlagsError('invalid_input', /[.?]$/.test(message) ? message : `${message}.`, issues);
}

/** At the limit, the total number of issues is unknown. */
function othersOf({ length }: readonly ErrorDetail[]): string {
  if (length < 2) return '';
  return length < ERROR_LIMITS.issues ? ` (and ${length - 1} more)` : ` (and at least ${ERROR_LIMITS.issues - 1} more)`;
}
