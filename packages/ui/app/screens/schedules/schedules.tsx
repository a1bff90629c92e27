import { useResource } from '../../api/resource.js';
import type { ListedSchedule } from '../../api/types.js';
import { Button, Link, Paged } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { SelectField, TextField } from '../../parts/form/field.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { RolloutList } from '../../parts/schedule/rollout-list.js';
import { SCHEDULE_STATES, ScheduleList } from '../../parts/schedule/schedule-list.js';
import { currentProject, query, setQuery } from '../../router.js';
import { useActiveRollouts } from '../../state/rollouts.js';
import { type ScheduleState, useSchedules } from '../../state/schedules.js';
import { offers } from '../../state/session.js';
import { plural, time } from '../../words.js';

/** The number of schedules at first, and of those that each press of the button adds. */
const PAGE = 30;

interface SchedulesProps {
  /** Undefined: all projects. */
  readonly project: string | undefined;
}

/** What will happen, and what became of earlier schedules, of a project or of all. The URL holds the filters. */
export function SchedulesScreen({ project }: SchedulesProps) {
  const state = query.value.get('state') ?? '';
  const flag = query.value.get('flag') ?? '';
  const isFiltered = state !== '' || flag !== '';
  const reply = useSchedules({ project, state: isState(state) ? state : undefined });
  const part = flag.trim().toLowerCase();
  const matches = ({ flags }: ListedSchedule) => flags.some((one) => one.flag.toLowerCase().includes(part));
  return (
    <section>
      <ScreenHead title="Schedules" actions={project !== undefined && <Link to={['schedules']}>All projects</Link>} />
      <search class="event-filters">
        <TextField label="Flag" type="search" value={flag} onChange={(value) => setQuery({ flag: value })} />
        <SelectField
          label="State"
          value={state}
          options={[['', 'Any'], ...Object.entries(SCHEDULE_STATES)]}
          onChange={(value) => setQuery({ state: value })}
        />
        {isFiltered && (
          <Button class="quiet" onClick={clear}>
            <Icon name="close" /> Remove the filters
          </Button>
        )}
      </search>
      {state === '' && <Rollouts project={project} part={part} />}
      <WhenLoaded reply={reply}>
        {(all) => <Found key={state} schedules={part === '' ? all : all.filter(matches)} isFiltered={isFiltered} />}
      </WhenLoaded>
    </section>
  );
}

interface RolloutsProps extends SchedulesProps {
  /** A part of the flag's name, in lower case. */
  readonly part: string;
}

/** The active rollouts. Absent without any. */
function Rollouts({ project, part }: RolloutsProps) {
  const { data = [] } = useActiveRollouts(
    offers('listRollouts', project ?? currentProject()) ? { project } : undefined,
  );
  const active = data.filter(({ ref }) => ref.flag.toLowerCase().includes(part));
  if (active.length === 0) return null;
  return (
    <Card title="Rollouts in steps" note={plural(active.length, 'rollout')}>
      <Paged items={active} page={PAGE}>
        {(shown) => <RolloutList rollouts={shown} />}
      </Paged>
    </Card>
  );
}

function clear(): void {
  setQuery({ state: undefined, flag: undefined });
}

function isState(text: string): text is ScheduleState {
  return Object.hasOwn(SCHEDULE_STATES, text);
}

interface FoundProps {
  readonly schedules: readonly ListedSchedule[];
  readonly isFiltered: boolean;
}

function Found({ schedules, isFiltered }: FoundProps) {
  const pending = schedules.filter(({ state }) => state === 'pending');
  const ended = schedules.slice(pending.length);
  if (schedules.length === 0) {
    return (
      <Empty title={isFiltered ? 'No schedule matches' : 'Nothing is scheduled'}>
        {isFiltered ? (
          <Button onClick={clear}>Remove the filters</Button>
        ) : (
          <p>Choose “At a time” in the review of a change, and it appears here.</p>
        )}
      </Empty>
    );
  }
  return (
    <>
      {pending.length > 0 && <Group title="Coming up" schedules={pending} />}
      {ended.length > 0 && <Group title="Ended" schedules={ended} />}
    </>
  );
}

function Group({ title, schedules }: Pick<FoundProps, 'schedules'> & { readonly title: string }) {
  return (
    <Card title={title} note={plural(schedules.length, 'schedule')}>
      <Paged items={schedules} page={PAGE}>
        {(shown) => <ScheduleList schedules={shown} />}
      </Paged>
    </Card>
  );
}

/** The screen of one schedule. */
export function ScheduleScreen({ id }: { readonly id: string }) {
  const reply = useResource('getSchedule', { params: { schedule: id } });
  const title = reply.data ? `Schedule of ${time(reply.data.at)}` : 'Schedule';
  return (
    <ScreenFrame back={{ to: ['schedules'], label: 'Schedules' }} title={title} reply={reply}>
      {(schedule) => (
        <div class="card">
          <ScheduleList schedules={[schedule]} isOpen />
        </div>
      )}
    </ScreenFrame>
  );
}
