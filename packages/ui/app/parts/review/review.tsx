import { describeEffects } from '@flags/core/admin';
import { useMemo, useRef, useState } from 'preact/hooks';
import { addressOf } from '../../api/call.js';
import type { Change } from '../../api/types.js';
import { asCurl, asTypeScript } from '../../model/as-code.js';
import { effectTable } from '../../model/effect-table.js';
import type { Way } from '../../model/ways.js';
import {
  applyReviewed,
  currentReview,
  type LaterTimes,
  needsReview,
  proposeReviewed,
  type Review,
  scheduleBody,
  scheduleReviewed,
  waysOfReview,
  withoutRevisions,
} from '../../state/changes.js';
import { type Proposed, usePreview } from '../../state/preview.js';
import { describeUsers } from '../../state/samples.js';
import { reviewScope, session } from '../../state/session.js';
import { plural, time } from '../../words.js';
import { Button, Code, Details, Segmented } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { isTime } from '../form/time-field.js';
import { PreviewResult } from '../preview/preview-parts.js';
import { Differences } from './differences.js';
import { Effects } from './effect-table.js';
import { firstTimes, TimesFields } from './times-fields.js';
import { NeedsApproval, WayField } from './way-field.js';

/** The review dialog of the current proposal. */
export function ReviewDialog() {
  const review = currentReview.value;
  return review === undefined ? null : <ReviewForm key={review.proposal} {...review} />;
}

function ReviewForm(review: Review) {
  const { proposal, plan, approvals } = review;
  const ways = waysOfReview(review);
  const [reason, setReason] = useState('');
  const [isSending, setSending] = useState(false);
  const [chosen, setChosen] = useState<Way>();
  const [later, setLater] = useState<LaterTimes>(firstTimes);
  const way = ways.find((one) => one === chosen) ?? ways[0];
  const bypasses = approvals !== undefined && way !== 'propose';
  const { title, text, changes, undoes } = proposal;
  const undo = undoes === undefined ? undefined : { id: undoes, documents: plan?.documents ?? [] };
  const proposed = { changes, undoes: undo };
  const documents = plan?.documents ?? [];
  const flags = documents.filter(({ kind }) => kind === 'flag');
  const changed = flags.map(({ id }) => id);
  const table = useMemo(() => effectTable(plan?.effects ?? [], changed, reviewScope.value), [plan]);
  const isTable = table.environments.length > 0 && table.environments.length * table.rows.length > 1;
  const isFolded = isTable && flags.length > 1;
  const environments = [...new Set(plan?.effects.map(({ environment }) => environment))];
  const label = environments.length === 1 ? `Change ${environments[0]}` : 'Apply changes';
  const submitText =
    way === 'propose' ? 'Propose' : way === 'later' ? scheduleText(later) : (proposal.confirm ?? label);
  const send = () => {
    const why = reason.trim();
    if (way === 'propose') return proposeReviewed(proposal, why);
    const reasoned = { reason: why, bypasses };
    return way === 'later' ? scheduleReviewed(proposal, later, reasoned) : applyReviewed(proposal, reasoned);
  };
  const isDanger = needsReview(plan) || (proposal.confirm !== undefined && !proposal.undoes);
  return (
    <FormDialog
      title={title}
      size={isTable ? 'wide' : 'large'}
      focus="title"
      submit={bypasses ? `${submitText}, without approval` : submitText}
      isDanger={way !== 'propose' && isDanger}
      blocked={way === undefined ? 'It needs approval.' : undefined}
      onSubmit={() => {
        setSending(true);
        return send().finally(() => setSending(false));
      }}
      onClose={() => {
        currentReview.value = undefined;
      }}
    >
      <Noticed plan={plan} isTable={isTable} />
      {text && <p>{text}</p>}
      {changes.length > 0 && <p class="muted">{plural(changes.length, 'change')}, one commit</p>}
      <Differences documents={isFolded ? documents.filter(({ kind }) => kind !== 'flag') : documents} />
      {isTable && <Effects table={table} proposed={proposed} isFixed={isSending} />}
      {isFolded && (
        <Details summary={`All differences of ${plural(flags.length, 'flag')}`}>
          {() => <Differences documents={flags} />}
        </Details>
      )}
      {!isTable &&
        environments.map((environment) => (
          <Effect key={environment} proposed={proposed} environment={environment} isFixed={isSending} />
        ))}
      {changes.length > 0 && way && !bypasses && (
        <ChangesAsCode changes={changes} way={way} later={later} reason={reason.trim()} />
      )}
      {approvals && <NeedsApproval approvals={approvals} ways={ways} isRevert={undoes !== undefined} />}
      <WayField ways={ways} way={way} needsApproval={approvals !== undefined} onChange={setChosen} />
      {way === 'later' && <TimesFields times={later} onChange={setLater} />}
      <ReasonField
        use={bypasses ? 'bypass' : way === 'propose' ? 'proposal' : 'change'}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}

function scheduleText({ at }: LaterTimes): string {
  return isTime(at) ? `Schedule for ${time(at)}` : 'Schedule';
}

interface NoticedProps extends Pick<Review, 'plan'> {
  /** Whether a table has the effects. */
  readonly isTable: boolean;
}

/** The exact effects on clients, from the plan instead of sampled users. */
function Noticed({ plan, isTable }: NoticedProps) {
  if (plan === undefined) return <p class="muted">You may not see what clients would notice.</p>;
  const { effects, hiddenEffects } = plan;
  const hidden = `${plural(hiddenEffects, 'difference')} in flags that you may not read`;
  const lines = [...(isTable ? [] : describeEffects(effects)), ...(hiddenEffects > 0 ? [hidden] : [])];
  if (lines.length === 0) return isTable ? null : <p>Clients notice nothing.</p>;
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

interface ChangesAsCodeProps {
  readonly changes: readonly Change[];
  readonly way: Way;
  readonly later: LaterTimes;
  readonly reason: string;
}

/** The change as a `curl` command and as TypeScript. */
function ChangesAsCode(props: ChangesAsCodeProps) {
  const [form, setForm] = useState<(typeof FORMS)[number][0]>('curl');
  const { action, ...coded } = requestOf(props);
  const { changes, options } = coded;
  const body = { changes, ...options };
  const text =
    form === 'curl'
      ? asCurl(body, addressOf(action).href, session.value?.auth !== 'none')
      : form === 'TypeScript'
        ? asTypeScript(coded)
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
function requestOf({ changes, way, later, reason }: ChangesAsCodeProps) {
  if (way === 'now') return { action: 'applyChanges', method: 'apply', changes } as const;
  if (way === 'later') {
    const { changes: scheduled, ...options } = scheduleBody(changes, later);
    return { action: 'createSchedule', method: 'createSchedule', changes: scheduled, options } as const;
  }
  const options = { reason: reason || 'Why' };
  return {
    action: 'createProposal',
    method: 'createProposal',
    changes: withoutRevisions(changes),
    options,
  } as const;
}
