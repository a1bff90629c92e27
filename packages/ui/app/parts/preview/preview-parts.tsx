import { listOf } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { PreviewedFlag } from '../../api/types.js';
import { usersWith } from '../../model/context-fields.js';
import { currentProject } from '../../router.js';
import { countPreview, type Previewed, type PreviewState } from '../../state/preview.js';
import { describeUsers, keepSamples, MAX_SAMPLES, pastedUsers, sampleText } from '../../state/samples.js';
import { offers } from '../../state/session.js';
import { answer, number, plural } from '../../words.js';
import { Button, Details, DialogButton } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { AreaField } from '../form/field.js';
import { Fault } from '../frame/states.js';
import { Table } from '../list/table.js';

interface PreviewFrameProps extends PreviewResultProps {
  /** Description of the missing part of the draft. */
  readonly missing: string | undefined;
  /** The text while there are no changes. */
  readonly hint: string | undefined;
  /** A choice above the result. */
  readonly head?: ComponentChildren;
  /** The users, below the result. */
  readonly children: ComponentChildren;
}

/** The frame of a preview beside an editor: its users, a button to choose others, and the result. */
export function PreviewFrame({ missing, hint, head, children, ...result }: PreviewFrameProps) {
  const isCounted = (missing ?? hint) === undefined;
  const users = (isCounted ? result.preview.flags?.[0]?.users : undefined) ?? pastedUsers.value;
  return (
    <aside class="card preview" aria-labelledby="preview">
      <header class="card-head">
        <h2 id="preview">Preview</h2>
        {users && <span class="muted">{describeUsers(users)}</span>}
        <DialogButton class="quiet end" dialog={(close) => <SamplesDialog onClose={close} />}>
          Edit the list
        </DialogButton>
      </header>
      {head}
      {!isCounted && <p class="muted">{missing ?? hint}</p>}
      {isCounted && <PreviewResult {...result} />}
      {isCounted && users?.groups && <p class="muted">{users.groups}</p>}
      {children}
    </aside>
  );
}

interface PreviewResultProps {
  readonly preview: PreviewState;
  readonly environment: string;
  /** Names a flag in words; undefined for the flag of the screen. */
  readonly nameOf: (flag: string) => string | undefined;
}

/** The number of flags that are listed; the rest unfolds. */
const LISTED = 10;

/** How many users each flag gains and loses. Lists what changes, and counts the rest. */
export function PreviewResult({ preview: { flags, error, isCurrent }, environment, nameOf }: PreviewResultProps) {
  if (error) return error.status === 404 ? null : <Fault error={error} />;
  if (flags === undefined) return <p class="muted">Counting who changes…</p>;
  const entries = entriesOf(flags, nameOf);
  const rest = flags.length - entries.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <div role="status" class={isCurrent ? '' : 'waiting'}>
        {flags.length === 0 && <p>Nobody changes in {environment}.</p>}
        <Entries entries={entries.slice(0, LISTED)} />
        {rest > 0 && (
          <p>
            {plural(rest, 'flag')}: nobody changes in {environment}.
          </p>
        )}
      </div>
      {entries.length > LISTED && (
        <Details summary={`${entries.length - LISTED} more`}>
          {() => <Entries entries={entries.slice(LISTED)} />}
        </Details>
      )}
      <OtherUsers flags={flags} />
    </>
  );
}

interface Entry {
  readonly previewed: Previewed;
  readonly name: string | undefined;
  /** The number of flags that the entry is about. */
  readonly count: number;
}

/** The flags that change, most users first, and those whose counts are unknown, together if they miss the same fields. */
function entriesOf(flags: readonly Previewed[], nameOf: PreviewResultProps['nameOf']): readonly Entry[] {
  const single = (previewed: Previewed) => ({ previewed, name: nameOf(previewed.flag), count: 1 });
  const changes = (previewed: Previewed) => previewed.contexts.filter(isChanged).length;
  const changed = flags.filter((one) => changes(one) > 0 || nameOf(one.flag) === undefined || flags.length === 1);
  const unknown = new Map<string, Previewed[]>();
  for (const one of flags) {
    if (one.missing.size === 0 || changed.includes(one)) continue;
    const fields = [...one.missing.keys()].join();
    unknown.set(fields, [...(unknown.get(fields) ?? []), one]);
  }
  return [
    ...changed.toSorted((one, other) => changes(other) - changes(one)).map(single),
    ...[...unknown.values()].flatMap((alike) => {
      const [previewed] = alike;
      const names = alike.map(({ flag }) => nameOf(flag) ?? flag);
      return previewed === undefined ? [] : [{ previewed, name: listOf(names), count: alike.length }];
    }),
  ];
}

