import type { LaterTimes } from '../../state/changes.js';
import { time, until } from '../../words.js';
import { Checkbox } from '../control/controls.js';
import { Field } from '../form/field.js';
import { isTime, TimeInput, ZONE_HINT } from '../form/time-field.js';

interface TimesFieldsProps {
  readonly times: LaterTimes;
  readonly onChange: (times: LaterTimes) => void;
  /** Whether the changes are those of a proposal, which was approved for what they do. */
  readonly isApproved?: boolean;
}

const HOUR = 3_600_000;

/** The fields that say at which time to apply reviewed changes. */
export function TimesFields({ times, onChange, isApproved = false }: TimesFieldsProps) {
  return (
    <>
      <Field label="Time" hint={ZONE_HINT} path={['/at', '/notAfter']}>
        {(ids) => <TimeInput {...ids} required value={times.at} onChange={(at) => onChange({ ...times, at })} />}
      </Field>
      {!isApproved && (
        <Checkbox isChecked={times.ifUnchanged} onChange={(ifUnchanged) => onChange({ ...times, ifUnchanged })}>
          Only if nothing else has changed it until then
        </Checkbox>
      )}
      <p class="notice" role="status">
        {meaningOf(times, isApproved)}
      </p>
    </>
  );
}

/** The next full hour that is at least half an hour away. */
export function firstTimes(): LaterTimes {
  return { at: new Date(Math.ceil((Date.now() + HOUR / 2) / HOUR) * HOUR).toISOString(), ifUnchanged: false };
}

function meaningOf({ at, ifUnchanged }: LaterTimes, isApproved: boolean): string {
  if (!isTime(at)) return 'Choose a time.';
  const left = until(at);
  const when =
    left === undefined ? 'This time has passed, so it is applied at once.' : `Applied on ${time(at)} (${left}).`;
  const others = isApproved
    ? 'It fails if it would then do something else than what was approved.'
    : ifUnchanged
      ? 'It fails if somebody changes the same flags or segments before.'
      : 'What others change until then is kept, except in the same parts.';
  return `${when} ${others} If the service is down, it is tried for an hour, then it expires.`;
}
