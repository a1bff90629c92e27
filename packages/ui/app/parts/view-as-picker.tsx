import { useState } from 'preact/hooks';
import type { Context } from '../api/types.js';
import { environments } from '../state/session.js';
import { contextFromText, describeContext, fieldsOf, setViewAs, viewAs, viewIn } from '../state/view-as.js';
import { FormDialog } from './dialog.js';
import { Field } from './field.js';
import { Icon } from './icons.js';

/** Picks the context of *View as*, in the bar above every screen. */
export function ViewAsPicker() {
  const [isOpen, setOpen] = useState(false);
  const context = viewAs.value;
  return (
    <span class="view-as">
      <button type="button" class={context ? 'chip active' : 'chip'} onClick={() => setOpen(true)}>
        <Icon name="person" />
        {context ? `View as ${describeContext(context)}` : 'View as…'}
      </button>
      {context && (
        <button type="button" class="quiet square" aria-label="Stop viewing as" onClick={() => setViewAs(undefined)}>
          <Icon name="close" />
        </button>
      )}
      {isOpen && <Picker context={context} onClose={() => setOpen(false)} />}
    </span>
  );
}

function Picker({ context, onClose }: { readonly context: Context | undefined; readonly onClose: () => void }) {
  const fields = context === undefined ? [] : fieldsOf(context);
  const [userId, setUserId] = useState(context?.userId ?? '');
  const [others, setOthers] = useState(
    fields
      .filter(([name]) => name !== 'userId')
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
  );
  const [environment, setEnvironment] = useState(viewIn.value);
  const apply = () => {
    const query = new URLSearchParams();
    if (userId !== '') query.set('userId', userId);
    for (const line of others.split('\n')) {
      const [name = '', ...value] = line.split('=');
      if (name.trim() !== '') query.set(name.trim(), value.join('=').trim());
    }
    setViewAs(contextFromText(query.toString()), environment);
    onClose();
  };
  return (
    <FormDialog title="View as" submit="View" onSubmit={apply} onClose={onClose}>
      <p class="muted">Lists, flags and drafts show whether they are on for this user, and why.</p>
      <Field label="User ID">
        {(ids) => <input {...ids} value={userId} onInput={({ currentTarget }) => setUserId(currentTarget.value)} />}
      </Field>
      <Field label="Other fields" hint="One per line: country=DE, sessionId=…, appName=…, currentTime=…">
        {(ids) => (
          <textarea {...ids} rows={4} value={others} onInput={({ currentTarget }) => setOthers(currentTarget.value)} />
        )}
      </Field>
      <Field label="Environment">
        {(ids) => (
          <select {...ids} value={environment} onChange={({ currentTarget }) => setEnvironment(currentTarget.value)}>
            {environments.value.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
