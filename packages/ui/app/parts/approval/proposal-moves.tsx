import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionName } from '../../api/actions.js';
import { ApiError, call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { Change } from '../../api/types.js';
import { currentProject } from '../../router.js';
import { type LaterTimes, propose, repeatUnknown } from '../../state/changes.js';
import { isCaller, isOwn, plannedOf } from '../../state/proposals.js';
import { may, offers } from '../../state/session.js';
import { showToast } from '../../state/toasts.js';
import { time } from '../../words.js';
import { Button, DialogButton, Link, Segmented } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { isTime } from '../form/time-field.js';
import { firstTimes, TimesFields } from '../review/times-fields.js';
import { missingApprovals, refusalOfProposal, type ShownProposal } from './proposal-words.js';

interface MovesProps {
  readonly proposal: ShownProposal;
  /** Whether the screen shows what the proposal changes: nobody approves without that. */
  readonly isOpen: boolean;
}

/** The buttons for what comes next: approve, reject, withdraw, apply, or propose again. */
export function ProposalMoves({ proposal, isOpen }: MovesProps) {
  const { state, rollout } = proposal;
  const isMine = isOwn(proposal);
  const isActive = state === 'open' || state === 'approved' || state === 'scheduled';
  const mayDecide = may('decideProposal', projectOf(proposal, 'decideProposal'));
  return (
    <span class="end">
      {isActive && !isOpen && missingApprovals(proposal) > 0 && (
        <Link class="button" to={['proposals', proposal.id]} label={`Open ${subjectOf(proposal)}`}>
          Open
        </Link>
      )}
      {isActive && isOpen && !isMine && <ApproveButton proposal={proposal} />}
      {state === 'approved' && <ApplyButton proposal={proposal} />}
      {isActive && !isMine && <RejectButton proposal={proposal} />}
      {isActive && (isMine || !mayDecide) && <WithdrawButton proposal={proposal} />}
      {state === 'lapsed' && !rollout && <RepeatButton proposal={proposal} />}
    </span>
  );
}

/** Returns a project of the proposal in which the caller lacks a permission, or else any of them. */
function projectOf({ flags }: ShownProposal, action: string): string {
  const projects = flags.map(({ project }) => project);
  return projects.find((project) => !may(action, project)) ?? projects[0] ?? currentProject();
}

type Decision = Extract<ActionName, 'approveProposal' | 'rejectProposal' | 'withdrawProposal'>;

/** Sends a decision. Its refusal does not repeat the id of the proposal, which the page shows. */
async function decide({ id }: ShownProposal, action: Decision, reason: string): Promise<void> {
  await inWords(() => call(action, { params: { proposal: id }, reason: reason.trim() }));
}

async function inWords<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    await invalidateAfterChange();
    if (!(error instanceof ApiError)) throw error;
    const own = 'You made this proposal, so somebody else must approve it.';
    const message = error.code === 'own_proposal' ? own : refusalOfProposal(error.message);
    throw new ApiError(error.status, error.code, message, error.details);
  }
}

interface DecideButtonProps {
  readonly proposal: ShownProposal;
  readonly action: Decision;
  /** The permission that it needs. */
  readonly permission: string;
  readonly verb: string;
  readonly title: string;
  readonly done: string;
  readonly isDanger?: boolean;
  readonly isReasoned?: boolean;
  readonly children?: ComponentChildren;
}

function DecideButton({ proposal, permission, verb, ...decision }: DecideButtonProps) {
  const subject = subjectOf(proposal);
  return (
    <DialogButton
      class={decision.isDanger ? 'quiet' : undefined}
      needs={[permission]}
      project={projectOf(proposal, permission)}
      label={`${verb} ${subject}`}
      dialog={(close) => <DecideDialog {...decision} verb={verb} proposal={proposal} onClose={close} />}
    >
      {verb}…
    </DialogButton>
  );
}

function subjectOf({ author, flags }: ShownProposal): string {
  const [first] = flags;
  return `the proposal of ${author.name}${first ? ` for ${first.flag}` : ''}`;
}

interface DecideDialogProps extends Omit<DecideButtonProps, 'permission'> {
  readonly onClose: () => void;
}

