import { isSameJson } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { session } from '../state/session.js';
import { flagType } from '../words.js';
import { Field, faultAt } from './field.js';

/** What people say about a flag. */
export interface FlagMetadata {
  readonly description: string;
  readonly type: string;
  readonly owner: string;
  readonly labels: readonly string[];
}

interface FlagFieldsProps {
  readonly values: FlagMetadata;
  readonly error: ApiError | undefined;
  readonly onChange: (change: Partial<FlagMetadata>) => void;
}

export function FlagFields({ values: { description, type, owner, labels }, error, onChange }: FlagFieldsProps) {
  const [labelText, setLabelText] = useState(labels.join(', '));
  // What is being typed stays as it is, until a merge brings other labels.
  const isTyped = isSameJson(labelsOf(labelText), labels);
  const types = session.value?.types?.map(({ name }) => name) ?? [type];
  return (
    <>
      <Field label="Description" fault={faultAt(error, '/description')}>
        {(ids) => (
          <textarea
            {...ids}
            class="prose"
            rows={2}
            value={description}
            onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Type" fault={faultAt(error, '/type')}>
        {(ids) => (
          <select {...ids} value={type} onChange={({ currentTarget }) => onChange({ type: currentTarget.value })}>
            {types.map((name) => (
              <option key={name} value={name}>
                {flagType(name)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="columns">
        <Field label="Owner" hint="A person or a team" fault={faultAt(error, '/owner')}>
          {(ids) => (
            <input
              {...ids}
              autocomplete="off"
              value={owner}
              onInput={({ currentTarget }) => onChange({ owner: currentTarget.value })}
            />
          )}
        </Field>
        <Field label="Labels" hint="With commas between them" fault={faultAt(error, '/labels')}>
          {(ids) => (
            <input
              {...ids}
              autocomplete="off"
              value={isTyped ? labelText : labels.join(', ')}
              onInput={({ currentTarget }) => {
                setLabelText(currentTarget.value);
                onChange({ labels: labelsOf(currentTarget.value) });
              }}
            />
          )}
        </Field>
      </div>
    </>
  );
}

function labelsOf(text: string): readonly string[] {
  return [...new Set(text.split(',').map((label) => label.trim()))].filter(Boolean);
}
