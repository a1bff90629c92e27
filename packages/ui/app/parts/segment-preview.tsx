import { useState } from 'preact/hooks';
import type { Change, PreviewedFlag, SegmentUse } from '../api/types.js';
import { countPreview, usePreview } from '../state/preview.js';
import { hasPastedSamples, samples } from '../state/samples.js';
import { answer, number, plural } from '../words.js';
import { SamplesDialog } from './preview-panel.js';
import { Fault } from './states.js';

interface SegmentPreviewProps {
  readonly changes: readonly Change[];
  readonly uses: readonly SegmentUse[];
  /** What the draft still lacks. */
  readonly missing: string | undefined;
}

/** Who changes by the draft of a segment: for each flag that uses it, and for each flag that depends on one. */
export function SegmentPreview({ changes, uses, missing }: SegmentPreviewProps) {
  const [isEditing, setEditing] = useState(false);
  const environments = [...new Set(uses.map((use) => use.environment))];
  const [chosen, setChosen] = useState<string>();
  const environment = chosen ?? environments.find((name) => name === 'production') ?? environments[0];
  const isAsked = missing === undefined && environment !== undefined;
  const { flags, error, isCurrent } = usePreview(isAsked ? changes : [], environment ?? '');
  return (
    <aside class="card preview" aria-labelledby="preview">
      <header class="card-head">
        <h2 id="preview">Preview</h2>
        <span class="muted">
          {plural(samples.value.length, hasPastedSamples.value ? 'pasted user' : 'made-up user')}
        </span>
        <span class="stretch" />
        <button type="button" class="quiet" onClick={() => setEditing(true)}>
          Edit the list
        </button>
      </header>
      {environments.length > 1 && (
        <label class="inline-field">
          Environment
          <select value={environment} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            {environments.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {error && <Fault error={error} />}
      {missing !== undefined && <p class="muted">{missing}</p>}
      {uses.length === 0 && <p class="muted">No strategy uses this segment yet: nobody changes.</p>}
      {isAsked && changes.length === 0 && (
        <p class="muted">Change a constraint: this shows who gets other flags then, before it is saved.</p>
      )}
      <div role="status" aria-live="polite" class={isCurrent ? '' : 'waiting'}>
        {isAsked && changes.length > 0 && flags?.length === 0 && <p>Nobody changes in {environment}.</p>}
        {isAsked && changes.length > 0 && flags?.map((flag) => <FlagCounts key={flag.flag} previewed={flag} />)}
      </div>
      {isAsked && flags && <ChangedUsers flags={flags} />}
      {isEditing && <SamplesDialog onClose={() => setEditing(false)} />}
    </aside>
  );
}

function FlagCounts({ previewed }: { readonly previewed: PreviewedFlag }) {
  const { before, after, becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  return (
    <div class="flag-counts">
      <p>
        <strong>{previewed.flag}</strong>: now on for <b>{number(before)}</b> <span class="arrow">→</span> then for{' '}
        <b>{number(after)}</b>
      </p>
      <ul class="flips">
        <li class={becomeOn > 0 ? 'gain' : 'muted'}>+ {number(becomeOn)} become on</li>
        <li class={becomeOff > 0 ? 'loss' : 'muted'}>− {number(becomeOff)} become off</li>
        {otherVariant > 0 && <li>~ {number(otherVariant)} get another variant</li>}
      </ul>
    </div>
  );
}

/** Users shown one by one. */
const SHOWN = 50;

function ChangedUsers({ flags }: { readonly flags: readonly PreviewedFlag[] }) {
  const rows = flags.flatMap(({ flag, contexts }) =>
    contexts.flatMap(({ before, after }, index) =>
      answer(before) === answer(after) ? [] : [{ flag, before, after, name: samples.value[index]?.name ?? '' }],
    ),
  );
  if (rows.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="people" tabIndex={0} aria-label="Users who change">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Flag</th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ flag, before, after, name }) => (
            <tr key={`${flag} ${name}`}>
              <th scope="row">{name}</th>
              <td>{flag}</td>
              <td class={before.enabled ? 'on' : 'off'}>{answer(before)}</td>
              <td class={after.enabled ? 'on' : 'off'}>{answer(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p class="muted">and {plural(rows.length - SHOWN, 'more change')}</p>}
    </section>
  );
}
