import { isSameJson } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { FlagDetail } from '../../api/types.js';
import { ProposalList } from '../../parts/approval/proposal-list.js';
import { Ago } from '../../parts/control/answer.js';
import { Button, Link } from '../../parts/control/controls.js';
import { AgingTags } from '../../parts/flag/aging-tags.js';
import { ArchivedActions } from '../../parts/flag/archived-actions.js';
import { Heading } from '../../parts/frame/heading.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { Timeline } from '../../parts/review/timeline.js';
import { RolloutList } from '../../parts/schedule/rollout-list.js';
import { ScheduleList } from '../../parts/schedule/schedule-list.js';
import { query } from '../../router.js';
import { draftOf } from '../../state/drafts.js';
import { useActiveProposals } from '../../state/proposals.js';
import { isActive, useRolloutsOf } from '../../state/rollouts.js';
import { useSchedules } from '../../state/schedules.js';
import { offers } from '../../state/session.js';
import { ago, flagType, plural } from '../../words.js';
import { DependenciesSection } from './dependencies-section.js';
import { EnvironmentCard } from './environment-card.js';
import { FlagActions } from './flag-actions.js';
import { AsOfPicker, PastFlag } from './past-flag.js';
import { UsageSection } from './usage-chart.js';
import { VariantsSection } from './variants-section.js';

interface FlagScreenProps {
  readonly project: string;
  readonly flag: string;
}

/** One flag: its configuration per environment, and its history. */
export function FlagScreen({ project, flag }: FlagScreenProps) {
  const asOf = query.value.get('asOf');
  return asOf === null ? (
    <FlagNow project={project} flag={flag} />
  ) : (
    <PastFlag key={asOf} project={project} flag={flag} asOf={asOf} />
  );
}

function FlagNow({ project, flag }: FlagScreenProps) {
  const reply = useResource('getFlag', { params: { project, flag } });
  return (
    <ScreenFrame
      back={{ to: ['projects', project], label: 'Flags' }}
      reply={reply}
      missing={({ status }) => <MissingFlag project={project} flag={flag} status={status} />}
    >
      {(detail) => <FlagPage detail={detail} revision={reply.revision ?? 0} />}
    </ScreenFrame>
  );
}

interface FlagPageProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

function FlagPage({ detail, revision }: FlagPageProps) {
  const { name, project, archived, environments } = detail;
  return (
    <>
      <FlagHead detail={detail} revision={revision} />
      {draftOf(name) && (
        <p class="notice">
          You have an unsaved draft of this flag.{' '}
          <Link to={['projects', project, 'flags', name, draftEnvironment(detail)]} action="Continue editing">
            Continue editing
          </Link>
        </p>
      )}
      {archived ? (
        <div class="notice">
          This flag is archived: it is off everywhere. <ArchivedActions flag={{ name, project, revision }} />
        </div>
      ) : (
        <div class="environments">
          {environments.map((environment) => (
            <EnvironmentCard key={environment.name} detail={detail} revision={revision} environment={environment} />
          ))}
        </div>
      )}
      <Rollouts project={project} flag={name} />
      <Proposals project={project} flag={name} />
      <PendingSchedules project={project} flag={name} />
      <VariantsSection detail={detail} revision={revision} />
      <DependenciesSection detail={detail} revision={revision} />
      <UsageSection project={project} flag={name} />
      <FlagHistory project={project} flag={name} environments={environments} />
    </>
  );
}

function draftEnvironment({ name, environments }: FlagDetail): string {
  const draft = draftOf(name);
  const changed = environments.find((environment) => {
    const mine = draft?.mine.environments.find((other) => other.name === environment.name);
    return !isSameJson(mine, environment);
  });
  return (changed ?? environments[0])?.name ?? '';
}