function DecideDialog({
  proposal,
  action,
  verb,
  title,
  done,
  isDanger,
  isReasoned,
  children,
  onClose,
}: DecideDialogProps) {
  const [reason, setReason] = useState('');
  const submit = async () => {
    await decide(proposal, action, reason);
    onClose();
    showToast({ tone: 'done', text: done });
    await invalidateAfterChange();
  };
  return (
    <FormDialog title={title} submit={verb} isDanger={isDanger ?? false} onSubmit={submit} onClose={onClose}>
      {children}
      <ReasonField use={isReasoned ? 'rejection' : 'change'} value={reason} onChange={setReason} />
    </FormDialog>
  );
}

interface ProposalProps {
  readonly proposal: ShownProposal;
}

function ApproveButton({ proposal }: ProposalProps) {
  const mine = proposal.approvals.find(({ actor }) => isCaller(actor));
  if (missingApprovals(proposal) === 0 || (mine && mine.current !== false)) return null;
  return (
    <DecideButton
      proposal={proposal}
      action="approveProposal"
      permission="decideProposal"
      verb="Approve"
      title={`Approve ${subjectOf(proposal)}?`}
      done="The proposal was approved."
    >
      <p>You approve what it would do now. If that becomes something else, your approval lapses.</p>
    </DecideButton>
  );
}

function RejectButton({ proposal }: ProposalProps) {
  return (
    <DecideButton
      proposal={proposal}
      action="rejectProposal"
      permission="decideProposal"
      verb="Reject"
      title={`Reject ${subjectOf(proposal)}?`}
      done="The proposal was rejected."
      isDanger
      isReasoned
    />
  );
}

function WithdrawButton({ proposal }: ProposalProps) {
  return (
    <DecideButton
      proposal={proposal}
      action="withdrawProposal"
      permission="withdrawProposal"
      verb="Withdraw"
      title={`Withdraw ${subjectOf(proposal)}?`}
      done="The proposal was withdrawn."
      isDanger
    />
  );
}

function ApplyButton({ proposal }: ProposalProps) {
  return (
    <DialogButton
      needs={['applyProposal']}
      project={projectOf(proposal, 'applyProposal')}
      blocked={missingApprovals(proposal) > 0 ? 'Its approvals have lapsed.' : undefined}
      label={`Apply ${subjectOf(proposal)}`}
      dialog={(close) => <ApplyDialog proposal={proposal} onClose={close} />}
    >
      Apply…
    </DialogButton>
  );
}

/** Applies an approved proposal, now or at a time. A rollout starts now: its steps have times of their own. */
function ApplyDialog({ proposal, onClose }: ProposalProps & { readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [isLater, setLater] = useState(false);
  const [times, setTimes] = useState<LaterTimes>(firstTimes);
  const { id, rollout } = proposal;
  const canSchedule = !rollout && offers('createSchedule', projectOf(proposal, 'createSchedule'));
  const submit = async () => {
    const body = isLater ? { at: times.at } : {};
    const why = reason.trim();
    await inWords(() =>
      repeatUnknown((key) => call('applyProposal', { params: { proposal: id }, body, key, reason: why })),
    );
    onClose();
    const done = isLater ? `Scheduled for ${time(times.at)}. Nothing has changed yet.` : 'The proposal was applied.';
    showToast({ tone: 'done', text: done });
    await invalidateAfterChange();
  };
  const now = rollout ? `Start with ${rollout.steps[0]?.rollout} %` : 'Apply now';
  return (
    <FormDialog
      title={`Apply ${subjectOf(proposal)}?`}
      submit={isLater ? (isTime(times.at) ? `Schedule for ${time(times.at)}` : 'Schedule') : now}
      onSubmit={submit}
      onClose={onClose}
    >
      {canSchedule && (
        <Segmented
          legend="When to apply"
          name="when"
          value={isLater ? 'later' : 'now'}
          options={[
            ['now', 'Apply now'],
            ['later', 'At a time'],
          ]}
          onChange={(when) => setLater(when === 'later')}
        />
      )}
      {isLater && <TimesFields times={times} onChange={setTimes} isApproved />}
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

/** Opens the review for the changes of a proposal that lapsed. */
function RepeatButton({ proposal }: ProposalProps) {
  const repeat = async () => {
    const { data } = await call('getProposal', { params: { proposal: proposal.id } });
    await propose({
      title: 'Propose the change again',
      changes: plannedOf(data).map(({ ifRevision: _ifRevision, ...change }) => change as Change),
      isReviewed: true,
      done: 'The change was made.',
    });
  };
  return (
    <Button
      class="quiet"
      needs={['createProposal']}
      project={projectOf(proposal, 'createProposal')}
      label={`Propose again: ${subjectOf(proposal)}`}
      onClick={repeat}
    >
      Propose again…
    </Button>
  );
}
