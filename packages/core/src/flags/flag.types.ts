import type { Dependency } from './dependency.types.js';
import type { FlagEnvironment } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** A flag without its configuration per environment. */
export interface Flag {
  /** Unique in the instance, archived flags included. */
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  /** One of the configured flag types. */
  readonly type: string;
  readonly stale: boolean;
  readonly impressionData: boolean;
  readonly archived: boolean;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  /** Empty if the flag has no variants. */
  readonly variants: readonly Variant[];
  /** In the given order, without duplicates. */
  readonly labels: readonly string[];
  /** A user, a team or a mail address; null if the flag has no owner. */
  readonly owner: string | null;
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

/** A flag in a list. */
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

/** A flag in the list of archived flags. */
export interface ArchivedFlag extends FlagSummary {
  readonly project: string;
  readonly archived: true;
  /** ISO 8601, UTC, milliseconds. */
  readonly archivedAt: string;
  readonly description: string | null;
  readonly impressionData: boolean;
}

/** A flag to create. */
export interface NewFlag {
  /** 1–100 characters that need no encoding in a URL (`encodeURIComponent(name) === name`), not `.` or `..`. */
  readonly name: string;
  /** Default: `''`. */
  readonly description?: string | null;
  /** Default: `release` if configured, or else the first configured type. */
  readonly type?: string;
  /** Default: false. */
  readonly impressionData?: boolean;
  /** At most 20, each of 1–50 characters and unique. Flags keep their order. Default: `[]`. */
  readonly labels?: readonly string[];
  /** 1–200 characters. Default: null. */
  readonly owner?: string | null;
}

/** Absent members stay unchanged. A `null` description or owner clears it. */
export interface FlagChanges {
  readonly description?: string | null;
  readonly type?: string;
  readonly stale?: boolean;
  readonly impressionData?: boolean;
  /** Replaces all labels. */
  readonly labels?: readonly string[];
  readonly owner?: string | null;
}

/** Labels to add and to remove. A label in both lists is added. */
export interface LabelChanges {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}
