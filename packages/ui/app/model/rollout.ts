import type { Strategy } from '../api/types.js';

/** The rollout of a strategy. */
export type StrategyRollout = NonNullable<Strategy['rollout']>;

export const ROLLOUT_STATES: Readonly<Record<StrategyRollout['state'], string>> = {
  running: 'Rolls out',
  waiting: 'Waits to be advanced',
  paused: 'Paused',
};

/** Returns the times at which steps were or will be taken, from the present one on; undefined if that is open. */
export function stepTimes({
  steps,
  step,
  since,
  state,
}: Pick<StrategyRollout, 'steps' | 'step' | 'since' | 'state'>): readonly (string | undefined)[] {
  let next: number | undefined = Date.parse(since);
  return steps.map(({ hold }, index) => {
    if (index < step || next === undefined) return undefined;
    const at = next;
    next = hold === null || state === 'paused' ? undefined : at + hold;
    return new Date(at).toISOString();
  });
}

/** Returns when the next step is due, or the rollout is done; undefined while that is open. */
export function nextAtOf({ steps, step, since, state }: StrategyRollout): string | undefined {
  const hold = steps[step]?.hold ?? null;
  return hold === null || state === 'paused' ? undefined : new Date(Date.parse(since) + hold).toISOString();
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
] as const;

/** Says how long a step stays: "2 days"; null: until somebody advances it. */
export function holdText(hold: number | null): string {
  if (hold === null) return 'until you advance it';
  const [size, unit] = UNITS.find(([one]) => hold >= one && hold % one === 0) ?? [1_000, 'second'];
  const count = Math.round((hold / size) * 10) / 10;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The percentage from before the start. */
export function startedFromOf({ startedFrom }: Pick<StrategyRollout, 'startedFrom'>): number {
  return Number(startedFrom?.value ?? 0);
}
