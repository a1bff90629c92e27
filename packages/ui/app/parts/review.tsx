import { useState } from 'preact/hooks';
import { type ApiError, addressOf } from '../api/call.js';
import type { Change } from '../api/types.js';
import { asCurl, asTypeScript } from '../model/as-code.js';
import { carryOut, type Proposal, reviewed } from '../state/changes.js';
import { usePreview } from '../state/preview.js';
import { isReviewed, session } from '../state/session.js';
import { plural } from '../words.js';
import { Dialog } from './dialog.js';
import { Differences } from './differences.js';
import { ReasonField } from './field.js';
import { Icon } from './icons.js';
import { Counts, OtherUsers, sampleCount } from './preview-parts.js';
import { Fault } from './states.js';

/** The review of a proposal, while there is one. */
export function ReviewDialog() {
  const proposal = reviewed.value;
  return proposal === undefined ? null : <Review key={proposal.title} proposal={proposal} />;
}

function Review({ proposal }: { readonly proposal: Proposal }) {
  const [reason, setReason] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isSaving, setSaving] = useState(false);
  const environments = proposal.environments ?? environmentsOf(proposal.changes);
  const close = () => {
    reviewed.value = undefined;
  };
  const apply = async () => {
    setSaving(true);
    const refusal = await carryOut(proposal, reason.trim());
    setSaving(false);
    if (refusal === undefined || (refusal.status === 412 && proposal.onConflict)) close();
    else setError(refusal);
  };
  return (
    <Dialog title={proposal.title} size="large" onClose={close}>
      <div class="dialog-body">
        <p class="muted">{plural(proposal.changes.length, 'change')}, one commit</p>
        {proposal.differences && <Differences list={proposal.differences} />}
        {environments.map((environment) => (
          <Effect key={environment} changes={proposal.changes} environment={environment} />
        ))}
        <Code changes={proposal.changes} />
        <ReasonField value={reason} onChange={setReason} />
        {error && <Fault error={error} />}
      </div>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class={environments.some(isReviewed) ? 'danger' : 'primary'}
          aria-disabled={isSaving}
          onClick={() => !isSaving && void apply()}
        >
          {isSaving ? 'Saving…' : labelOf(environments)}
        </button>
      </div>
    </Dialog>
  );
}

function labelOf(environments: readonly string[]): string {
  return environments.length === 1 ? `Change ${environments[0]}` : 'Apply changes';
}

function environmentsOf(changes: readonly Change[]): readonly string[] {
  return [...new Set(changes.flatMap(({ ref }) => (ref?.environment === undefined ? [] : [String(ref.environment)])))];
}

/** How many of the sampled users change, in one environment. */
function Effect({ changes, environment }: { readonly changes: readonly Change[]; readonly environment: string }) {
  const { flags, error } = usePreview(changes, environment);
  if (error !== undefined) return error.status === 404 ? null : <Fault error={error} />;
  if (flags === undefined) return <p class="effect muted">Counting who changes…</p>;
  return (
    <div class="effect" role="status">
      {flags.length === 0 && <p>Nobody changes in {environment}.</p>}
      {flags.map((flag) => (
        <Counts key={flag.flag} previewed={flag} name={`${flag.flag} in ${environment}`} />
      ))}
      {flags.some(({ missing }) => missing.size === 0) && <p class="muted">Counted over {sampleCount()}.</p>}
      <OtherUsers flags={flags} />
    </div>
  );
}

const FORMS = ['curl', 'TypeScript', 'JSON'] as const;

/** The change as it could be made elsewhere. */
function Code({ changes }: { readonly changes: readonly Change[] }) {
  const [form, setForm] = useState<(typeof FORMS)[number]>('curl');
  const text =
    form === 'curl'
      ? asCurl(changes, addressOf('applyChanges').href, session.value?.auth !== 'none')
      : form === 'TypeScript'
        ? asTypeScript(changes)
        : JSON.stringify(changes, null, 2);
  return (
    <details class="code">
      <summary>As code</summary>
      <div class="code-head">
        <fieldset class="segmented">
          <legend class="hidden">Form</legend>
          {FORMS.map((name) => (
            <label key={name}>
              <input type="radio" name="form" checked={form === name} onChange={() => setForm(name)} />
              {name}
            </label>
          ))}
        </fieldset>
        <button type="button" class="quiet" onClick={() => void navigator.clipboard?.writeText(text)}>
          <Icon name="copy" /> Copy
        </button>
      </div>
      <pre>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <code tabIndex={0}>{text}</code>
      </pre>
    </details>
  );
}
