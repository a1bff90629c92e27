import { compareCodePoints } from '../../base/collections.js';
import type { StrategyRef } from '../../base/common.types.js';
import { deepFreeze } from '../../base/json.js';
import { percentageParameter, shareOf } from '../../evaluation/strategies.js';
import type { DocumentKey } from '../../storage/port.js';
import { environmentOf, type FlagState, rolloutOf, rolloutsIn } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { nextAtOf } from '../flags/rollouts.decide.js';
import { findStrategy, type StrategyLocation } from '../flags/strategies.decide.js';
import type { EndedRollout, Rollout } from './rollout.types.js';

/** A rollout in memory, with its next time. */
export interface KnownRollout {
  /** Unique, and in the order of lists. */
  readonly key: string;
  readonly rollout: Rollout;
  /** Milliseconds since 1970; Infinity if the hold has no end. */
  readonly nextAt: number;
}

/**
 * The rollouts of all flags, from memory. The replica reports changed flags, so a poll over 100,000 flags reads only
 * those that roll out.
 */
export class RollingFlags {
  private readonly byFlag = new Map<string, readonly KnownRollout[]>();

  /** @param onNext called with the earliest next step of changed flags, in milliseconds since 1970 */
  constructor(
    private readonly flags: ReadonlyMap<string, FlagState>,
    private readonly onNext: (at: number) => void,
  ) {
    for (const name of flags.keys()) this.update(name);
  }

  /** Updates the rollouts of changed flags. */
  readonly follow = (changed: readonly DocumentKey[]): void => {
    let next = Number.POSITIVE_INFINITY;
    for (const { kind, id } of changed) if (kind === flagDocuments.kind) next = Math.min(next, this.update(id));
    if (next < Number.POSITIVE_INFINITY) this.onNext(next);
  };

  /** Yields all rollouts, in no order. */
  *all(): Generator<KnownRollout> {
    for (const known of this.byFlag.values()) yield* known;
  }

  /** Counts all rollouts, including those that a change set has written so far. */
  countWith(written: ReadonlyMap<string, FlagState | undefined>): number {
    let count = 0;
    for (const [flag, known] of this.byFlag) if (!written.has(flag)) count += known.length;
    for (const flag of written.values()) count += flag ? rolloutsIn(flag).length : 0;
    return count;
  }

  private update(name: string): number {
    const flag = this.flags.get(name);
    const known = flag ? rolloutsIn(flag).map((location) => toKnown(flag, location)) : [];
    if (known.length > 0) this.byFlag.set(name, known);
    else this.byFlag.delete(name);
    return known.reduce((soonest, { nextAt }) => Math.min(soonest, nextAt), Number.POSITIVE_INFINITY);
  }
}

function toKnown(flag: FlagState, location: StrategyLocation): KnownRollout {
  // Frozen, because the guard of the host gets parts of it.
  const rollout = deepFreeze(toRollout(flag, location) as Rollout);
  const nextAt = rollout.nextAt === null ? Number.POSITIVE_INFINITY : Date.parse(rollout.nextAt);
  return { key: keyOf(rollout.ref), rollout, nextAt };
}

/** Returns the rollout of a strategy as operations do. */
export function toRollout(flag: FlagState, location: StrategyLocation): Rollout | EndedRollout {
  const { environment, strategy } = location;
  const rollout = rolloutOf(environmentOf(flag, environment), strategy);
  const { name, parameters } = findStrategy(flag, location);
  const percentage = shareOf(parameters?.[percentageParameter(name) ?? '']);
  const ref: StrategyRef = { project: flag.project, flag: flag.name, environment, strategy };
  if (!rollout) return { ref, percentage, nextAt: null };
  const nextAt = nextAtOf(rollout);
  return { ref, percentage, nextAt: nextAt === undefined ? null : new Date(nextAt).toISOString(), ...rollout };
}

/** Names of flags and environments have no spaces. */
function keyOf({ flag, environment, strategy }: StrategyRef): string {
  return `${flag} ${environment} ${strategy}`;
}

/** Compares by time, then by flag, environment and strategy. */
export function byTime(one: KnownRollout, other: KnownRollout): number {
  return one.nextAt === other.nextAt ? compareCodePoints(one.key, other.key) : one.nextAt - other.nextAt;
}
