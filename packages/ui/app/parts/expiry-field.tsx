import { plural, time } from '../words.js';
import { Field } from './field.js';

const DAY = 86_400_000;
const LIFETIMES = [30, 90, 365] as const;

/** When a token shall expire. */
export interface ExpiryChoice {
  /** Days, `never`, `date`, or `same`: as the rotated token. */
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
  readonly fault: string | undefined;
  readonly hasSame?: boolean;
}

export function ExpiryField({ choice, onChange, fault, hasSame = false }: ExpiryFieldProps) {
  const expiresAt = choice.lifetime === 'date' ? undefined : expiryOf(choice);
  return (
    <div class="columns">
      <Field label="Expires" hint={expiresAt ? time(expiresAt) : ''} fault={fault}>
        {(ids) => (
          <select
            {...ids}
            value={choice.lifetime}
            onChange={({ currentTarget }) => onChange({ ...choice, lifetime: currentTarget.value })}
          >
            {hasSame && <option value="same">After the same lifetime</option>}
            {LIFETIMES.map((days) => (
              <option key={days} value={days}>
                in {days === 365 ? 'a year' : plural(days, 'day')}
              </option>
            ))}
            <option value="date">on a date…</option>
            <option value="never">never</option>
          </select>
        )}
      </Field>
      {choice.lifetime === 'date' && (
        <Field label="Date" hint="At the end of this day">
          {(ids) => (
            <input
              {...ids}
              type="date"
              required
              value={choice.date}
              onInput={({ currentTarget }) => onChange({ ...choice, date: currentTarget.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
