import type { ApprovalPolicy, ListedChangeRequest } from '../../api/types.js';
import { missingApprovals } from '../../model/change-request.js';
import { plural, time } from '../../words.js';

/** A request that was applied later than this says so, in milliseconds. */
const LATE = 60_000;

/** Says what a request waits for, or what became of it; undefined if its state says everything. */
export function requestAdvice(request: ListedChangeRequest, now = Date.now()): string | undefined {
  const { state, at, notAfter, required, lateBy, changeSet, failure, endedAt } = request;
  switch (state) {
    case 'open':
    case 'approved':
      return waitText(request, now);
    case 'applied':
      if (changeSet === null) return 'It changed nothing: everything was already as it wanted.';
      if (lateBy === null || lateBy <= LATE) return undefined;
      return `It was applied late, on ${time(endedAt ?? at ?? '')}.`;
    case 'failed': {
      const message = failure?.message.replace(/[^.!?]$/, '$&.') ?? '';
      return `Nothing was changed. ${message} ${REMEDIES[failure?.code ?? ''] ?? REMEDY}`.trim();
    }
    case 'expired': {
      const end = notAfter === null ? 'it was not applied in time' : `it could not be applied until ${time(notAfter)}`;
      const check = at !== null && required === 0 ? ' Check that a service which applies what is due runs.' : '';
      return `Nothing was changed: ${end}.${check} If the change still fits, request it again.`;
    }
    default:
      return undefined;
  }
}

/** What to do after a failure, where its message does not say it. */
const REMEDIES: Readonly<Record<string, string>> = {
  author_revoked: '',
  forbidden:
    'Whoever set its time may not make this change any more: somebody with the permission can request it again.',
  revision_mismatch: 'If the change still fits, request it again.',
};

const REMEDY = 'Correct what the message names, then request the change again.';

function waitText(request: ListedChangeRequest, now: number): string {
  const { at, notAfter, expiresAt, approvals } = request;
  const missing = missingApprovals(request);
  const lapsed = approvals.some(({ current }) => !current) ? 'What was approved is no longer what would happen. ' : '';
  const more = approvals.length > 0 ? 'more ' : '';
  const people = `${plural(missing, `${more}person`, `${more}people`)} must approve it`;
  const isDue = at !== null && Date.parse(at) <= now;
  const end = notAfter ?? expiresAt ?? '';
  if (at === null) {
    return missing > 0 ? `${lapsed}${people}. It expires on ${time(end)}.` : `It can be applied until ${time(end)}.`;
  }
  if (missing > 0) {
    const then = isDue ? 'Then it is applied at once' : `Then it is applied on ${time(at)}`;
    return `${lapsed}${people}. ${then}; it expires on ${time(end)}.`;
  }
  return isDue
    ? `It is due. If no service can apply it until ${time(end)}, it expires.`
    : `It is applied on ${time(at)}.`;
}

/** Describes a new approval policy: one line per environment that it changes. */
export function describePolicy(before: ApprovalPolicy, after: ApprovalPolicy): readonly string[] {
  const names = [...new Set([...Object.keys(before.environments), ...Object.keys(after.environments)])];
  return names.flatMap((name) => {
    const [was, is] = [before, after].map(({ environments }) => approvalCount(environments[name]?.required ?? 0));
    return was === is ? [] : [`approvals in ${name}: ${was} → ${is}`];
  });
}

function approvalCount(required: number): string {
  return required === 0 ? 'none' : plural(required, 'person', 'people');
}
