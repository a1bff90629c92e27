import { listOf } from '@flags/core/admin';
import type { Way } from '../../model/ways.js';
import type { NeededApproval } from '../../state/approvals.js';
import type { LaterTimes } from '../../state/changes.js';
import { approvalText, time, until } from '../../words.js';
import { Checkbox, Segmented } from '../control/controls.js';
import { Field } from '../form/field.js';
import { isTime, TimeInput, ZONE_HINT } from '../form/time-field.js';

interface WayFieldProps {
  /** The ways that the caller may choose. Empty if the caller may do nothing. */
  readonly ways: readonly Way[];
  readonly way: Way | undefined;
  readonly approval: NeededApproval | null;
  readonly times: LaterTimes;
  readonly onChoose: (way: Way) => void;
  readonly onTimes: (times: LaterTimes) => void;
}

/** Chooses how reviewed changes are made, and says what that means, before the last button. */
export function WayField({ ways, way, approval, times, onChoose, onTimes }: WayFieldProps) {
  return (
    <>
      {ways.length > 1 && way !== undefined && (
        <Segmented
          legend="When to apply"
          name="way"
          value={way}
          options={ways.map((one) => [one, wayText(one, approval)] as const)}
          onChange={onChoose}
        />
      )}
      {way === 'later' && <TimesFields times={times} onChange={onTimes} />}
      <p class="notice" role="status">
        {approval && `${approvalText(approval)} `}
        {way === undefined && 'You may not request it.'}
        {way === 'now' && (approval ? 'You do without it.' : 'It is applied at once.')}
        {way === 'later' && meaningOf(times, approval !== null)}
        {way === 'request' && requestText(approval)}
      </p>
    </>
  );
}

const TEXTS: Readonly<Record<Way, string>> = { now: 'Apply now', later: 'At a time', request: 'Request' };

function wayText(way: Way, approval: NeededApproval | null): string {
  if (approval === null || way === 'later') return TEXTS[way];
  return way === 'now' ? 'Apply now, without approval' : 'Request approval';
}

function requestText(approval: NeededApproval | null): string {
  return approval
    ? 'Then you, or somebody else, applies it.'
    : 'It needs no approval: you, or somebody else, applies the request. Until then nothing changes.';
}

interface TimesFieldsProps {
  readonly times: LaterTimes;
  readonly onChange: (times: LaterTimes) => void;
  /** Whether the request exists already: then its `ifUnchanged` cannot be chosen any more. */
  readonly isRequested?: boolean;
}

/** The fields that say at which time to apply reviewed changes. */
export function TimesFields({ times, onChange, isRequested = false }: TimesFieldsProps) {
  return (
    <>
      <Field label="Time" hint={ZONE_HINT} path={['/at', '/notAfter']}>
        {(ids) => <TimeInput {...ids} required value={times.at} onChange={(at) => onChange({ ...times, at })} />}
      </Field>
      {!isRequested && (
        <Checkbox isChecked={times.ifUnchanged} onChange={(ifUnchanged) => onChange({ ...times, ifUnchanged })}>
          Only if nothing else has changed it until then
        </Checkbox>
      )}
    </>
  );
}

const HOUR = 3_600_000;

/** The next full hour that is at least half an hour away. */
export function firstTimes(): LaterTimes {
  return { at: new Date(Math.ceil((Date.now() + HOUR / 2) / HOUR) * HOUR).toISOString(), ifUnchanged: false };
}

/** The label of the button that sets a time. */
export function laterText({ at }: LaterTimes): string {
  return isTime(at) ? `Schedule for ${time(at)}` : 'Schedule';
}

/** Says what it means to apply something at a time. */
export function meaningOf({ at, ifUnchanged }: LaterTimes, needsApproval: boolean): string {
  if (!isTime(at)) return 'Choose a time.';
  const left = until(at);
  const when =
    left === undefined ? 'This time has passed, so it is applied at once.' : `Applied on ${time(at)} (${left}).`;
  const others = ifUnchanged
    ? 'It fails if somebody changes the same flags or segments before.'
    : 'What others change until then is kept, except in the same parts.';
  const end = needsApproval
    ? 'Without its approvals an hour later, it expires.'
    : 'If the service is down, it is tried for an hour, then it expires.';
  return `${when} ${others} ${end}`;
}

/** The environments and flags whose rollouts a change would end. */
interface EndedRolloutsProps {
  readonly ended: readonly { readonly flag: string; readonly environment: string }[];
  readonly way: Way | undefined;
  /**
   * Whether the changes concern strategies or switches. A request with such changes ends the rollouts that run when it
   * is applied.
   */
  readonly endsRollouts: boolean;
}

/** Warns that the changes end rollouts. */
export function EndedRollouts({ ended, way, endsRollouts }: EndedRolloutsProps) {
  const isLater = way === 'later' || way === 'request';
  if (ended.length === 0 && !(isLater && endsRollouts)) return null;
  const names = listOf([...new Set(ended.map(({ flag, environment }) => `${flag} in ${environment}`))], NAMED);
  const rollouts = ended.length === 1 ? 'the rollout of' : `${ended.length} rollouts:`;
  return (
    <p class="notice warning">
      {!isLater && `This ends ${rollouts} ${names}. The percentage does not change by itself any more.`}
      {isLater && 'When it is applied, it ends every rollout of the strategies that it changes.'}
      {isLater && ended.length > 0 && ` Now that would be ${rollouts} ${names}.`}
    </p>
  );
}

const NAMED = 5;
