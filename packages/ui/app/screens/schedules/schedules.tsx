import { useResource } from '../../api/resource.js';
import type { ListedProposal, ListedSchedule } from '../../api/types.js';
import { PolicyLine } from '../../parts/approval/policy.js';
import { ProposalList } from '../../parts/approval/proposal-list.js';
import { Button, Details, Link, Paged } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { SelectField, TextField } from '../../parts/form/field.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { RolloutList } from '../../parts/schedule/rollout-list.js';
import { SCHEDULE_STATES, ScheduleList } from '../../parts/schedule/schedule-list.js';
import { currentProject, query, setQuery } from '../../router.js';
import { useActiveProposals, useEndedProposals } from '../../state/proposals.js';
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
      <PolicyLine />
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
      {state === '' && <Proposals project={project} part={part} />}
      {state === '' && <Rollouts project={project} part={part} />}
      <WhenLoaded reply={reply}>
        {(all) => <Found key={state} schedules={part === '' ? all : all.filter(matches)} isFiltered={isFiltered} />}
      </WhenLoaded>
      {state === '' && <EndedProposals project={project} part={part} />}
    </section>
  );
}

interface PartProps extends SchedulesProps {
  /** A part of the flag's name, in lower case. */
  readonly part: string;
}

/** The proposals that wait for approval, those that can be applied, and on demand those that have ended. */
function Proposals({ project, part }: PartProps) {
  const isOffered = offers('listProposals', project ?? currentProject());
  const { data = [] } = useActiveProposals(isOffered ? { project } : undefined);
  if (!isOffered) return null;
  const found = data.filter(isOf(part));
  const open = found.filter(({ state }) => state === 'open');
  const approved = found.filter(({ state }) => state === 'approved');
  return (
    <>
      {open.length > 0 && <ProposalGroup title="Waiting for approval" proposals={open} />}
      {approved.length > 0 && <ProposalGroup title="Approved" proposals={approved} />}
    </>
  );
}

/** A proposal of the approval policy has no flags. */
function isOf(part: string): (proposal: ListedProposal) => boolean {
  return ({ flags }) => part === '' || flags.some(({ flag }) => flag.toLowerCase().includes(part));
}

function ProposalGroup({
  title,
  proposals,
}: {
  readonly title: string;
  readonly proposals: readonly ListedProposal[];
}) {
  return (
    <Card title={title} note={plural(proposals.length, 'proposal')}>
      <Paged items={proposals} page={PAGE}>
        {(shown) => <ProposalList proposals={shown} />}
      </Paged>
    </Card>
  );
}

/** The proposals that have ended. There may be many, so they are read when this is unfolded. */
function EndedProposals({ project, part }: PartProps) {
  if (!offers('listProposals', project ?? currentProject())) return null;
  return <Details summary="Ended proposals">{() => <EndedProposalList project={project} part={part} />}</Details>;
}

function EndedProposalList({ project, part }: PartProps) {
  const reply = useEndedProposals({ project });
  return (
    <WhenLoaded reply={reply} rows={2}>
      {(all) => {
        const found = all.filter(isOf(part));
        if (found.length === 0) return <p class="muted">No proposal has ended in the last 90 days.</p>;
        return (
          <Paged items={found} page={PAGE}>
            {(shown) => <ProposalList proposals={shown} />}
          </Paged>
        );
      }}
    </WhenLoaded>
  );
}

/** The active rollouts. Absent without any. */
function Rollouts({ project, part }: PartProps) {
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
