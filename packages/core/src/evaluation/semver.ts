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

/** A version to compare others with, parsed once. */
export class SemverBound {
  /** The numbers of a version that has nothing else. */
  private readonly core: readonly number[] | undefined;

  /** @param text a valid version */
  constructor(private readonly text: string) {
    this.core = PLAIN.test(text) ? text.split('.').map(Number) : undefined;
  }

  /** Compares a version as semver 2.0 does. Returns NaN for a text that is not a version. Allocates nothing. */
  compare(version: string): number {
    const order = this.core && compareNumbers(version, this.core);
    if (order !== undefined) return order;
    return isSemver(version) ? compareSemver(version, this.text) : Number.NaN;
  }
}

/** Most versions: `1.2.3`, with at most nine digits a number. */
const PLAIN = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const MAX_DIGITS = 9;

/** Returns undefined for a version that has more than three numbers of at most nine digits, and for another text. */
function compareNumbers(version: string, core: readonly number[]): number | undefined {
  let order = 0;
  let part = 0;
  let start = 0;
  let number = 0;
  for (let at = 0; at < version.length; at++) {
    const unit = version.charCodeAt(at);
    if (isDigit(unit)) {
      if (at - start === MAX_DIGITS || (at > start && number === 0)) return undefined;
      number = number * 10 + unit - ZERO;
      continue;
    }
    if (unit !== DOT || at === start || part === CORE - 1) return undefined;
    if (order === 0) order = number - (core[part] ?? 0);
    part++;
    start = at + 1;
    number = 0;
  }
  if (start === version.length || part < CORE - 1) return undefined;
  return order === 0 ? number - (core[part] ?? 0) : order;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

const CORE = 3;
const DASH = 0x2d;
const DOT = 0x2e;
const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;

/** Iterates over the identifiers of a version: the three numbers, then the parts of the pre-release. */
class VersionCursor {
  private version = '';
  private start = 0;
  private end = 0;
  private position = 0;

  open(version: string): void {
    this.version = version;
    this.position = 0;
    this.moveTo(0);
  }

  next(): void {
    this.position++;
    this.moveTo(this.end + 1);
  }

  /** Whether the cursor is at an identifier, and not past the last one. */
  get isAtIdentifier(): boolean {
    return this.end > this.start;
  }

  /** Compares two identifiers as semver 2.0 does: numbers by value and before text, text by ASCII. */
  compareTo(other: VersionCursor): number {
    const numeric = this.isNumeric();
    if (numeric !== other.isNumeric()) return numeric ? -1 : 1;
    if (numeric && this.length !== other.length) return this.length - other.length;
    const shared = Math.min(this.length, other.length);
    for (let at = 0; at < shared; at++) {
      const order = this.unit(at) - other.unit(at);
      if (order !== 0) return order;
    }
    return this.length - other.length;
  }

  /** A dash ends the core only; within a pre-release it is part of an identifier. */
  private moveTo(start: number): void {
    const { version } = this;
    const past = this.position > 0 && version.charCodeAt(this.end) === PLUS;
    this.start = past ? version.length : start;
    this.end = this.start;
    for (; this.end < version.length; this.end++) {
      const unit = version.charCodeAt(this.end);
      if (unit === DOT || unit === PLUS || (unit === DASH && this.position < 3)) return;
    }
  }

  private get length(): number {
    return this.end - this.start;
  }

  private unit(at: number): number {
    return this.version.charCodeAt(this.start + at);
  }

  private isNumeric(): boolean {
    for (let at = 0; at < this.length; at++) if (!isDigit(this.unit(at))) return false;
    return true;
  }
}

// Shared by all calls: comparing is synchronous, so two cursors suffice, and nothing is allocated.
const left = new VersionCursor();
const right = new VersionCursor();

/**
 * Compares two valid versions as semver 2.0 does, without build metadata. Returns a negative number, zero, or a
 * positive number.
 */
function compareSemver(a: string, b: string): number {
  left.open(a);
  right.open(b);
  let compared = 0;
  for (; left.isAtIdentifier && right.isAtIdentifier; compared++) {
    const order = left.compareTo(right);
    if (order !== 0) return order;
    left.next();
    right.next();
  }
  // A release comes after its pre-releases. A pre-release with more parts comes after its prefix.
  if (compared === CORE) return Number(right.isAtIdentifier) - Number(left.isAtIdentifier);
  return Number(left.isAtIdentifier) - Number(right.isAtIdentifier);
}
