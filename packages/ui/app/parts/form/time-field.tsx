export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The hint that names the time zone. */
export const ZONE_HINT = `In the time zone ${ZONE}`;

export function isTime(text: string): boolean {
  return !Number.isNaN(new Date(text).getTime());
}

/** Converts a time to the value of a field for local times. */
function localText(text: string): string {
  if (!isTime(text)) return '';
  const chosen = new Date(text);
  return new Date(chosen.getTime() - chosen.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

interface TimeInputProps {
  /** ISO 8601, or empty. */
  readonly value: string;
  /** Gets ISO 8601; empty for none. */
  readonly onChange: (value: string) => void;
  readonly id?: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-label'?: string;
  readonly class?: string;
  readonly required?: boolean;
}

/** Picks a time in the time zone of the browser. */
export function TimeInput({ value, onChange, ...attributes }: TimeInputProps) {
  return (
    <input
      {...attributes}
      type="datetime-local"
      step="1"
      title={ZONE_HINT}
      value={localText(value)}
      onChange={({ currentTarget }) =>
        onChange(isTime(currentTarget.value) ? new Date(currentTarget.value).toISOString() : '')
      }
    />
  );
}
