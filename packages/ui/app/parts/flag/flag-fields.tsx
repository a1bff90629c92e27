import { isSameJson } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import { splitAtCommas } from '../../model/describe.js';
import { session } from '../../state/session.js';
import { flagType } from '../../words.js';
import { AreaField, fieldProps, SelectField, TextField } from '../form/field.js';

/** The fields that describe a flag. */
export interface FlagMetadata {
  readonly description: string;
  readonly type: string;
  readonly owner: string;
  readonly labels: readonly string[];
}

interface FlagFieldsProps {
  readonly values: FlagMetadata;
  readonly onChange: (change: Partial<FlagMetadata>) => void;
}

export function FlagFields({ values, onChange }: FlagFieldsProps) {
  const { type, labels } = values;
  const field = fieldProps(values, onChange);
  const [labelText, setLabelText] = useState(labels.join(', '));
  // The typed text stays unchanged until a merge brings other labels.
  const isTyped = isSameJson(labelsOf(labelText), labels);
  const types = session.value?.types?.map(({ name }) => name) ?? [type];
  return (
    <>
      <AreaField label="Description" class="prose" {...field('description')} />
      <SelectField label="Type" options={types.map((name) => [name, flagType(name)])} {...field('type')} />
      <div class="columns">
        <TextField label="Owner" hint="A person or a team" {...field('owner')} />
        <TextField
          label="Labels"
          hint="Separated by commas"
          path="/labels"
          value={isTyped ? labelText : labels.join(', ')}
          onChange={(text) => {
            setLabelText(text);
            onChange({ labels: labelsOf(text) });
          }}
        />
      </div>
    </>
  );
}

function labelsOf(text: string): readonly string[] {
  return [...new Set(splitAtCommas(text))];
}
