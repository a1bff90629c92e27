import { noEffectInConstraint, OPERATOR_WORDS, operandOf, operatorOf, takesValues } from '@flags/core/admin';
import type { Constraint } from '../../api/types.js';
import { Checkbox, IconButton, Select } from '../control/controls.js';
import { isTime, TimeInput, ZONE_HINT } from '../form/time-field.js';
import { ValueList } from './value-list.js';

interface ConstraintRowProps {
  readonly constraint: Constraint;
  readonly number: number;
  readonly onChange: (constraint: Constraint) => void;
  readonly onRemove: () => void;
}

const FIELDS = ['userId', 'sessionId', 'appName', 'remoteAddress', 'currentTime', 'environment', 'country'];

/** Edits one condition on a context field. */
export function ConstraintRow({ constraint, number, onChange, onRemove }: ConstraintRowProps) {
  const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
  const name = `Constraint ${number}`;
  // A set box can be cleared where it has no effect.
  const isText = operatorOf(operator)?.canIgnoreCase || caseInsensitive;
  const problems = contextName === '' ? [] : noEffectInConstraint(constraint);
  // A text that is not a time stays unchanged.
  const isDate = operandOf(operator) === 'moment' && (!constraint.value || isTime(constraint.value));
  const setOperator = (next: string) => {
    const { values = [], value = '', ...rest } = constraint;
    const operand = takesValues(next)
      ? { values: values.length > 0 ? values : [value].filter(Boolean) }
      : { value: value || (values[0] ?? ''), values: [] };
    onChange({ ...rest, operator: next, ...operand });
  };
  const flip = (member: 'inverted' | 'caseInsensitive', isSet: boolean) => {
    const { [member]: _former, ...rest } = constraint;
    onChange(isSet ? { ...rest, [member]: true } : rest);
  };
  return (
    <fieldset class="constraint">
      <legend class="hidden">{name}</legend>
      <input
        aria-label={`${name}: field`}
        list="context-fields"
        class="context-field"
        spellcheck={false}
        value={contextName}
        onInput={({ currentTarget }) => onChange({ ...constraint, contextName: currentTarget.value })}
      />
      <datalist id="context-fields">
        {FIELDS.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      <Select
        label={`${name}: operator`}
        value={operator}
        options={Object.entries(OPERATOR_WORDS).map(([key, { label }]) => [key, label])}
        onChange={setOperator}
      />
      {isDate && (
        <TimeInput
          aria-label={`${name}: value`}
          class="operand"
          value={constraint.value ?? ''}
          onChange={(value) => onChange({ ...constraint, value })}
        />
      )}
      {isDate && <small class="muted">{ZONE_HINT}</small>}
      {!takesValues(operator) && !isDate && (
        <input
          aria-label={`${name}: value`}
          class="operand"
          spellcheck={false}
          value={constraint.value ?? ''}
          onInput={({ currentTarget }) => onChange({ ...constraint, value: currentTarget.value })}
        />
      )}
      <Checkbox isChecked={inverted} onChange={(isSet) => flip('inverted', isSet)}>
        not
      </Checkbox>
      {isText && (
        <Checkbox isChecked={caseInsensitive} onChange={(isSet) => flip('caseInsensitive', isSet)}>
          any case
        </Checkbox>
      )}
      {problems.map((text) => (
        <span key={text} class="tag warning">
          {text}
        </span>
      ))}
      <IconButton icon="close" label={`Remove constraint ${number}`} onClick={onRemove} />
      {takesValues(operator) && (
        <ValueList
          name={name}
          values={constraint.values ?? []}
          onChange={(values) => onChange({ ...constraint, values })}
        />
      )}
    </fieldset>
  );
}
