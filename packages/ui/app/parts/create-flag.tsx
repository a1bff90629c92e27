import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { href, navigate } from '../router.js';
import { carryOut } from '../state/changes.js';
import { session } from '../state/session.js';
import { flagType } from '../words.js';
import { Dialog } from './dialog.js';
import { Field, faultAt } from './field.js';
import { Fault } from './states.js';

/** Creates a flag, off in every environment, and goes there. */
export function CreateFlagDialog({ project, onClose }: { readonly project: string; readonly onClose: () => void }) {
  const [form, setForm] = useState({ name: '', description: '', type: 'release', owner: '', labels: '' });
  const [error, setError] = useState<ApiError>();
  const types = session.value?.types?.map(({ name }) => name) ?? ['release'];
  const set = (name: keyof typeof form) => (event: { readonly currentTarget: { readonly value: string } }) =>
    setForm({ ...form, [name]: event.currentTarget.value });
  const create = async (event: Event) => {
    event.preventDefault();
    const labels = labelsOf(form.labels);
    const { name, description, type, owner } = form;
    const input = {
      name: name.trim(),
      description,
      type,
      ...(owner.trim() !== '' && { owner: owner.trim() }),
      ...(labels.length > 0 && { labels }),
    };
    const refusal = await carryOut({
      title: `Create ${input.name}`,
      changes: [{ op: 'createFlag', ref: { project }, input }],
      done: `${input.name} was created, off in every environment.`,
      onApplied: () => {
        onClose();
        navigate(href(['projects', project, 'flags', input.name]));
      },
    });
    setError(refusal);
  };
  return (
    <Dialog title="New flag" onClose={onClose}>
      <form onSubmit={create}>
        <div class="dialog-body">
          <Field
            label="Name"
            hint="Your code asks for this name. It cannot be changed."
            fault={faultAt(error, '/name')}
          >
            {(ids) => (
              <input
                {...ids}
                required
                autocomplete="off"
                maxLength={100}
                spellcheck={false}
                value={form.name}
                onInput={set('name')}
              />
            )}
          </Field>
          <Field label="Description" fault={faultAt(error, '/description')}>
            {(ids) => <textarea {...ids} rows={2} value={form.description} onInput={set('description')} />}
          </Field>
          <Field label="Type" fault={faultAt(error, '/type')}>
            {(ids) => (
              <select {...ids} value={form.type} onChange={set('type')}>
                {types.map((type) => (
                  <option key={type} value={type}>
                    {flagType(type)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <div class="columns">
            <Field label="Owner" hint="A person or a team" fault={faultAt(error, '/owner')}>
              {(ids) => <input {...ids} autocomplete="off" value={form.owner} onInput={set('owner')} />}
            </Field>
            <Field label="Labels" hint="With commas between them" fault={faultAt(error, '/labels')}>
              {(ids) => <input {...ids} autocomplete="off" value={form.labels} onInput={set('labels')} />}
            </Field>
          </div>
          {error && <Fault error={error} />}
        </div>
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Create flag
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function labelsOf(text: string): readonly string[] {
  return [...new Set(text.split(',').map((label) => label.trim()))].filter(Boolean);
}
