import { DAY } from './usage-sums.js';

/** A token that expires within this time is marked. */
const SOON = 14 * DAY;

/** Whether a token has expired or expires soon; undefined for neither, and for a token that never expires. */
export function expiryState(expiresAt: string | null, now = Date.now()): 'expired' | 'soon' | undefined {
  if (expiresAt === null) return undefined;
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'expired' : left <= SOON ? 'soon' : undefined;
}
