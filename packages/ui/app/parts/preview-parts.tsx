import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { PreviewedFlag } from '../api/types.js';
import { usersWith } from '../model/context-fields.js';
import { currentProject } from '../router.js';
import { countPreview, type Previewed } from '../state/preview.js';
import { keepSamples, MAX_SAMPLES, sampleNoun, samples, sampleText } from '../state/samples.js';
import { offers } from '../state/session.js';
import { answer, number, plural } from '../words.js';
import { FormDialog } from './dialog.js';
import { Field } from './field.js';

/** Names the users of a preview: "20 made-up users". */
export function sampleCount(): string {
  return `${number(samples.value.length)} ${sampleNoun.value}`;
}

/** The frame of a preview: its users, and a button to choose others. */
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

/** How many users have a flag before and after, and how many change. A 0 is unreliable if fields are missing. */
export function Counts({ previewed, name }: { readonly previewed: Previewed; readonly name?: string }) {
  const { before, after, becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  const isKnown = previewed.missing.size === 0;
  return (
    <div class="flag-counts">
      <p class="counts">
        {name && <strong>{name}: </strong>}
        {isKnown ? (
          <>
            now on for <b>{number(before)}</b> <span class="arrow">→</span> then for <b>{number(after)}</b>
          </>
        ) : (
          `Cannot tell: the ${sampleNoun.value} have no ${[...previewed.missing.keys()].join(' and no ')}.`
        )}
      </p>
      <ul class="flips">
        {(isKnown || becomeOn > 0) && <li class={becomeOn > 0 ? 'gain' : 'muted'}>+ {number(becomeOn)} become on</li>}
        {(isKnown || becomeOff > 0) && (
          <li class={becomeOff > 0 ? 'loss' : 'muted'}>− {number(becomeOff)} become off</li>
        )}
        {otherVariant > 0 && <li>~ {number(otherVariant)} get another variant</li>}
      </ul>
    </div>
  );
}

/** Offers users who have the fields that a preview misses. */
export function OtherUsers({ flags }: { readonly flags: readonly Previewed[] }) {
  const [isEditing, setEditing] = useState(false);
  const fields = new Map(flags.flatMap(({ missing }) => [...missing]));
  const made = usersWith(fields);
  if (fields.size === 0) return null;
  return (
    <p class="other-users">
      Count over others:
      {made && (
        <button type="button" onClick={() => keepSamples(made.text)}>
          {made.label}
        </button>
      )}
      <RecentUsers onChoose={keepSamples} />
      <button type="button" onClick={() => setEditing(true)}>
        Paste users…
      </button>
      {isEditing && <SamplesDialog onClose={() => setEditing(false)} />}
    </p>
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

/** The maximum number of listed users. */
const SHOWN = 50;

interface UserTableProps<User extends PreviewedUser> {
  readonly label: string;
  readonly users: readonly User[];
  /** The heading of the additional column. */
  readonly column: string;
  readonly cell: (user: User) => string;
}

export function UserTable<User extends PreviewedUser>({ label, users, column, cell }: UserTableProps<User>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
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

/** Offers recently evaluated contexts. Shown only if the host records them and the caller may read them. */
function RecentUsers({ onChoose }: { readonly onChoose: (text: string) => void }) {
  const isOffered = offers('listRecentContexts', currentProject());
  const contexts = useResource('listRecentContexts', isOffered ? {} : undefined).data?.contexts ?? [];
  if (contexts.length === 0) return null;
  return (
    <button type="button" onClick={() => onChoose(contexts.map((context) => JSON.stringify(context)).join('\n'))}>
      {plural(contexts.length, 'recently seen user')}
    </button>
  );
}

function SamplesDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState(sampleText.value);
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
      <RecentUsers onChoose={setText} />
    </FormDialog>
  );
}
