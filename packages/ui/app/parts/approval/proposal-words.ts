import type { ApprovalPolicy, ListedProposal, Proposal } from '../../api/types.js';
import { plural, time } from '../../words.js';

export const PROPOSAL_STATES: Readonly<Record<ListedProposal['state'], string>> = {
  open: 'Waiting for approval',
  approved: 'Approved',
  scheduled: 'Scheduled',
  applied: 'Applied',
  rejected: 'Rejected',
  withdrawn: 'Withdrawn',
  lapsed: 'Lapsed',
};

/** A proposal of a list does not say which of its approvals still hold. */
export type ShownProposal = Omit<ListedProposal, 'approvals'> & {
  readonly approvals: readonly (Omit<Proposal['approvals'][number], 'current'> & { readonly current?: boolean })[];
};

/** Returns how many approvals are missing. Those of a list are all counted. */
export function missingApprovals({ required, approvals }: ShownProposal): number {
  return Math.max(0, required - approvals.filter(({ current = true }) => current).length);
}

/** Says what a proposal waits for, or what became of it; undefined if its state says everything. */
export function proposalAdvice(proposal: ShownProposal): string | undefined {
  const { state, required, approvals, expiresAt, changeSet } = proposal;
  const missing = missingApprovals(proposal);
  const hasLapsed = approvals.some(({ current }) => current === false);
  const again = hasLapsed ? 'What was approved is no longer what would happen. ' : '';
  const more = approvals.length > 0 ? 'more ' : '';
  switch (state) {
    case 'open':
    case 'approved':
    case 'scheduled':
      if (missing > 0) {
        const people = plural(missing, `${more}person`, `${more}people`);
        return `${again}${people} must approve it. It lapses on ${time(expiresAt)}.`;
      }
      if (state === 'scheduled') return undefined;
      return required === 0
        ? 'It needs no approval, so it can be applied.'
        : `It can be applied until ${time(expiresAt)}.`;
    case 'applied':
      return changeSet === null ? 'It changed nothing: everything was already as it wanted.' : undefined;
    case 'lapsed':
      return 'Nothing was changed. If the change still fits, propose it again.';
    default:
      return undefined;
  }
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

/** Returns the message of a refusal without the id of the proposal, which the page shows. */
export function refusalOfProposal(message: string): string {
  return message.replace(/\b[Tt]he proposal [0-9a-f-]{36}/g, 'it').replace(/(^|[.] )it /g, '$1It ');
}