/** One flag in a sentence, several in a table. */
function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  const [first, second] = entries;
  if (first === undefined) return null;
  if (second === undefined) return <Counts {...first} />;
  const count = (key: 'before' | 'after') => (entry: Entry) =>
    isKnown(entry) ? number(countPreview(entry.previewed)[key]) : '–';
  return (
    <Table
      class="plain counts-table"
      items={entries}
      keyOf={({ previewed }) => previewed.flag}
      columns={[
        { title: 'Flag', cell: ({ name }) => name ?? 'This flag' },
        { title: 'Now on', cell: count('before') },
        { title: 'Then on', cell: count('after') },
        { title: 'Change', cell: (entry) => <Flips previewed={entry.previewed} /> },
      ]}
    />
  );
}

function isKnown({ previewed }: Entry): boolean {
  return previewed.missing.size === 0;
}

/** How many users become on, become off, or get another variant: "+200 −3". */
export function Flips({ previewed }: { readonly previewed: Previewed }) {
  const { becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  if (becomeOn + becomeOff + otherVariant > 0) {
    return (
      <span class="flip-counts">
        {becomeOn > 0 && <span class="gain">+{number(becomeOn)}</span>}
        {becomeOff > 0 && <span class="loss">−{number(becomeOff)}</span>}
        {otherVariant > 0 && <span>~{number(otherVariant)}</span>}
      </span>
    );
  }
  return <span class="muted">{previewed.missing.size === 0 ? 'nobody' : cannotTell(previewed)}</span>;
}

function cannotTell({ users, missing }: Previewed): string {
  return `cannot tell: the ${users.noun} have no ${[...missing.keys()].join(' and no ')}`;
}

/** How many users have a flag before and after, and how many change. A 0 is unreliable if fields are missing. */
function Counts(entry: Entry) {
  const { previewed, name } = entry;
  const { before, after, becomeOn, becomeOff, otherVariant } = countPreview(previewed);
  const known = isKnown(entry);
  return (
    <div class="flag-counts">
      <p class="counts">
        {name && <strong>{name}: </strong>}
        {known ? (
          <>
            now on for <b>{number(before)}</b> <span class="arrow">→</span> then for <b>{number(after)}</b>
          </>
        ) : (
          `${cannotTell(previewed).replace(/^c/, 'C')}.`
        )}
      </p>
      <ul class="flips">
        {(known || becomeOn > 0) && <li class={becomeOn > 0 ? 'gain' : 'muted'}>+ {number(becomeOn)} become on</li>}
        {(known || becomeOff > 0) && <li class={becomeOff > 0 ? 'loss' : 'muted'}>− {number(becomeOff)} become off</li>}
        {otherVariant > 0 && <li>~ {number(otherVariant)} get another variant</li>}
      </ul>
    </div>
  );
}

/** Offers users who have the fields that a preview misses. */
export function OtherUsers({ flags }: { readonly flags: readonly Previewed[] }) {
  const fields = new Map(flags.flatMap(({ missing }) => [...missing]));
  const made = usersWith(fields);
  if (fields.size === 0) return null;
  return (
    <p class="other-users">
      Count over others:
      {made && <Button onClick={() => keepSamples(made.text)}>{made.label}</Button>}
      <RecentUsers onChoose={keepSamples} />
      <DialogButton dialog={(close) => <SamplesDialog onClose={close} />}>Paste users…</DialogButton>
    </p>
  );
}

type PreviewedContext = PreviewedFlag['contexts'][number];

/** A user of the preview, by the name in the list of samples. */
export interface PreviewedUser extends PreviewedContext {
  readonly name: string;
}

export function usersOf({ contexts, users: { samples } }: Previewed): readonly PreviewedUser[] {
  return contexts.map((context, index) => ({ ...context, name: samples[index]?.name || String(index + 1) }));
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
      <Table
        class="plain"
        items={users.slice(0, SHOWN)}
        keyOf={({ name }, index) => `${name} ${index}`}
        rowClass={(user) => (isChanged(user) ? 'changed' : '')}
        columns={[
          { title: 'User', cell: ({ name }) => name },
          {
            title: 'Now',
            class: ({ before }) => (before.enabled ? 'on' : 'off'),
            cell: ({ before }) => answer(before),
          },
          { title: 'Then', class: ({ after }) => (after.enabled ? 'on' : 'off'), cell: ({ after }) => answer(after) },
          { title: column, class: () => 'muted', cell },
        ]}
      />
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
    <Button onClick={() => onChoose(contexts.map((context) => JSON.stringify(context)).join('\n'))}>
      {plural(contexts.length, 'recently seen user')}
    </Button>
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
      <AreaField
        label="Users"
        hint={`One per line, at most ${number(MAX_SAMPLES)}: a user ID, fields such as userId=7, country=DE, or a context as JSON. Kept in this tab. Empty: recently seen users, or made-up ones.`}
        rows={12}
        value={text}
        onChange={setText}
      />
      <RecentUsers onChoose={setText} />
    </FormDialog>
  );
}
