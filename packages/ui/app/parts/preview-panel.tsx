import { useState } from 'preact/hooks';
import type { Change, PreviewedFlag, Strategy } from '../api/types.js';
import { rolloutOf } from '../model/describe.js';
import { version } from '../state/changes.js';
import { countPreview, usePreview } from '../state/preview.js';
import { hasPastedSamples, keepSamples, MAX_SAMPLES, samples, sampleText } from '../state/samples.js';
import { explanationsFor, viewAs } from '../state/view-as.js';
import { answer, bucketText, number, plural, reason, why } from '../words.js';
import { Dialog } from './dialog.js';
import { DraftAnswer } from './draft-answer.js';
import { Field } from './field.js';
import { Fault } from './states.js';

interface PreviewPanelProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  readonly changes: readonly Change[];
  readonly strategies: readonly Strategy[];
  /** What the draft still lacks. */
  readonly missing: string | undefined;
}

/** Who changes by the draft: counted over the sampled users, and one by one. */
export function PreviewPanel({ project, flag, environment, changes, strategies, missing }: PreviewPanelProps) {
  const [isEditing, setEditing] = useState(false);
  const { flags, error, isCurrent } = usePreview(changes, environment);
  const own = flags?.find((one) => one.flag === flag);
  const others = flags?.filter((one) => one.flag !== flag) ?? [];
  return (
    <aside class="card preview" aria-labelledby="preview">
      <header class="card-head">
        <h2 id="preview">Preview</h2>
        <span class="muted">
          {hasPastedSamples.value
            ? plural(samples.value.length, 'pasted user')
            : `${plural(samples.value.length, 'made-up user')}`}
        </span>
        <span class="stretch" />
        <button type="button" class="quiet" onClick={() => setEditing(true)}>
          Edit the list
        </button>
      </header>
      {error && error.status !== 404 && <Fault error={error} />}
      {missing !== undefined && <p class="muted">{missing}</p>}
      {changes.length === 0 && missing === undefined && (
        <p class="muted">Change a strategy: this shows who gets the flag then, before it is saved.</p>
      )}
      <div role="status" aria-live="polite" class={isCurrent ? '' : 'waiting'}>
        {own && <Counts previewed={own} />}
        {changes.length > 0 && flags && own === undefined && <p>Nobody changes in {environment}.</p>}
        {others.filter(isAffected).map((child) => (
          <p key={child.flag} class="child">
            {child.flag} depends on it: {child.before.enabled} → {child.after.enabled}
          </p>
        ))}
      </div>
      {own && <Buckets previewed={own} strategies={strategies} />}
      {own && <People previewed={own} />}
      <Viewed project={project} flag={flag} environment={environment} />
      <DraftAnswer flag={flag} environment={environment} changes={changes} />
      {isEditing && <SamplesDialog onClose={() => setEditing(false)} />}
    </aside>
  );
}

function Counts({ previewed }: { readonly previewed: PreviewedFlag }) {
  const { before, after, becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  return (
    <>
      <p class="counts">
        now on for <b>{number(before)}</b> <span class="arrow">→</span> then for <b>{number(after)}</b>
      </p>
      <ul class="flips">
        <li class={becomeOn > 0 ? 'gain' : 'muted'}>+ {number(becomeOn)} become on</li>
        <li class={becomeOff > 0 ? 'loss' : 'muted'}>− {number(becomeOff)} become off</li>
        {otherVariant > 0 && <li>~ {otherVariant} get another variant</li>}
      </ul>
    </>
  );
}

/** Whether any of the users gets another answer. */
function isAffected({ contexts }: PreviewedFlag): boolean {
  return contexts.some(({ before, after }) => answer(before) !== answer(after));
}

/** The buckets came with the preview: the slider compares numbers, without another request. */
function Buckets({
  previewed,
  strategies,
}: {
  readonly previewed: PreviewedFlag;
  readonly strategies: readonly Strategy[];
}) {
  const { contexts } = previewed;
  return (
    <>
      {strategies.map((strategy, index) => {
        const rollout = rolloutOf(strategy);
        if (strategy.id === undefined || rollout === undefined) return null;
        const buckets = contexts.flatMap((context) => context.buckets.filter((one) => one.strategy === strategy.id));
        const inside = buckets.filter(({ bucket }) => bucket !== null && bucket <= rollout).length;
        return (
          <p key={strategy.id} class="muted">
            Strategy {index + 1}: {inside} of {buckets.length} in the rollout of {rollout} %
          </p>
        );
      })}
    </>
  );
}

/** Users shown one by one: those who change come first. */
const SHOWN = 50;

function People({ previewed: { contexts } }: { readonly previewed: PreviewedFlag }) {
  const rows = contexts.map((context, index) => ({
    ...context,
    name: samples.value[index]?.name ?? String(index + 1),
  }));
  const isChanged = ({ before, after }: (typeof rows)[number]) => answer(before) !== answer(after);
  const sorted = rows.toSorted((one, other) => Number(isChanged(other)) - Number(isChanged(one)));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="people" tabIndex={0} aria-label="Users">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, SHOWN).map((row, index) => (
            <tr key={`${row.name} ${index}`} class={isChanged(row) ? 'changed' : ''}>
              <th scope="row">{row.name}</th>
              <td class={row.before.enabled ? 'on' : 'off'}>{answer(row.before)}</td>
              <td class={row.after.enabled ? 'on' : 'off'}>{answer(row.after)}</td>
              <td class="muted">
                {row.buckets.length > 0 ? row.buckets.map(bucketText).join(', ') : reason(row.after.reason)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN && <p class="muted">and {plural(sorted.length - SHOWN, 'more user')}</p>}
    </section>
  );
}

/** The stored state for the context of *View as*. */
function Viewed({ project, flag, environment }: Pick<PreviewPanelProps, 'project' | 'flag' | 'environment'>) {
  const context = viewAs.value;
  const explained = context && explanationsFor(project, environment, version.value)?.get(flag);
  if (!context || !explained) return null;
  return (
    <p class="viewed">
      For {context.userId ?? 'this context'}, it is now{' '}
      <span class={explained.enabled ? 'answer on' : 'answer off'}>{answer(explained)}</span>{' '}
      <small>{why(explained)}</small>
    </p>
  );
}

export function SamplesDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState(sampleText.value);
  return (
    <Dialog title="Users of the preview" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          keepSamples(text.trim());
          onClose();
        }}
      >
        <div class="dialog-body">
          <Field
            label="Users"
            hint={`One per line, at most ${MAX_SAMPLES}: a user ID, fields such as userId=7, country=DE, or a context as JSON. Kept in this tab. Empty: made-up users.`}
          >
            {(ids) => (
              <textarea
                {...ids}
                rows={12}
                spellcheck={false}
                value={text}
                onInput={({ currentTarget }) => setText(currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Use this list
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
