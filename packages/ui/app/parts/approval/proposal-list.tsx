import { describeEffects } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import type { ApprovalPolicy, ListedProposal } from '../../api/types.js';
import { approvalPolicy } from '../../state/approvals.js';
import { isEnded, useProposalPlan, waitsForCaller } from '../../state/proposals.js';
import { plural, time } from '../../words.js';
import { Ago } from '../control/answer.js';
import { Details, Link } from '../control/controls.js';
import { Loading } from '../frame/states.js';
import { Differences } from '../review/differences.js';
import { holdText } from '../schedule/rollout-words.js';
import { FlagLinks } from '../schedule/schedule-list.js';
import { ProposalMoves } from './proposal-moves.js';
import { describePolicy, PROPOSAL_STATES, proposalAdvice, type ShownProposal } from './proposal-words.js';

interface ProposalListProps {
  readonly proposals: readonly ShownProposal[];
  /** The flag of the screen, which the entries do not name. */
  readonly flag?: string | undefined;
  /** Whether to show at once what the proposals change. Each needs a plan. */
  readonly isOpen?: boolean;
}

/** Proposals: who, why, what changes, who has approved it, and buttons for what comes next. */
export function ProposalList({ proposals, flag, isOpen = false }: ProposalListProps) {
  return (
    <ol class="timeline">
      {proposals.map((proposal) => {
        const { id, reason, state } = proposal;
        const advice = proposalAdvice(proposal);
        return (
          <li key={id}>
            <ProposalHead proposal={proposal} flag={flag} isOpen={isOpen} />
            <p class="reason">{reason}</p>
            {advice && <p class={state === 'lapsed' ? 'fault-text' : 'muted'}>{advice}</p>}
            <Approvals proposal={proposal} />
            {proposal.rollout && <ProposedSteps rollout={proposal.rollout} />}
            {!proposal.rollout && !isEnded(state) && isOpen && <WouldChange id={id} />}
            {!proposal.rollout && !isEnded(state) && !isOpen && (
              <Details summary="What changes">{() => <WouldChange id={id} />}</Details>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface ProposalProps {
  readonly proposal: ShownProposal;
}

function ProposalHead({ proposal, flag, isOpen }: ProposalProps & Omit<ProposalListProps, 'proposals'>) {
  const { id, state, createdAt, author, environments, changeSet, schedule, rollout } = proposal;
  const isWaiting = waitsForCaller(proposal as ListedProposal);
  return (
    <div class="entry-head">
      <span class={state === 'lapsed' ? 'tag warning' : 'tag'}>{PROPOSAL_STATES[state]}</span>
      {isWaiting && <span class="tag warning">waits for you</span>}
      <Link class="when" to={['proposals', id]} action={`Go to the proposal of ${author.name}, ${time(createdAt)}`}>
        <Ago at={createdAt} />
      </Link>
      <FlagLinks flags={proposal.flags} flag={flag} />
      {environments.map((name) => (
        <span key={name} class="tag">
          {name}
        </span>
      ))}
      {rollout && <span class="tag">rollout</span>}
      <span class="muted">
        by <strong>{author.name}</strong>
      </span>
      {state === 'scheduled' && schedule !== null && <Link to={['schedules', schedule]}>Show the schedule</Link>}
      {changeSet !== null && <Link to={['events', changeSet]}>Show the change</Link>}
      <ProposalMoves proposal={proposal} isOpen={isOpen === true} />
    </div>
  );
}

/** Who has approved a proposal, and whether that still holds. */
function Approvals({ proposal: { approvals, required } }: ProposalProps) {
  if (required === 0 && approvals.length === 0) return null;
  const count = approvals.filter(({ current = true }) => current).length;
  return (
    <div class="approvals">
      <p class="muted">
        {count} of {plural(required, 'approval')}
      </p>
      {approvals.length > 0 && (
        <ul aria-label="Approvals">
          {approvals.map(({ actor, at, reason, current }) => (
            <li key={actor}>
              <strong>{actor}</strong> approved it <Ago at={at} />
              {reason !== null && reason !== '' && `: ${reason}`}{' '}
              {current === false && <span class="tag warning">lapsed</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The steps that a proposal would take. */
function ProposedSteps({
  rollout: { ref, steps, guarded },
}: {
  readonly rollout: NonNullable<ShownProposal['rollout']>;
}) {
  return (
    <>
      <ol class="rollout-steps" aria-label={`Proposed steps of the rollout of ${ref.flag}`}>
        {steps.map(({ rollout, hold }, index) => (
          <li key={index}>
            <strong>{rollout} %</strong>
            <small>{hold !== 0 && holdText(hold)}</small>
          </li>
        ))}
      </ol>
      {guarded && <p class="muted">A guard watches each step.</p>}
    </>
  );
}

/** What a proposal would change now, in words, and what clients would notice. */
function WouldChange({ id }: { readonly id: string }) {
  const { data: detail } = useResource('getProposal', { params: { proposal: id } });
  const { data, error } = useProposalPlan(id);
  if (error?.status === 403) return <p class="muted">You may not see what it changes.</p>;
  if (error) return <p class="fault-text">If it were applied now, it would fail: {error.message}</p>;
  if (data === undefined || detail === undefined) return <Loading rows={1} />;
  const policies = detail.changes.flatMap((change) =>
    change.op === 'setApprovalPolicy' ? describePolicy(approvalPolicy.value, change.input as ApprovalPolicy) : [],
  );
  const notices = describeEffects(data.effects);
  const isNothing = policies.length === 0 && data.documents.every(({ events }) => events.length === 0);
  if (isNothing) return <p class="muted">Now it would change nothing.</p>;
  return (
    <>
      {notices.length > 0 && (
        <ul class="noticed" aria-label="What clients notice">
          {notices.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {policies.length > 0 && (
        <ul class="differences" aria-label="Approvals that changes need">
          {policies.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <Differences documents={data.documents} />
    </>
  );
}
