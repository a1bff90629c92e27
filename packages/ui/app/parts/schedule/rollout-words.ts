import type { Rollout } from '../../api/types.js';
import { time } from '../../words.js';

export const ROLLOUT_STATES: Readonly<Record<Rollout['state'], string>> = {
  running: 'Running',
  waiting: 'Waiting for you',
  paused: 'Paused',
  done: 'Done',
  ended: 'Ended',
  'rolled-back': 'Rolled back',
};

const ENDS: Readonly<Record<string, string>> = {
  'strategy-changed': 'Somebody changed the strategy, which ended it.',
  'environment-switched': 'Somebody switched the flag there, which ended it.',
  'flag-archived': 'The flag was archived, which ended it.',
  'flag-moved': 'The flag was moved to another project, which ended it.',
  'flag-deleted': 'The flag was deleted, which ended it.',
  'history-lost': 'The storage lost the last step, which ended it.',
};

/** Says what comes next, or what became of a rollout; undefined if its state says everything. */
export function rolloutAdvice(rollout: Rollout): string | undefined {
  const { state, steps, step, nextAt, startedFrom, ended, failure, guarded } = rollout;
  const next = steps[step + 1];
  switch (state) {
    case 'running': {
      if (nextAt === null) return undefined;
      const guard = guarded ? ', if the guard agrees' : '';
      return next ? `${next.rollout} % follows on ${time(nextAt)}${guard}.` : `It is done on ${time(nextAt)}.`;
    }
    case 'waiting':
      return next ? `${next.rollout} % follows when you advance it.` : 'It is done when you advance it.';
    case 'paused': {
      const message = failure?.message.replace(/[^.!?]$/, '$&.');
      return message && `A step was refused. ${message}`;
    }
    case 'rolled-back':
      return ended?.reason === 'guard'
        ? `The guard took it back to ${startedFrom} %.`
        : `It was taken back to ${startedFrom} %.`;
    case 'ended':
      return ENDS[ended?.reason ?? ''];
    default:
      return undefined;
  }
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
