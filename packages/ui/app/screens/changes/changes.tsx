import type { ComponentChildren } from 'preact';
import type { ListedChangeRequest, Rollout } from '../../api/types.js';
import { Button, Details, Link, Paged } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { TextField } from '../../parts/form/field.js';
import { Card, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { PolicyLine } from '../../parts/request/policy.js';
import { RequestList } from '../../parts/request/request-list.js';
import { RolloutList } from '../../parts/rollout/rollout-list.js';
import { query, setQuery } from '../../router.js';
import { isForCaller, useEndedRequests, useOpenRequests, waitsForCaller } from '../../state/change-requests.js';
import { useRollouts } from '../../state/rollouts.js';
import { plural } from '../../words.js';

/** The number of requests at first, and of those that each press of the button adds. */
const PAGE = 30;

interface ChangesProps {
  /** Undefined: all projects. */
  readonly project: string | undefined;
}

/** What waits for the caller, what happens next, and what has ended, in a project or in all. The URL holds the filter. */
export function ChangesScreen({ project }: ChangesProps) {
  const flag = query.value.get('flag') ?? '';
  const part = flag.trim().toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(part);
  const isShown = ({ flags }: ListedChangeRequest) => part === '' || flags.some((one) => matches(one.flag));
  const reply = useOpenRequests({ project });
  const rollouts = (useRollouts({ project }).data ?? []).filter(({ ref }) => matches(ref.flag));
  return (
    <section>
      <ScreenHead title="Changes" actions={project !== undefined && <Link to={['changes']}>All projects</Link>} />
      <PolicyLine />
      <search class="event-filters">
        <TextField label="Flag" type="search" value={flag} onChange={(value) => setQuery({ flag: value })} />
        {part !== '' && (
          <Button class="quiet" onClick={() => setQuery({ flag: undefined })}>
            <Icon name="close" /> Remove the filter
          </Button>
        )}
      </search>
      <WhenLoaded reply={reply}>
        {(all) => <Waiting requests={all.filter(isShown)} rollouts={rollouts} isFiltered={part !== ''} />}
      </WhenLoaded>
      <Card title="Ended" note="in the last 90 days">
        <Details summary="Show the ended requests">{() => <Ended project={project} isShown={isShown} />}</Details>
      </Card>
    </section>
  );
}

interface WaitingProps {
  readonly requests: readonly ListedChangeRequest[];
  readonly rollouts: readonly Rollout[];
  readonly isFiltered: boolean;
}

function Waiting({ requests, rollouts, isFiltered }: WaitingProps) {
  const asked = requests.filter(waitsForCaller);
  const mine = rollouts.filter(isForCaller);
  const next = inOrder(
    requests.filter((one) => !waitsForCaller(one)),
    rollouts.filter((one) => !isForCaller(one)),
  );
  if (requests.length + rollouts.length === 0) {
    return (
      <Empty title={isFiltered ? 'Nothing that waits matches' : 'Nothing waits'}>
        {!isFiltered && <p>Choose “At a time” or “Request” in the review of a change, and it appears here.</p>}
      </Empty>
    );
  }
  return (
    <>
      {asked.length + mine.length > 0 && (
        <Card title="Waiting for you" note={plural(asked.length + mine.length, 'change')}>
          <Requests requests={asked} label="Requests that wait for you" />
          <RolloutList rollouts={mine} label="Rollouts that wait for you" />
        </Card>
      )}
      {next.length > 0 && (
        <Card title="Next" note={plural(next.length, 'change')}>
          <Paged items={next} page={PAGE}>
            {(shown) => <ol class="mixed">{shown.map(({ key, entry }) => <li key={key}>{entry}</li>)}</ol>}
          </Paged>
        </Card>
      )}
    </>
  );
}

interface Entry {
  readonly key: string;
  readonly at: string;
  readonly entry: ComponentChildren;
}

/** Requests and rollouts in the order of time. Those without a time follow. */
function inOrder(requests: readonly ListedChangeRequest[], rollouts: readonly Rollout[]): readonly Entry[] {
  const entries: readonly Entry[] = [
    ...requests.map((one) => ({
      key: one.id,
      at: one.at ?? LAST,
      entry: <RequestList requests={[one]} label="Request" />,
    })),
    ...rollouts.map((one) => ({
      key: one.ref.strategy,
      at: (one.state === 'paused' ? null : one.nextAt) ?? LAST,
      entry: <RolloutList rollouts={[one]} label="Rollout" />,
    })),
  ];
  return entries.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** Sorts behind every time. */
const LAST = '~';

interface EndedProps extends ChangesProps {
  readonly isShown: (request: ListedChangeRequest) => boolean;
}

/** There may be many, so they are read when this is unfolded. */
function Ended({ project, isShown }: EndedProps) {
  const reply = useEndedRequests({ project });
  return (
    <WhenLoaded reply={reply} rows={2}>
      {(all) => {
        const found = all.filter(isShown);
        if (found.length === 0) return <p class="muted">No request has ended in the last 90 days.</p>;
        return <Requests requests={found} label="Ended requests" />;
      }}
    </WhenLoaded>
  );
}

interface RequestsProps {
  readonly requests: readonly ListedChangeRequest[];
  readonly label: string;
}

function Requests({ requests, label }: RequestsProps) {
  if (requests.length === 0) return null;
  return (
    <Paged items={requests} page={PAGE}>
      {(shown) => <RequestList requests={shown} label={label} />}
    </Paged>
  );
}
