import { isSameJson } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { FlagDetail, FlagEnvironment } from '../../api/types.js';
import { changesBetween } from '../../model/flag-changes.js';
import { ProposalList } from '../../parts/approval/proposal-list.js';
import { Ago, ExplainedAnswer } from '../../parts/control/answer.js';
import { Button, DialogButton, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { AgingTags } from '../../parts/flag/aging-tags.js';
import { ArchivedActions } from '../../parts/flag/archived-actions.js';
import { FlagSwitch } from '../../parts/flag/switch.js';
import { Heading } from '../../parts/frame/heading.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { DraftAnswer } from '../../parts/preview/draft-answer.js';
import { Timeline } from '../../parts/review/timeline.js';
import { RolloutList } from '../../parts/schedule/rollout-list.js';
import { ScheduleList } from '../../parts/schedule/schedule-list.js';
import { query } from '../../router.js';
import { draftOf } from '../../state/drafts.js';
import { useActiveProposals } from '../../state/proposals.js';
import { isActive, useRolloutsOf } from '../../state/rollouts.js';
import { useSchedules } from '../../state/schedules.js';
import { may, offers } from '../../state/session.js';
import { useExplanations, viewAs } from '../../state/view-as.js';
import { ago, flagType, plural, time } from '../../words.js';
import { DependenciesSection } from './dependencies-section.js';
import { FlagActions } from './flag-actions.js';
import { AsOfPicker, PastFlag } from './past-flag.js';
import { StartRollout } from './start-rollout.js';
import { Strategies } from './strategy-summary.js';
import { UsageChart } from './usage-chart.js';
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
      <UsedBy project={project} flag={name} />
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

interface EnvironmentCardProps extends FlagPageProps {
  readonly environment: FlagEnvironment;
}

function EnvironmentCard({ detail, revision, environment }: EnvironmentCardProps) {
  const { name: flag, project } = detail;
  const { name, enabled, strategies } = environment;
  const offBecauseOf = useBlocker(detail, name);
  const isOn = enabled && offBecauseOf === null;
  const draft = draftOf(flag);
  const canEdit = may('configureEnvironment', project) || may('updateStrategy', project);
  return (
    <section class={isOn ? 'card environment-card on' : 'card environment-card'} aria-label={name}>
      <header class="card-head">
        <FlagSwitch
          project={project}
          flag={flag}
          revision={revision}
          environment={{ name, enabled, strategyCount: strategies.length, offBecauseOf }}
        />
        <h2>{name}</h2>
        {enabled && offBecauseOf !== null && (
          <span>
            Off because of <Link to={['projects', project, 'flags', offBecauseOf]}>{offBecauseOf}</Link>
          </span>
        )}
        <WhyLine project={project} flag={flag} environment={name} />
        <span class="actions">
          {offers('explainFlags', project) && (
            <Link class="why-link" to={['why']} query={{ flag, env: name }} label={`Explain ${flag} in ${name}`}>
              Explain
            </Link>
          )}
          <RolloutButton detail={detail} environment={environment} />
          <Link
            class="button"
            to={['projects', project, 'flags', flag, name]}
            label={`Edit ${name}`}
            isDisabled={!canEdit}
          >
            <Icon name="edit" /> Edit
          </Link>
        </span>
      </header>
      {draft && (
        <DraftAnswer
          flag={flag}
          environment={name}
          changes={changesBetween(draft.base, draft.mine, draft.revision).filter(
            ({ ref }) => ref?.environment === name,
          )}
        />
      )}
      <Strategies
        strategies={strategies}
        empty="No strategies: nobody gets it here. Enabling adds a rollout of 100 %."
      />
    </section>
  );
}

/** Starts a rollout of the only gradual strategy. Absent while one is active, and where a rollout would be refused. */
function RolloutButton({ detail, environment: { name, enabled, strategies } }: Omit<EnvironmentCardProps, 'revision'>) {
  const { project, name: flag, archived } = detail;
  const isOffered = offers('startRollout', project);
  const { data = [] } = useRolloutsOf(isOffered ? { project, flag } : undefined);
  const gradual = strategies.filter((one) => one.name === 'flexibleRollout' && !one.disabled);
  const [strategy] = gradual;
  const isBusy = data.some((one) => isActive(one) && one.ref.environment === name);
  if (!isOffered || !enabled || archived || isBusy || gradual.length !== 1 || !strategy) return null;
  return (
    <DialogButton
      class="quiet"
      needs={['startRollout', 'updateStrategy']}
      project={project}
      label={`Roll out in steps in ${name}`}
      dialog={(close) => <StartRollout detail={detail} environment={name} strategy={strategy} onClose={close} />}
    >
      Roll out in steps…
    </DialogButton>
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

/** Returns the parent that turns a flag off in an environment, from the list of flags; null if there is none. */
function useBlocker({ name, project, dependencies = [], archived }: FlagDetail, environment: string): string | null {
  const isAsked = dependencies.length > 0 && !archived;
  const request = { query: { project, namePrefix: name, limit: 1 } };
  const { data } = useResource('listAllFlags', isAsked ? request : undefined);
  return data?.features[0]?.environments.find((one) => one.name === environment)?.offBecauseOf ?? null;
}

/** Whether the flag is on for the chosen context, and why. */
function WhyLine({ project, flag, environment }: FlagScreenProps & { readonly environment: string }) {
  const explained = useExplanations(project, environment)?.get(flag);
  if (viewAs.value === undefined) return null;
  return <ExplainedAnswer explained={explained} name={viewAs.value.userId ?? 'this context'} />;
}

function UsedBy({ project, flag }: FlagScreenProps) {
  const applications = useResource('listApplicationsByFlag', {}).data;
  const hasUsage = offers('listFlagUsage', project);
  const apps = applications === undefined ? [] : (new Map(Object.entries(applications)).get(flag) ?? []);
  if (!hasUsage && apps.length === 0) return null;
  return (
    <Card title="Usage" note={apps.length > 0 && `Used by ${plural(apps.length, 'application')}`}>
      <UsageChart project={project} flag={flag} />
      {apps.length > 0 && (
        <p class="chips">
          {apps.map(({ appName, updatedAt }) => (
            <Link key={appName} class="tag" title={time(updatedAt)} to={['applications', appName]}>
              {appName}
            </Link>
          ))}
        </p>
      )}
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
