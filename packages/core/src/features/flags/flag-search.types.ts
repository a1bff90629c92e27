import type { ListPage } from '../../base/common.types.js';
import type { AudiencePart } from '../../words/audience.js';
import type { FlagMembers } from './flag.types.js';

/** The keys by which flags are sorted; `-` sorts in descending order. Flags of equal keys are in name order. */
export const FLAG_SORTS = [
  ...(['name', 'createdAt', 'lastSeenAt', 'type'] as const),
  ...(['-name', '-createdAt', '-lastSeenAt', '-type'] as const),
] as const;

/** The order of a list of flags. */
export type FlagSort = (typeof FLAG_SORTS)[number];

/** Selects flags. All given members must match. A list matches if any of its items does. */
export interface FlagQuery {
  /** Part of the name, the description, a label or the owner, in any case of letters. */
  readonly query?: string;
  /** The beginning of the name. */
  readonly namePrefix?: string;
  readonly project?: string | readonly string[];
  readonly type?: string;
  /** A whole label. */
  readonly label?: string | readonly string[];
  /** The whole owner. */
  readonly owner?: string;
  readonly stale?: boolean;
  /** true: only archived flags. Default: only flags that are not archived. */
  readonly archived?: boolean;
  /** An environment in which the flag is enabled. */
  readonly enabledIn?: string;
  /** Default: `name`, in code-point order. By `lastSeenAt`, flags without reports come first. */
  readonly sort?: FlagSort;
}

/** A flag in a list. */
export interface FlagOverview extends Omit<FlagMembers, 'impressionData'> {
  readonly name: string;
  readonly project: string;
  readonly archived: boolean;
  /** ISO 8601, UTC, milliseconds; null if the flag is not archived. */
  readonly archivedAt: string | null;
  /**
   * As in `getFlag`, but too low if another process has given the flag a child since its last change. Such an
   * `ifRevision` is refused, never wrongly accepted.
   */
  readonly revision: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly lastSeenAt: string | null;
  /** Every environment of the instance, in the configured order. */
  readonly environments: readonly EnvironmentOverview[];
}

/** A flag's state in one environment. */
export interface EnvironmentOverview {
  readonly name: string;
  readonly enabled: boolean;
  /** All strategies, disabled ones too. */
  readonly strategyCount: number;
  /**
   * The largest percentage of users that one strategy admits, 0–100. A strategy without a percentage counts as 100, a
   * disabled one as 0; 0 without strategies. Constraints and segments may admit fewer users.
   */
  readonly rollout: number;
  /** Whether the flag has variants, or a strategy in this environment has. */
  readonly hasVariants: boolean;
  /** The users that the strategies admit while the flag is enabled, in at most two parts. Empty without strategies. */
  readonly audience: readonly AudiencePart[];
  /** The parent that switches the flag off here for everybody, although it is enabled; null if none does. */
  readonly offBecauseOf: string | null;
}

/** A page of the list of flags, or the whole list. */
export interface FlagPage extends ListPage<FlagOverview> {
  /** The number of all matching flags, on all pages. */
  readonly total: number;
}
