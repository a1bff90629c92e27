const DASH = 0x2d;
const DOT = 0x2e;
const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;

/** Stands on one identifier of a version after the other: the three numbers, then the parts of the pre-release. */
export class VersionCursor {
  private version = '';
  private start = 0;
  private end = 0;
  private position = 0;

  open(version: string): void {
    this.version = version;
    this.position = 0;
    this.standAt(0);
  }

  next(): void {
    this.position++;
    this.standAt(this.end + 1);
  }

  /** Whether it stands on an identifier: not when it is past the last one. */
  get stands(): boolean {
    return this.end > this.start;
  }

  /** By semver 2.0: numbers by value and before text, text by ASCII. */
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

  /** A dash ends the core alone: within a pre-release it is part of an identifier. */
  private standAt(start: number): void {
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
    for (let at = 0; at < this.length; at++) if (this.unit(at) < ZERO || this.unit(at) > NINE) return false;
    return true;
  }
}
