import { nextAtOf, type StrategyRollout } from '../../model/rollout.js';
import { time } from '../../words.js';

/** Says what comes next in a rollout. */
export function rolloutAdvice(rollout: StrategyRollout): string {
  const { state, steps, step, failure, guarded } = rollout;
  const next = steps[step + 1];
  const nextAt = nextAtOf(rollout);
  if (state === 'paused') {
    const message = failure?.message.replace(/[^.!?]$/, '$&.');
    return message ? `A step was refused. ${message}` : 'No step follows until somebody resumes it.';
  }
  if (nextAt === undefined) {
    return next ? `${next.percentage} % follows when you advance it.` : 'It is done when you advance it.';
  }
  const guard = guarded ? ', if the guard agrees' : '';
  return next ? `${next.percentage} % follows on ${time(nextAt)}${guard}.` : `It is done on ${time(nextAt)}.`;
}