function FlagHead({ detail, revision }: FlagPageProps) {
  const { name, description, type, createdAt, lastSeenAt, stale, labels = [], owner, impressionData } = detail;
  return (
    <header class="flag-head">
      <ScreenHead title={name} actions={<FlagActions detail={detail} revision={revision} />}>
        <span class="tag">{flagType(type)}</span>
        {stale && <span class="tag warning">stale</span>}
        <AgingTags flag={detail} />
        {impressionData && <span class="tag">impression data</span>}
      </ScreenHead>
      {description && <p class="description">{description}</p>}
      <dl class="facts">
        <Fact term="Created">
          <Ago at={createdAt} />
        </Fact>
        <Fact term="Last seen">{lastSeenAt === null ? 'never' : <Ago at={lastSeenAt} />}</Fact>
        {owner && <Fact term="Owner">{owner}</Fact>}
        {labels.length > 0 && (
          <Fact term="Labels">
            {labels.map((label) => (
              <Link key={label} class="tag" to={['projects', detail.project]} query={{ label }}>
                {label}
              </Link>
            ))}
          </Fact>
        )}
      </dl>
    </header>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The active rollouts of a flag, and the last one that ended. Absent without any. */
function Rollouts({ project, flag }: FlagScreenProps) {
  const { data = [] } = useRolloutsOf(offers('listRollouts', project) ? { project, flag } : undefined);
  const shown = [...data.filter(isActive), ...data.filter((one) => !isActive(one)).slice(0, 1)];
  if (shown.length === 0) return null;
  return (
    <Card title="Rollout in steps">
      <RolloutList rollouts={shown} flag={flag} />
    </Card>
  );
}

/** The open and approved proposals of a flag. Absent without any. */
function Proposals({ project, flag }: FlagScreenProps) {
  const { data = [] } = useActiveProposals(offers('listProposals', project) ? { project, flag } : undefined);
  if (data.length === 0) return null;
  return (
    <Card title="Proposed" note={plural(data.length, 'proposal')}>
      <ProposalList proposals={data} flag={flag} />
    </Card>
  );
}

/** More plans at once would wait for each other. */
const OPEN_SCHEDULES = 3;

/** The pending schedules of a flag. Absent without any. */
function PendingSchedules({ project, flag }: FlagScreenProps) {
  const isOffered = offers('listSchedules', project);
  const { data = [] } = useSchedules(isOffered ? { state: 'pending', project, flag } : undefined);
  if (data.length === 0) return null;
  return (
    <Card
      title="Coming up"
      note={plural(data.length, 'schedule')}
      actions={
        <Link to={['projects', project, 'schedules']} query={{ flag }} action={`Go to the schedules of ${flag}`}>
          All schedules
        </Link>
      }
    >
      <ScheduleList schedules={data} flag={flag} isOpen={data.length <= OPEN_SCHEDULES} />
    </Card>
  );
}

function FlagHistory({ project, flag, environments }: FlagScreenProps & Pick<FlagDetail, 'environments'>) {
  const [limit, setLimit] = useState(10);
  const hasHistory = offers('listHistory', project);
  const request = { params: { project, flag }, query: { limit } };
  const reply = useResource('listFlagHistory', hasHistory ? request : undefined);
  if (!hasHistory) return null;
  return (
    <Card title="History" actions={<AsOfPicker />}>
      <WhenLoaded reply={reply} rows={3}>
        {({ changes }) => (
          <>
            <Timeline entries={changes} environments={environments} />
            {changes.length >= limit && <Button onClick={() => setLimit(limit + 20)}>Show more</Button>}
          </>
        )}
      </WhenLoaded>
    </Card>
  );
}

interface MissingFlagProps extends FlagScreenProps {
  readonly status: number;
}

/** Shows who deleted a missing flag, and when. */
function MissingFlag({ flag, status }: MissingFlagProps) {
  const { data } = useResource(
    'listEvents',
    status === 404 ? { query: { limit: 100, type: 'feature-deleted' } } : undefined,
  );
  const deleted = data?.events.find(({ featureName }) => featureName === flag);
  return (
    <>
      <Heading title={flag} />
      {deleted && (
        <Empty title="This flag was deleted">
          {deleted.createdBy} deleted it {ago(deleted.createdAt)}.
        </Empty>
      )}
    </>
  );
}
