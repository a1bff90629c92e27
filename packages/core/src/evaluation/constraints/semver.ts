import { LIMITS } from '../../validation/limits.js';
import { VersionCursor } from './version-cursor.js';

const NUMBER = '(?:0|[1-9]\\d*)';
const PRERELEASE_PART = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?(?:\\+${BUILD})?$`,
);

/** Whether a text is a version by semver 2.0, to the letter: no `v`, no white space, no leading zeros. Longer texts are none. */
export function isSemver(text: string): boolean {
  return text.length <= LIMITS.operandText && SEMVER.test(text);
}

// Comparing is synchronous: two cursors do for all versions, and nothing is allocated.
const left = new VersionCursor();
const right = new VersionCursor();
const CORE = 3;

/** Orders two versions by semver 2.0: negative, zero or positive; build metadata does not count. Both must be versions. */
export function compareSemver(a: string, b: string): number {
  left.open(a);
  right.open(b);
  let compared = 0;
  for (; left.stands && right.stands; compared++) {
    const order = left.compareTo(right);
    if (order !== 0) return order;
    left.next();
    right.next();
  }
  // A release comes after its pre-releases; among these, more parts come after fewer.
  if (compared === CORE) return Number(right.stands) - Number(left.stands);
  return Number(left.stands) - Number(right.stands);
}
