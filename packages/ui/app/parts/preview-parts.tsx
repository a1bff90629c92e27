import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/call.js';
import type { Context, PreviewedFlag } from '../api/types.js';
import { currentProject } from '../router.js';
import { countPreview } from '../state/preview.js';
import { hasPastedSamples, keepSamples, MAX_SAMPLES, samples, sampleText } from '../state/samples.js';
import { offers } from '../state/session.js';
import { answer, number, plural } from '../words.js';
import { FormDialog } from './dialog.js';
import { Field } from './field.js';

/** Returns over whom a preview counts: "20 made-up users". */
export function sampleCount(): string {
  return plural(samples.value.length, hasPastedSamples.value ? 'pasted user' : 'made-up user');
}

/** The frame of a preview: over whom it counts, and the way to change that. */
export function PreviewFrame({ children }: { readonly children: ComponentChildren }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <aside class="card preview" aria-labelledby="preview">
      <header class="card-head">
        <h2 id="preview">Preview</h2>
        <span class="muted">{sampleCount()}</span>
        <span class="stretch" />
        <button type="button" class="quiet" onClick={() => setEditing(true)}>
          Edit the list
        </button>
      </header>
      {children}
      {isEditing && <SamplesDialog onClose={() => setEditing(false)} />}
    </aside>
  );
}

/** How many users have a flag now and then, and how many of them change. */
export function Counts({ previewed, name }: { readonly previewed: PreviewedFlag; readonly name?: string }) {
  const { before, after, becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  return (
    <div class="flag-counts">
      <p class="counts">
        {name && (
          <>
            <strong>{name}</strong>:{' '}
          </>
        )}
        now on for <b>{number(before)}</b> <span class="arrow">→</span> then for <b>{number(after)}</b>
      </p>
      <ul class="flips">
        <li class={becomeOn > 0 ? 'gain' : 'muted'}>+ {number(becomeOn)} become on</li>
        <li class={becomeOff > 0 ? 'loss' : 'muted'}>− {number(becomeOff)} become off</li>
        {otherVariant > 0 && <li>~ {number(otherVariant)} get another variant</li>}
      </ul>
    </div>
  );
}

type PreviewedContext = PreviewedFlag['contexts'][number];

/** A user of the preview, by the name in the list of samples. */
export interface PreviewedUser extends PreviewedContext {
  readonly name: string;
}

export function usersOf({ contexts }: PreviewedFlag): readonly PreviewedUser[] {
  return contexts.map((context, index) => ({ ...context, name: samples.value[index]?.name ?? String(index + 1) }));
}

export function isChanged({ before, after }: PreviewedContext): boolean {
  return answer(before) !== answer(after);
}

/** Users shown one by one. */
const SHOWN = 50;

interface UserTableProps<User extends PreviewedUser> {
  readonly label: string;
  readonly users: readonly User[];
  /** The column beside the answers. */
  readonly column: string;
  readonly cell: (user: User) => string;
}

export function UserTable<User extends PreviewedUser>({ label, users, column, cell }: UserTableProps<User>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="people" tabIndex={0} aria-label={label}>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
            <th scope="col">{column}</th>
          </tr>
        </thead>
        <tbody>
          {users.slice(0, SHOWN).map((user, index) => (
            <tr key={`${user.name} ${index}`} class={isChanged(user) ? 'changed' : ''}>
              <th scope="row">{user.name}</th>
              <td class={user.before.enabled ? 'on' : 'off'}>{answer(user.before)}</td>
              <td class={user.after.enabled ? 'on' : 'off'}>{answer(user.after)}</td>
              <td class="muted">{cell(user)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {users.length > SHOWN && <p class="muted">and {number(users.length - SHOWN)} more</p>}
    </section>
  );
}

/** The contexts that the process has kept. None unless the host keeps them, and lets the caller see them. */
function useRecentContexts(): readonly Context[] {
  const [contexts, setContexts] = useState<readonly Context[]>([]);
  const isOffered = offers('listRecentContexts', currentProject());
  useEffect(() => {
    if (!isOffered) return;
    const reading = new AbortController();
    call('listRecentContexts', { signal: reading.signal }).then(
      ({ data }) => setContexts(data.contexts),
      // Users can still be pasted.
      () => setContexts([]),
    );
    return () => reading.abort();
  }, [isOffered]);
  return contexts;
}

function SamplesDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState(sampleText.value);
  const recent = useRecentContexts();
  const keep = () => {
    keepSamples(text.trim());
    onClose();
  };
  return (
    <FormDialog title="Users of the preview" submit="Use this list" onSubmit={keep} onClose={onClose}>
      <Field
        label="Users"
        hint={`One per line, at most ${number(MAX_SAMPLES)}: a user ID, fields such as userId=7, country=DE, or a context as JSON. Kept in this tab. Empty: made-up users.`}
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
      {recent.length > 0 && (
        <button type="button" onClick={() => setText(recent.map((context) => JSON.stringify(context)).join('\n'))}>
          Fill in {plural(recent.length, 'recently seen user')}
        </button>
      )}
    </FormDialog>
  );
}
