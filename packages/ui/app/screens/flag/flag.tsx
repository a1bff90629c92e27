import { isSameJson } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { FlagDetail, ListedChangeRequest } from '../../api/types.js';
import { productionFirst } from '../../model/environments.js';
import { Ago } from '../../parts/control/answer.js';
import { Button, Link } from '../../parts/control/controls.js';
import { AgingTags } from '../../parts/flag/aging-tags.js';
import { ArchivedActions } from '../../parts/flag/archived-actions.js';
import { Heading } from '../../parts/frame/heading.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { RequestList } from '../../parts/request/request-list.js';
import { Timeline } from '../../parts/review/timeline.js';
import { query } from '../../router.js';
import { useOpenRequestsOf } from '../../state/change-requests.js';
import { draftOf } from '../../state/drafts.js';
import { offers, reviewScope } from '../../state/session.js';
import { flagType, timeAgo } from '../../words.js';
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
  const requests = useOpenRequestsOf(name);
  const names = productionFirst(
    environments.map((one) => one.name),
    reviewScope.value,
  );
  // Each request is shown in the card of its first environment, and names the others.
  const cardOf = (request: ListedChangeRequest) => names.find((one) => request.environments.includes(one));
  const others = requests.filter((request) => archived || cardOf(request) === undefined);
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
      {others.length > 0 && (
        <section class="card" aria-label="Requests for the flag">
          <RequestList requests={others} label="Requests for the flag" />
        </section>
      )}
      {archived ? (
        <div class="notice">
          This flag is archived: it is off everywhere. <ArchivedActions flag={{ name, project, revision }} />
        </div>
      ) : (
        <div class="environments">
          {names.flatMap((one) => {
            const environment = environments.find((other) => other.name === one);
            if (environment === undefined) return [];
            const own = requests.filter((request) => cardOf(request) === one);
            const card = { detail, revision, environment, requests: own };
            return <EnvironmentCard key={one} {...card} />;
          })}
        </div>
      )}
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
          {deleted.createdBy} deleted it {timeAgo(deleted.createdAt)}.
        </Empty>
      )}
    </>
  );
}
