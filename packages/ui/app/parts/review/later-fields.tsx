import type { LaterTimes } from '../../state/changes.js';
import { time, until } from '../../words.js';
import { Checkbox, Segmented } from '../control/controls.js';
import { Field } from '../form/field.js';
import { isTime, TimeInput, ZONE_HINT } from '../form/time-field.js';

interface LaterFieldsProps {
  /** Undefined: now. */
  readonly later: LaterTimes | undefined;
  readonly onChange: (later: LaterTimes | undefined) => void;
}

const HOUR = 3_600_000;

/** The fields that say when to apply reviewed changes: now, or at a time. */
export function LaterFields({ later, onChange }: LaterFieldsProps) {
  return (
    <>
      <Segmented
        legend="When to apply"
        name="when"
        value={later === undefined ? 'now' : 'later'}
        options={[
          ['now', 'Apply now'],
          ['later', 'At a time'],
        ]}
        onChange={(when) => onChange(when === 'now' ? undefined : { at: nextHour(), ifUnchanged: false })}
      />
      {later && (
        <>
          <Field label="Time" hint={ZONE_HINT} path={['/at', '/notAfter']}>
            {(ids) => <TimeInput {...ids} required value={later.at} onChange={(at) => onChange({ ...later, at })} />}
          </Field>
          <Checkbox isChecked={later.ifUnchanged} onChange={(ifUnchanged) => onChange({ ...later, ifUnchanged })}>
            Only if nothing else has changed it until then
          </Checkbox>
          <p class="notice" role="status">
            {meaningOf(later)}
          </p>
        </>
      )}
    </>
  );
}

/** The next full hour that is at least half an hour away. */
function nextHour(): string {
  return new Date(Math.ceil((Date.now() + HOUR / 2) / HOUR) * HOUR).toISOString();
}

function meaningOf({ at, ifUnchanged }: LaterTimes): string {
  if (!isTime(at)) return 'Choose a time.';
  const left = until(at);
  const when =
    left === undefined ? 'This time has passed, so it is applied at once.' : `Applied on ${time(at)} (${left}).`;
  const others = ifUnchanged
    ? 'It fails if somebody changes the same flags or segments before.'
    : 'What others change until then is kept, except in the same parts.';
  return `${when} ${others} If the service is down, it is tried for an hour, then it expires.`;
}
