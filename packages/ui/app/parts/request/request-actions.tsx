import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ActionName } from '../../api/actions.js';
import { ApiError, call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { ChangeRequest, ListedChangeRequest } from '../../api/types.js';
import { isOpen, missingApprovals, refusalOfRequest } from '../../model/change-request.js';
import { isCaller, isOwn, mayOn, projectFor } from '../../state/change-requests.js';
import { type LaterTimes, repeatUnknown } from '../../state/changes.js';
import { whileApplying } from '../../state/preview.js';
import { acceptsTimes } from '../../state/session.js';
import { showToast } from '../../state/toasts.js';
import { time } from '../../words.js';
import { DialogButton, Link, Segmented } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { firstTimes, laterText, meaningOf, TimesFields } from '../review/way-field.js';
import { CopyButton } from './copy-dialog.js';

interface ActionsProps {
  readonly request: ListedChangeRequest;
  readonly title: string;
  /** What the request would do, and the hash of it, which an approval needs. Absent in lists. */
  readonly seen?: Seen;
}

interface Seen extends Pick<ChangeRequest, 'effect' | 'changes'> {
  readonly content: ComponentChildren;
}

/** The buttons for what comes next: approve, apply, reject, withdraw, or request an edited copy. */
export function RequestActions({ request, title, seen }: ActionsProps) {
  const { id, state } = request;
  const isMine = isOwn(request);
  const mayDecide = mayOn(request, 'decideChangeRequest');
  const action = { request, title };
  return (
    <span class="end actions">
      {!seen && isOpen(state) && missingApprovals(request) > 0 && (
        <Link class="button" to={['changes', id]} label={`Open: ${title}`}>
          Open
        </Link>
      )}
      {seen && isOpen(state) && !isMine && <ApproveButton {...action} seen={seen} />}
      {isOpen(state) && (state === 'approved' || seen) && <ApplyButton {...action} />}
      {isOpen(state) && !isMine && mayDecide && <DecideButton {...action} {...REJECT} />}
      {isOpen(state) && seen && <DecideButton {...action} {...WITHDRAW} />}
      {seen && <CopyButton request={request} title={title} changes={seen.changes} />}
    </span>
  );
}

interface ActionProps {
  readonly request: ListedChangeRequest;
  readonly title: string;
}

type DialogOf<Props> = Props & { readonly onClose: () => void };

function decide<T>(send: () => Promise<T>, done: string): Promise<void> {
  return whileApplying(() => sendDecision(send, done));
}

/** Sends a decision. The message of a refusal leaves out the id of the request, which the page shows already. */
async function sendDecision<T>(send: () => Promise<T>, done: string): Promise<void> {
  try {
    await send();
    showToast({ tone: 'done', text: done });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const own = 'You made this request, so somebody else must decide on it.';
    const message = error.code === 'own_change_request' ? own : refusalOfRequest(error.message);
    throw new ApiError(error.status, error.code, message, error.details);
  } finally {
    await invalidateAfterChange();
  }
}

interface Decision {
  readonly action: Extract<ActionName, 'rejectChangeRequest' | 'withdrawChangeRequest'>;
  readonly permission: string;
  readonly verb: string;
  readonly done: string;
}

const REJECT: Decision = {
  action: 'rejectChangeRequest',
  permission: 'decideChangeRequest',
  verb: 'Reject',
  done: 'The request was rejected.',
};

const WITHDRAW: Decision = {
  action: 'withdrawChangeRequest',
  permission: 'withdrawChangeRequest',
  verb: 'Withdraw',
  done: 'The request was withdrawn.',
};

function DecideButton({ request, title, ...decision }: ActionProps & Decision) {
  const { permission, verb } = decision;
  return (
    <DialogButton
      class="quiet"
      needs={[permission]}
      project={projectFor(request, permission)}
      label={`${verb}: ${title}`}
      dialog={(close) => <DecideDialog request={request} title={title} {...decision} onClose={close} />}
    >
      {verb}…
    </DialogButton>
  );
}

function DecideDialog({ request: { id }, title, action, verb, done, onClose }: DialogOf<ActionProps & Decision>) {
  const [reason, setReason] = useState('');
  const submit = async () => {
    await decide(() => call(action, { params: { request: id }, reason: reason.trim() }), done);
    onClose();
  };
  return (
    <FormDialog
      title={`${verb}: ${title}?`}
      submit={verb}
      isDanger
      dismiss="Keep it"
      onSubmit={submit}
      onClose={onClose}
    >
      <ReasonField
        use={action === 'rejectChangeRequest' ? 'rejection' : 'change'}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}

interface ApproveProps extends ActionProps {
  readonly seen: Seen;
}

function ApproveButton({ request, title, seen }: ApproveProps) {
  const mine = request.approvals.find(({ actor }) => isCaller(actor));
  if (request.required === 0 || mine?.current) return null;
  return (
    <DialogButton
      class="primary"
      needs={['decideChangeRequest']}
      project={projectFor(request, 'decideChangeRequest')}
      label={`Approve: ${title}`}
      blocked={seen.effect === null ? 'Its changes would be refused now.' : undefined}
      dialog={(close) => <ApproveDialog request={request} title={title} seen={seen} onClose={close} />}
    >
      Approve…
    </DialogButton>
  );
}

/**
 * Shows what the request would do, and sends that effect with the approval. If the effect has changed since, the dialog
 * shows the new one and asks again.
 */
function ApproveDialog({ request: { id }, title, seen, onClose }: DialogOf<ApproveProps>) {
  const [reason, setReason] = useState('');
  const [effect, setEffect] = useState(seen.effect);
  const [hasChanged, setChanged] = useState(false);
  // True until the page shows the content of the changed effect: nobody can approve content that is not shown yet.
  const [isReading, setReading] = useState(false);
  useEffect(() => {
    if (!isReading || seen.effect === effect) return;
    setEffect(seen.effect);
    setReading(false);
  }, [isReading, seen.effect]);
  const submit = async () => {
    const options = { params: { request: id }, body: { effect }, reason: reason.trim() };
    try {
      await decide(() => call('approveChangeRequest', options), 'The request was approved.');
    } catch (error) {
      if ((error as ApiError).code !== 'effect_changed') throw error;
      setChanged(true);
      setReading(true);
      return;
    }
    onClose();
  };
  return (
    <FormDialog
      title={`Approve: ${title}?`}
      size="large"
      focus="title"
      submit="Approve"
      blocked={isReading ? 'Reading what it would do now.' : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {hasChanged && (
        <p class="notice warning" role="alert">
          Somebody has changed something since you read this, so it was not approved. This is what the request would do
          now: read it, and approve it again.
        </p>
      )}
      {seen.content}
      <p class="muted">
        You approve what it would do now. If that becomes something else, your approval does not count.
        {seen.changes.some(({ op }) => op === 'startRollout') && ' You approve every step of the rollout.'}
      </p>
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

function ApplyButton({ request, title }: ActionProps) {
  const { state, at } = request;
  const isWaiting = state === 'open';
  // A request that lacks approvals cannot be applied now, but can get a time.
  if (isWaiting && !acceptsTimes.value) return null;
  return (
    <DialogButton
      class={!isWaiting && at === null ? 'primary' : 'quiet'}
      needs={['applyChangeRequest']}
      project={projectFor(request, 'applyChangeRequest')}
      label={isWaiting ? `Set a time: ${title}` : `Apply: ${title}`}
      dialog={(close) => <ApplyDialog request={request} title={title} onClose={close} />}
    >
      {isWaiting ? 'Set a time…' : 'Apply…'}
    </DialogButton>
  );
}

/** Applies a request, now or at a time. */
function ApplyDialog({ request, title, onClose }: DialogOf<ActionProps>) {
  const { id, state, at, ifUnchanged } = request;
  const isWaiting = state === 'open';
  const [reason, setReason] = useState('');
  const [isLater, setLater] = useState(isWaiting);
  const [times, setTimes] = useState<LaterTimes>(() => ({ ...firstTimes(), ...(at !== null && { at }), ifUnchanged }));
  const submit = async () => {
    const body = isLater ? { at: times.at } : {};
    const options = { params: { request: id }, body, reason: reason.trim() };
    const done = isLater ? `Scheduled for ${time(times.at)}. Nothing has changed yet.` : 'The request was applied.';
    await decide(() => repeatUnknown((key) => call('applyChangeRequest', { ...options, key })), done);
    onClose();
  };
  return (
    <FormDialog
      title={isWaiting ? `Set a time: ${title}` : `Apply: ${title}?`}
      submit={isLater ? laterText(times) : 'Apply now'}
      onSubmit={submit}
      onClose={onClose}
    >
      {!isWaiting && acceptsTimes.value && (
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
      {isLater && <TimesFields times={times} onChange={setTimes} isRequested />}
      {isLater && (
        <p class="notice" role="status">
          {meaningOf(times, isWaiting)}
        </p>
      )}
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}
