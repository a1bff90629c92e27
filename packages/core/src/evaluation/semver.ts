import { LIMITS } from '../base/limits.js';

const NUMBER = '(?:0|[1-9]\\d*)';
const PRERELEASE_PART = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?(?:\\+${BUILD})?$`,
);

/** Whether the text is a semver 2.0 version: no `v`, no white space, no leading zeros, at most 256 characters. */
export function isSemver(text: string): boolean {
  return text.length <= LIMITS.operandText && SEMVER.test(text);
}

/**
 * Compares two valid versions as semver 2.0 does, without build metadata. Returns a negative number, zero, or a
 * positive number.
 */
export function compareSemver(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const order = compareLists(left.core, right.core);
  if (order !== 0) return order;
  // A release comes after its pre-releases.
  const [early, other] = [left.prerelease, right.prerelease];
  return early.length === 0 || other.length === 0 ? other.length - early.length : compareLists(early, other);
}

/** Returns the identifiers of a version: its three numbers, and the parts of its pre-release. */
function partsOf(version: string): { readonly core: readonly string[]; readonly prerelease: readonly string[] } {
  const [release = ''] = version.split('+', 1);
  const [core = ''] = release.split('-', 1);
  const prerelease = release.slice(core.length + 1);
  return { core: core.split('.'), prerelease: prerelease === '' ? [] : prerelease.split('.') };
}

/** A list comes after its own beginning. */
function compareLists(one: readonly string[], other: readonly string[]): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at++) {
    const order = compareIdentifiers(one[at] ?? '', other[at] ?? '');
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

const DIGITS = /^\d+$/;

/** Numbers come in the order of their values, before text, and text in the order of ASCII. */
function compareIdentifiers(one: string, other: string): number {
  const isNumber = DIGITS.test(one);
  if (isNumber !== DIGITS.test(other)) return isNumber ? -1 : 1;
  if (isNumber && one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
