import type { ListedSchedule } from '../../api/types.js';
import { time } from '../../words.js';

/** What to do after a failure, where its message does not say it. */
const REMEDIES: Readonly<Record<string, string>> = {
  author_revoked: '',
  forbidden: 'Its author may not make this change any more: somebody with the permission can make it again.',
  revision_mismatch: 'If the change still fits, make it again.',
};

const REMEDY = 'Correct what the message names, then make the change again.';

/** A start later than this is worth a word. */
const LATE = 60_000;

/** Says what became of a schedule, and what to do about it; undefined if its state says everything. */
export function scheduleAdvice(schedule: ListedSchedule, now = Date.now()): string | undefined {
  const { state, at, notAfter, lateBy, changeSet, failure } = schedule;
  switch (state) {
    case 'pending':
      if (Date.parse(at) > now) return undefined;
      return `It is due. If no service that runs schedules can apply it until ${time(notAfter)}, it expires.`;
    case 'applied':
      if (changeSet === null) return 'It changed nothing: everything was already as it wanted.';
      return lateBy !== null && lateBy > LATE ? `It was applied late, on ${time(endOf(schedule))}.` : undefined;
    case 'failed': {
      const message = failure?.message.replace(/[^.!?]$/, '$&.') ?? '';
      return `Nothing was changed. ${message} ${REMEDIES[failure?.code ?? ''] ?? REMEDY}`.trim();
    }
    case 'expired':
      return `Nothing was changed: no service could apply it until ${time(notAfter)}. Check that one with runSchedules runs, then make the change again.`;
    default:
      return undefined;
  }
}

function endOf({ endedAt, at }: ListedSchedule): string {
  return endedAt ?? at;
}
