import { call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { Change, ListedSchedule } from '../../api/types.js';
import { currentProject } from '../../router.js';
import { propose, withoutRevisions } from '../../state/changes.js';
import { type ScheduleState, useSchedulePlan } from '../../state/schedules.js';
import { may } from '../../state/session.js';
import { attempt } from '../../state/toasts.js';
import { time, until } from '../../words.js';
import { Ago } from '../control/answer.js';
import { Button, Details, DialogButton, Link } from '../control/controls.js';
import { Confirm } from '../form/dialog.js';
import { Loading } from '../frame/states.js';
import { Differences } from '../review/differences.js';
import { scheduleAdvice } from './advice.js';

export const SCHEDULE_STATES: Readonly<Record<ScheduleState, string>> = {
  pending: 'Pending',
  applied: 'Applied',
  failed: 'Failed',
  expired: 'Expired',
  cancelled: 'Cancelled',
};

interface ScheduleListProps {
  readonly schedules: readonly ListedSchedule[];
  /** The flag of the screen, which the entries do not name. */
  readonly flag?: string;
  /** Whether to show the differences of pending schedules at once. Each needs a plan. */
  readonly isOpen?: boolean;
}

/** Schedules: when, who, why, what changes, and a button to cancel. */
export function ScheduleList({ schedules, flag, isOpen = false }: ScheduleListProps) {
  return (
    <ol class="timeline">
      {schedules.map((schedule) => {
        const { id, state, reason, ifUnchanged } = schedule;
        const advice = scheduleAdvice(schedule);
        const isBroken = state === 'failed' || state === 'expired';
        return (
          <li key={id}>
            <ScheduleHead schedule={schedule} flag={flag} />
            {reason && <p class="reason">{reason}</p>}
            {advice && <p class={isBroken ? 'fault-text' : 'muted'}>{advice}</p>}
            {state === 'pending' && ifUnchanged && <p class="muted">Only if nothing else has changed it until then.</p>}
            {state === 'pending' && isOpen && <WouldChange id={id} />}
            {state === 'pending' && !isOpen && (
              <Details summary="What changes">{() => <WouldChange id={id} />}</Details>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface ScheduleProps {
  readonly schedule: ListedSchedule;
  readonly flag?: string | undefined;
}

function ScheduleHead({ schedule, flag }: ScheduleProps) {
  const { id, state, at, endedAt, author, environments, changeSet, proposal } = schedule;
  const isBroken = state === 'failed' || state === 'expired';
  return (
    <div class="entry-head">
      <span class={isBroken ? 'tag warning' : 'tag'}>{SCHEDULE_STATES[state]}</span>
      <Link class="when" to={['schedules', id]} action={`Go to the schedule of ${time(at)}`}>
        {time(at)}
      </Link>
      {endedAt === null ? <span class="muted">{until(at) ?? 'due now'}</span> : <Ago at={endedAt} />}
      <FlagLinks flags={schedule.flags} flag={flag} />
      {proposal !== null && (
        <Link class="tag" to={['proposals', proposal]} action={`Go to the proposal of the schedule of ${time(at)}`}>
          approved
        </Link>
      )}
      {environments.map((name) => (
        <span key={name} class="tag">
          {name}
        </span>
      ))}
      <span class="muted">
        by <strong>{author.name}</strong>
      </span>
      {changeSet !== null && (
        <Link to={['events', changeSet]} label={`Show the change of ${time(at)}`}>
          Show the change
        </Link>
      )}
      <span class="end">
        {state === 'pending' && <CancelButton schedule={schedule} />}
        {isBroken && <RepeatButton schedule={schedule} />}
      </span>
    </div>
  );
}

const SHOWN = 3;

interface FlagLinksProps {
  readonly flags: ListedSchedule['flags'];
  /** The flag of the screen, which is left out. */
  readonly flag?: string | undefined;
}

/** Links to the first flags of a schedule or a proposal. */
export function FlagLinks({ flags, flag }: FlagLinksProps) {
  const others = flags.filter((one) => one.flag !== flag);
  return (
    <>
      {others.slice(0, SHOWN).map((one) => (
        <Link key={one.flag} to={['projects', one.project, 'flags', one.flag]}>
          {one.flag}
        </Link>
      ))}
      {others.length > SHOWN && <span class="muted">and {others.length - SHOWN} more</span>}
    </>
  );
}

/** Returns a project of the schedule in which the caller lacks a permission, or else any of them. */
function projectOf({ flags }: ListedSchedule, action: string): string {
  const projects = flags.map(({ project }) => project);
  return projects.find((project) => !may(action, project)) ?? projects[0] ?? currentProject();
}

function CancelButton({ schedule }: ScheduleProps) {
  const { id, at } = schedule;
  const cancel = async () => {
    await attempt(() => call('cancelSchedule', { params: { schedule: id } }), 'The schedule was cancelled.');
    await invalidateAfterChange();
  };
  return (
    <DialogButton
      class="quiet"
      needs={['cancelSchedule']}
      project={projectOf(schedule, 'cancelSchedule')}
      label={`Cancel the schedule of ${time(at)}`}
      dialog={(close) => (
        <Confirm
          title={`Cancel the schedule of ${time(at)}?`}
          text="Its changes are not made then. To schedule them again, make a new schedule."
          confirm="Confirm: cancel the schedule"
          dismiss="Keep it"
          onConfirm={cancel}
          onClose={close}
        />
      )}
    >
      Cancel…
    </DialogButton>
  );
}

/** Opens the review for the changes of a schedule that did not make them. */
function RepeatButton({ schedule }: ScheduleProps) {
  const { id, at } = schedule;
  const repeat = async () => {
    const { data } = await call('getSchedule', { params: { schedule: id } });
    await propose({
      title: 'Make the change again',
      changes: withoutRevisions(data.changes as readonly Change[]),
      isReviewed: true,
      done: 'The change was made.',
    });
  };
  return (
    <Button
      class="quiet"
      needs={['applyChanges']}
      project={projectOf(schedule, 'applyChanges')}
      label={`Make it again: the change of ${time(at)}`}
      onClick={repeat}
    >
      Make it again…
    </Button>
  );
}

/** What a pending schedule would change now, in words. */
function WouldChange({ id }: { readonly id: string }) {
  const { data, error } = useSchedulePlan(id);
  if (error?.status === 403) return <p class="muted">You may not see what it changes.</p>;
  if (error) return <p class="fault-text">If it were due now, it would fail: {error.message}</p>;
  if (data === undefined) return <Loading rows={1} />;
  if (data.documents.every(({ events }) => events.length === 0))
    return <p class="muted">Now it would change nothing.</p>;
  return <Differences documents={data.documents} />;
}
