import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { FlagDetail, FlagEnvironment, Segment } from '../api/types.js';
import { changesBetween } from '../model/flag-changes.js';
import { AgingTags } from '../parts/aging-tags.js';
import { ArchivedActions } from '../parts/archived-actions.js';
import { DependenciesSection } from '../parts/dependencies-section.js';
import { DraftAnswer } from '../parts/draft-answer.js';
import { FlagActions } from '../parts/flag-actions.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { AsOfPicker, PastFlag } from '../parts/past-flag.js';
import { ScreenFrame } from '../parts/screen.js';
import { Empty, Fault } from '../parts/states.js';
import { StrategySummary } from '../parts/strategy-summary.js';
import { FlagSwitch } from '../parts/switch.js';
import { Timeline } from '../parts/timeline.js';
import { UsageChart } from '../parts/usage-chart.js';
import { VariantsSection } from '../parts/variants-section.js';
import { href, query } from '../router.js';
import { draftOf } from '../state/drafts.js';
import { useSegments } from '../state/segments.js';
import { may, offers } from '../state/session.js';
import { useExplanations, viewAs } from '../state/view-as.js';
import { ago, answer, flagType, plural, time, why } from '../words.js';

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
  const segments = useSegments();
  return (
    <ScreenFrame
      back={{ to: ['projects', project], label: 'Flags' }}
      reply={reply}
      missing={({ status }) => <MissingFlag project={project} flag={flag} status={status} />}
    >
      {(detail) => <FlagPage detail={detail} revision={reply.revision ?? 0} segments={segments} />}
    </ScreenFrame>
  );
}

interface FlagPageProps {
  readonly detail: FlagDetail;
  readonly revision: number;
  readonly segments: readonly Segment[];
}

function FlagPage({ detail, revision, segments }: FlagPageProps) {
  const { name, project, archived, environments } = detail;
  return (
    <>
      <FlagHead detail={detail} revision={revision} />
      {draftOf(name) && (
        <p class="notice">
          You have an unsaved draft of this flag.{' '}
          <a href={href(['projects', project, 'flags', name, draftEnvironment(detail)])}>Continue editing</a>
        </p>
      )}
      {archived ? (
        <div class="notice">
          This flag is archived: it is off everywhere. <ArchivedActions flag={{ name, project, revision }} />
        </div>
      ) : (
        <div class="environments">
          {environments.map((environment) => (
            <EnvironmentCard
              key={environment.name}
              detail={detail}
              revision={revision}
              environment={environment}
              segments={segments}
            />
          ))}
        </div>
      )}
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
    return JSON.stringify(mine) !== JSON.stringify(environment);
  });
  return (changed ?? environments[0])?.name ?? '';
}

function FlagHead({ detail, revision }: Omit<FlagPageProps, 'segments'>) {
  const { name, description, type, createdAt, lastSeenAt, stale, labels = [], owner, impressionData } = detail;
  return (
    <header class="flag-head">
      <div class="screen-head">
        <Heading title={name} />
        <span class="tag">{flagType(type)}</span>
        {stale && <span class="tag warning">stale</span>}
        <AgingTags flag={detail} />
        {impressionData && <span class="tag">impression data</span>}
        <span class="stretch" />
        <FlagActions detail={detail} revision={revision} />
      </div>
      {description && <p class="description">{description}</p>}
      <dl class="facts">
        <div>
          <dt>Created</dt>
          <dd title={time(createdAt)}>{ago(createdAt)}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>{lastSeenAt === null ? 'never' : ago(lastSeenAt)}</dd>
        </div>
        {owner && (
          <div>
            <dt>Owner</dt>
            <dd>{owner}</dd>
          </div>
        )}
        {labels.length > 0 && (
          <div>
            <dt>Labels</dt>
            <dd>
              {labels.map((label) => (
                <a key={label} class="tag" href={href(['projects', detail.project], { label })}>
                  {label}
                </a>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </header>
  );
}

interface EnvironmentCardProps extends FlagPageProps {
  readonly environment: FlagEnvironment;
}

function EnvironmentCard({ detail, revision, environment, segments }: EnvironmentCardProps) {
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
            Off because of <a href={href(['projects', project, 'flags', offBecauseOf])}>{offBecauseOf}</a>
          </span>
        )}
        <WhyLine project={project} flag={flag} environment={name} />
        <span class="stretch" />
        {offers('explainFlags', project) && (
          <a class="why-link" href={href(['why'], { flag, env: name })} aria-label={`Explain ${flag} in ${name}`}>
            Explain
          </a>
        )}
        <a
          class="button"
          href={href(['projects', project, 'flags', flag, name])}
          aria-label={`Edit ${name}`}
          aria-disabled={!canEdit}
        >
          <Icon name="edit" /> Edit
        </a>
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
      {strategies.length === 0 ? (
        <p class="muted">No strategies: nobody gets it here. Enabling adds a rollout of 100 %.</p>
      ) : (
        <ol class="strategies">
          {strategies.map((strategy, index) => (
            <StrategySummary key={strategy.id} strategy={strategy} index={index} segments={segments} />
          ))}
        </ol>
      )}
    </section>
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
  if (explained === undefined) return <span class="muted">…</span>;
  return (
    <span class={explained.enabled ? 'answer on' : 'answer off'}>
      {answer(explained)} for {viewAs.value.userId ?? 'this context'} <small>{why(explained)}</small>
    </span>
  );
}

function UsedBy({ project, flag }: FlagScreenProps) {
  const applications = useResource('listApplicationsByFlag', {}).data;
  const hasUsage = offers('listFlagUsage', project);
  const apps = applications === undefined ? [] : (new Map(Object.entries(applications)).get(flag) ?? []);
  if (!hasUsage && apps.length === 0) return null;
  return (
    <section class="card" aria-labelledby="usage">
      <header class="card-head">
        <h2 id="usage">Usage</h2>
        <span class="muted">{apps.length > 0 && `Used by ${plural(apps.length, 'application')}`}</span>
      </header>
      <UsageChart project={project} flag={flag} />
      {apps.length > 0 && (
        <p class="chips">
          {apps.map(({ appName, updatedAt }) => (
            <a key={appName} class="tag" title={time(updatedAt)} href={href(['applications', appName])}>
              {appName}
            </a>
          ))}
        </p>
      )}
    </section>
  );
}

function FlagHistory({ project, flag, environments }: FlagScreenProps & Pick<FlagDetail, 'environments'>) {
  const [limit, setLimit] = useState(10);
  const hasHistory = offers('listHistory', project);
  const request = { params: { project, flag }, query: { limit } };
  const { data, error } = useResource('listFlagHistory', hasHistory ? request : undefined);
  if (!hasHistory) return null;
  return (
    <section class="card" aria-labelledby="history">
      <header class="card-head">
        <h2 id="history">History</h2>
        <span class="stretch" />
        <AsOfPicker />
      </header>
      {error && <Fault error={error} />}
      {data && <Timeline entries={data.changes} environments={environments} />}
      {data && data.changes.length >= limit && (
        <button type="button" onClick={() => setLimit(limit + 20)}>
          Show more
        </button>
      )}
    </section>
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
