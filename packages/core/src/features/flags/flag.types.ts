import type { Dependency } from './dependency.types.js';
import type { FlagEnvironment } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** The members of a flag that its creation and `updateFlag` set. */
export interface FlagMembers {
  /** At most 10,000 characters. In a new flag `''` by default; null if it was cleared. */
  readonly description: string | null;
  /** One of the configured flag types. In a new flag `release` by default, or the first type if that is not configured. */
  readonly type: string;
  /** In a new flag always false. */
  readonly stale: boolean;
  /** In a new flag false by default. */
  readonly impressionData: boolean;
  /** At most 20, each of 1–50 characters and unique, in the given order. In a new flag `[]` by default. */
  readonly labels: readonly string[];
  /** A user, a team or a mail address, 1–200 characters; null by default, if the flag has no owner. */
  readonly owner: string | null;
}

/** A flag without its configuration per environment. */
export interface Flag extends FlagMembers {
  /** Unique in the instance, archived flags included. */
  readonly name: string;
  readonly project: string;
  readonly archived: boolean;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** Empty if the flag has no variants. */
  readonly variants: readonly Variant[];
  /**
   * Increases with every change of the flag, and when another flag becomes its child; never with metrics. Pass it as
   * `ifRevision`.
   */
  readonly revision: number;
}

/** A flag with its configuration in every environment of the instance, in the configured order. */
export interface FlagDetail extends Flag {
  /** The end of the latest client report that counted the flag; null without reports. */
  readonly lastSeenAt: string | null;
  readonly environments: readonly FlagEnvironment[];
  /** The parents, in the order of their addition. */
  readonly dependencies: readonly Dependency[];
  /** Names of the flags that depend on this one, in name order, without archived flags. */
  readonly children: readonly string[];
}

/** A flag in its project. */
export interface FlagSummary {
  readonly name: string;
  readonly type: string;
  readonly stale: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  readonly environments: readonly EnvironmentSummary[];
}

/** A flag's switch in one environment. */
export interface EnvironmentSummary {
  readonly name: string;
  readonly displayName: string;
  readonly enabled: boolean;
}

/** A flag to create. */
export interface NewFlag extends Partial<Omit<FlagMembers, 'stale'>> {
  /** 1–100 characters that need no encoding in a URL (`encodeURIComponent(name) === name`), not `.` or `..`. */
  readonly name: string;
}

/** Absent members stay unchanged. `labels` replaces all labels. A `null` description or owner clears it. */
export interface FlagChanges extends Partial<FlagMembers> {}

/** Labels to add and to remove. A label in both lists is added. */
export interface LabelChanges {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}
