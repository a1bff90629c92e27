import { DAY } from '../../model/usage-sums.js';
import { fieldProps, SelectField, TextField } from '../../parts/form/field.js';
import { plural, time } from '../../words.js';

const LIFETIMES = [30, 90, 365] as const;

/** The expiry of a token in a form. */
export interface ExpiryChoice {
  /** Days, `never`, `date`, or `same` for the lifetime of the rotated token. */
  readonly lifetime: string;
  readonly date: string;
}

/** Returns the time in ISO 8601, null for never, or undefined: the API decides. */
export function expiryOf({ lifetime, date }: ExpiryChoice): string | null | undefined {
  if (lifetime === 'same') return undefined;
  if (lifetime === 'never') return null;
  const chosen = new Date(`${date}T23:59:59`);
  if (lifetime === 'date') return Number.isNaN(chosen.getTime()) ? date : chosen.toISOString();
  return new Date(Date.now() + Number(lifetime) * DAY).toISOString();
}

interface ExpiryFieldProps {
  readonly choice: ExpiryChoice;
  readonly onChange: (choice: ExpiryChoice) => void;
  readonly hasSame?: boolean;
}

export function ExpiryField({ choice, onChange, hasSame = false }: ExpiryFieldProps) {
  const field = fieldProps(choice, (change) => onChange({ ...choice, ...change }));
  const expiresAt = choice.lifetime === 'date' ? undefined : expiryOf(choice);
  return (
    <div class="columns">
      <SelectField
        label="Expires"
        hint={expiresAt ? time(expiresAt) : ''}
        {...field('lifetime')}
        path="/expiresAt"
        options={[
          ...(hasSame ? ([['same', 'After the same lifetime']] as const) : []),
          ...LIFETIMES.map((days) => [days, `in ${days === 365 ? 'a year' : plural(days, 'day')}`] as const),
          ['date', 'on a date…'],
          ['never', 'never'],
        ]}
      />
      {choice.lifetime === 'date' && (
        <TextField label="Date" hint="At the end of this day" type="date" required {...field('date')} />
      )}
    </div>
  );
}
