import type { Rollout } from '@flags/http/wire';

type Progress = Pick<Rollout, 'steps' | 'step' | 'state' | 'guarded' | 'failure'>;

/** Such as `10 → [50] → 100`: the step in brackets is taken. */
export function progressOf({ steps, step, guarded }: Progress): string {
  const taken = steps.map(({ percentage }, index) => (index === step ? `[${percentage}]` : `${percentage}`));
  return `${taken.join(' → ')}${guarded ? ', guarded' : ''}`;
}

/** Such as `paused: The token of ada was deleted.` */
export function stateOf({ state, failure }: Progress): string {
  return failure === null ? state : `${state}: ${failure.message}`;
}

/** Says where a rollout is: "rolls out 10 → [50] → 100, running". */
export function describeProgress(rollout: Progress): string {
  return `rolls out ${progressOf(rollout)}, ${stateOf(rollout)}`;
}
