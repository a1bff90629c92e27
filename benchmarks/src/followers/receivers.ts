import { monotonic } from './child.js';

/** When a change reached receivers: pairs of the change and the time by the monotonic clock. */
export type Arrival = readonly [change: number, at: number];

/** What receivers have seen. */
export interface Seen {
  readonly arrivals: readonly Arrival[];
  readonly violations: readonly string[];
}

/** How far the receivers of a process are. */
export interface Progress {
  /** The oldest state that a receiver has. -1: a receiver has none. */
  readonly oldest: number;
  readonly newest: number;
}

/** Notes what each receiver of a process sees. Its state may never become older. */
export class Receivers {
  private readonly latest: number[];
  private arrivals: Arrival[] = [];
  private violations: string[] = [];

  constructor(count: number) {
    this.latest = Array.from({ length: count }, () => -1);
  }

  note(receiver: number, change: number): void {
    const before = this.latest[receiver] ?? -1;
    if (!(change >= before)) this.report(`receiver ${receiver} sees ${change} after ${before}`);
    if (!(change > before)) return;
    this.latest[receiver] = change;
    this.arrivals.push([change, monotonic()]);
  }

  report(violation: string): void {
    if (this.violations.length < 100) this.violations.push(violation);
  }

  progress(): Progress {
    return { oldest: Math.min(...this.latest), newest: Math.max(...this.latest) };
  }

  /** Returns what the receivers have seen since the previous call. */
  take(): Seen {
    const seen = { arrivals: this.arrivals, violations: this.violations };
    this.arrivals = [];
    this.violations = [];
    return seen;
  }
}
