import { rolloutsEndedBy } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import { addressOf } from '../../api/call.js';
import type { Plan } from '../../api/types.js';
import { asCurl, asTypeScript } from '../../model/as-code.js';
import type { Way } from '../../model/ways.js';
import {
  applyReviewed,
  currentReview,
  type LaterTimes,
  needsReview,
  type Proposal,
  type Review,
  requestedChanges,
  requestOptions,
  requestReviewed,
  waysOfReview,
} from '../../state/changes.js';
import { session } from '../../state/session.js';
import { Button, Code, Segmented } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { PlannedChanges, useEffectTable } from './planned-changes.js';
import { EndedRollouts, firstTimes, laterText, WayField } from './way-field.js';

/** The review dialog of the current proposal. */
export function ReviewDialog() {
  const review = currentReview.value;
  return review === undefined ? null : <ReviewForm key={review.proposal} {...review} />;
}

function ReviewForm(review: Review) {
  const { proposal, plan, approval } = review;
  const { title, text, changes, undoes, requested } = proposal;
  const ways = waysOfReview(review);
  const [reason, setReason] = useState(proposal.reason ?? '');
  const [isSending, setSending] = useState(false);
  const [chosen, setChosen] = useState<Way>();
  const [later, setLater] = useState<LaterTimes>(firstTimes);
  const way = ways.find((one) => one === chosen) ?? ways[0];
  const bypasses = approval !== null && way === 'now';
  const { isTable } = useEffectTable(plan);
  const environments = [...new Set(plan?.effects.map(({ environment }) => environment))];
  const label = environments.length === 1 ? `Change ${environments[0]}` : 'Apply changes';
  const leavesOrder = requested !== undefined && way !== undefined && way !== 'now';
  const send = () => {
    const why = reason.trim();
    if (way === 'now') return applyReviewed(proposal, { reason: why, bypasses });
    return requestReviewed(proposal, why, way === 'later' ? later : undefined);
  };
  const submitText =
    way === 'request'
      ? approval
        ? 'Request approval'
        : 'Request the change'
      : way === 'later'
        ? laterText(later)
        : (proposal.confirm ?? label);
  const isDanger = needsReview(plan) || (proposal.confirm !== undefined && !undoes);
  return (
    <FormDialog
      title={title}
      size={isTable ? 'wide' : 'large'}
      focus="title"
      submit={bypasses ? `${submitText}, without approval` : submitText}
      isDanger={way !== 'request' && isDanger}
      blocked={blockOf({ way, leavesOrder, requested })}
      onSubmit={() => {
        setSending(true);
        return send().finally(() => setSending(false));
      }}
      onClose={() => {
        currentReview.value = undefined;
      }}
    >
      <PlannedChanges plan={plan} changes={changes} undoes={undoes} text={text} isFixed={isSending} />
      {(changes.length > 0 || undoes !== undefined) && way && !bypasses && (undoes === undefined || way !== 'now') && (
        <ChangesAsCode proposal={proposal} way={way} later={later} reason={reason.trim()} />
      )}
      {/* The warnings depend on the way: above it, they would move its buttons when one is chosen. */}
      <WayField ways={ways} way={way} approval={approval} times={later} onChoose={setChosen} onTimes={setLater} />
      <EndedRollouts
        ended={rolloutsEndedBy(plan?.documents ?? [])}
        way={way}
        endsRollouts={plan === undefined || plan.documents.some(canEndRollouts)}
      />
      {leavesOrder && (
        <p class="notice warning">
          A request does not order strategies while one of them rolls out: change the order when that rollout has ended.
        </p>
      )}
      <ReasonField
        use={bypasses ? 'bypass' : way === 'request' ? 'request' : 'change'}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}

interface Blocked extends Pick<Proposal, 'requested'> {
  readonly way: Way | undefined;
  readonly leavesOrder: boolean;
}

function blockOf({ way, leavesOrder, requested }: Blocked): string | undefined {
  if (way === undefined) return 'It needs approval, or a permission.';
  return leavesOrder && requested?.length === 0 ? 'Only the order has changed.' : undefined;
}

/** Whether the changes of a document end rollouts. Steps, pauses and resumes do not. */
function canEndRollouts({ kind, events }: Plan['documents'][number]): boolean {
  const isMove = events.some(({ type, data }) => type.startsWith('rollout-') && Object(data).reason !== 'changed');
  return kind === 'flag' && !isMove && events.some(({ type }) => ENDING.test(type));
}

const ENDING = /^feature-(strategy-(update|remove)|environment-disabled|archived|deleted|project-change)$/;

const FORMS = [
  ['curl', 'curl'],
  ['TypeScript', 'TypeScript'],
  ['JSON', 'JSON'],
] as const;

interface ChangesAsCodeProps {
  readonly proposal: Proposal;
  readonly way: Way;
  readonly later: LaterTimes;
  readonly reason: string;
}

/** The change as a `curl` command and as TypeScript. */
function ChangesAsCode(props: ChangesAsCodeProps) {
  const [form, setForm] = useState<(typeof FORMS)[number][0]>('curl');
  const { action, method, changes, options } = requestOf(props);
  const body = { changes, ...options };
  const text =
    form === 'curl'
      ? asCurl(body, addressOf(action).href, session.value?.auth !== 'none')
      : form === 'TypeScript'
        ? asTypeScript({ method, changes, options })
        : JSON.stringify(options === undefined ? changes : body, null, 2);
  return (
    <details class="code">
      <summary>As code</summary>
      <div class="code-head">
        <Segmented legend="Form" name="form" value={form} options={FORMS} onChange={setForm} />
        <Button class="quiet" onClick={() => navigator.clipboard?.writeText(text)}>
          <Icon name="copy" /> Copy
        </Button>
      </div>
      <Code>{text}</Code>
    </details>
  );
}

/** The request that makes reviewed changes, and the call of the engine that does the same. */
function requestOf({ proposal, way, later, reason }: ChangesAsCodeProps) {
  if (way === 'now') {
    return { action: 'applyChanges', method: 'apply', changes: proposal.changes, options: undefined } as const;
  }
  const options = { ...requestOptions(proposal, way === 'later' ? later : undefined), ...(reason && { reason }) };
  const changes = requestedChanges(proposal);
  return { action: 'createChangeRequest', method: 'changeRequests.create', changes, options } as const;
}
