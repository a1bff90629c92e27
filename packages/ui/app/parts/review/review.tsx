import { describeEffects } from '@flags/core/admin';
import { useRef, useState } from 'preact/hooks';
import { addressOf } from '../../api/call.js';
import type { Change } from '../../api/types.js';
import { asCurl, asTypeScript } from '../../model/as-code.js';
import {
  applyReviewed,
  canSchedule,
  currentReview,
  type LaterTimes,
  needsReview,
  type Review,
  scheduleBody,
  scheduleReviewed,
} from '../../state/changes.js';
import { type Proposed, usePreview } from '../../state/preview.js';
import { describeUsers } from '../../state/samples.js';
import { session } from '../../state/session.js';
import { plural, time } from '../../words.js';
import { Button, Code, Segmented } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { isTime } from '../form/time-field.js';
import { PreviewResult } from '../preview/preview-parts.js';
import { Differences } from './differences.js';
import { LaterFields } from './later-fields.js';

/** The review dialog of the current proposal. */
export function ReviewDialog() {
  const review = currentReview.value;
  return review === undefined ? null : <ReviewForm key={review.proposal} {...review} />;
}

function ReviewForm({ proposal, plan }: Review) {
  const [reason, setReason] = useState('');
  const [isSending, setSending] = useState(false);
  const [later, setLater] = useState<LaterTimes>();
  const { title, text, changes, undoes } = proposal;
  const undo = undoes === undefined ? undefined : { id: undoes, documents: plan?.documents ?? [] };
  const proposed = { changes, undoes: undo };
  const environments = [...new Set(plan?.effects.map(({ environment }) => environment))];
  const label = environments.length === 1 ? `Change ${environments[0]}` : 'Apply changes';
  return (
    <FormDialog
      title={title}
      size="large"
      focus="title"
      submit={later === undefined ? (proposal.confirm ?? label) : submitText(later)}
      isDanger={needsReview(plan) || (proposal.confirm !== undefined && !proposal.undoes)}
      onSubmit={() => {
        setSending(true);
        const why = reason.trim();
        const sent = later ? scheduleReviewed(proposal, later, why) : applyReviewed(proposal, why);
        return sent.finally(() => setSending(false));
      }}
      onClose={() => {
        currentReview.value = undefined;
      }}
    >
      <Noticed plan={plan} />
      {text && <p>{text}</p>}
      {changes.length > 0 && <p class="muted">{plural(changes.length, 'change')}, one commit</p>}
      <Differences documents={plan?.documents ?? []} />
      {environments.map((environment) => (
        <Effect key={environment} proposed={proposed} environment={environment} isFixed={isSending} />
      ))}
      {changes.length > 0 && <ChangesAsCode changes={changes} later={later} />}
      {canSchedule(proposal) && <LaterFields later={later} onChange={setLater} />}
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

function submitText({ at }: LaterTimes): string {
  return isTime(at) ? `Schedule for ${time(at)}` : 'Schedule';
}

/** The exact effects on clients, from the plan instead of sampled users. */
function Noticed({ plan }: Pick<Review, 'plan'>) {
  if (plan === undefined) return <p class="muted">You may not see what clients would notice.</p>;
  const { effects, hiddenEffects } = plan;
  const hidden = `${plural(hiddenEffects, 'difference')} in flags that you may not read`;
  const lines = [...describeEffects(effects), ...(hiddenEffects > 0 ? [hidden] : [])];
  if (lines.length === 0) return <p>Clients notice nothing.</p>;
  return (
    <ul class="noticed" aria-label="What clients notice">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

interface EffectProps {
  readonly proposed: Proposed;
  readonly environment: string;
  /** Asks for nothing more: a preview of what has just been applied, or undone, would be refused. */
  readonly isFixed: boolean;
}

const NOTHING: Proposed = { changes: [] };

/** How many of the sampled users change, in one environment. */
function Effect({ proposed, environment, isFixed }: EffectProps) {
  const current = usePreview(isFixed ? NOTHING : proposed, environment);
  const latest = useRef(current);
  if (!isFixed) latest.current = current;
  const preview = latest.current;
  const users = preview.flags?.find(({ missing }) => missing.size === 0)?.users;
  return (
    <div class="effect">
      <PreviewResult preview={preview} environment={environment} nameOf={(flag) => `${flag} in ${environment}`} />
      {users && (
        <p class="muted">
          Counted over {describeUsers(users)}
          {users.groups && `: ${users.groups}`}.
        </p>
      )}
    </div>
  );
}

const FORMS = [
  ['curl', 'curl'],
  ['TypeScript', 'TypeScript'],
  ['JSON', 'JSON'],
] as const;

/** The change as a `curl` command and as TypeScript. */
function ChangesAsCode({
  changes,
  later,
}: {
  readonly changes: readonly Change[];
  readonly later: LaterTimes | undefined;
}) {
  const [form, setForm] = useState<(typeof FORMS)[number][0]>('curl');
  const body = later === undefined ? { changes } : scheduleBody(changes, later);
  const address = addressOf(later === undefined ? 'applyChanges' : 'createSchedule').href;
  const text =
    form === 'curl'
      ? asCurl(body, address, session.value?.auth !== 'none')
      : form === 'TypeScript'
        ? asTypeScript(body)
        : JSON.stringify(later === undefined ? changes : body, null, 2);
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
