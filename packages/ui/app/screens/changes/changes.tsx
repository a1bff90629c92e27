import type { ComponentChildren } from 'preact';
import type { ListedChangeRequest, Rollout } from '../../api/types.js';
import { nextAtOf } from '../../model/rollout.js';
import { Button, Details, Link, Paged } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { TextField } from '../../parts/form/field.js';
import { Card, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { Empty } from '../../parts/frame/states.js';
import { PolicyLine } from '../../parts/request/policy.js';
import { RequestEntry, RequestList } from '../../parts/request/request-list.js';
import { RolloutEntry } from '../../parts/rollout/rollout-entry.js';
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
      <search class="event-filters single-filter">
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
  const mine = entriesOf(requests.filter(waitsForCaller), rollouts.filter(isForCaller));
  const next = entriesOf(
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
      {mine.length > 0 && <Entries title="Waiting for you" entries={mine} />}
      {next.length > 0 && <Entries title="Next" entries={next} />}
    </>
  );
}

interface Entry {
  /** When something happens by itself. If a person is awaited: a text that sorts after every time. */
  readonly at: string;
  readonly entry: ComponentChildren;
}

interface EntriesProps {
  readonly title: string;
  readonly entries: readonly Entry[];
}

function Entries({ title, entries }: EntriesProps) {
  return (
    <Card title={title} note={plural(entries.length, 'change')}>
      <Paged items={entries} page={PAGE}>
        {(shown) => <ol class="timeline">{shown.map(({ entry }) => entry)}</ol>}
      </Paged>
    </Card>
  );
}

/** Requests and rollouts in the order of time. */
function entriesOf(requests: readonly ListedChangeRequest[], rollouts: readonly Rollout[]): readonly Entry[] {
  const entries: readonly Entry[] = [
    ...requests.map((one) => ({ at: one.at ?? LAST, entry: <RequestEntry key={one.id} request={one} /> })),
    ...rollouts.map((one) => ({
      at: nextAtOf(one) ?? LAST,
      entry: <RolloutEntry key={one.ref.strategy} rollout={one} />,
    })),
  ];
  return entries.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** Sorts behind the ISO 8601 form of every time. */
const LAST = '9';

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
        return (
          <Paged items={found} page={PAGE}>
            {(shown) => <RequestList requests={shown} label="Ended requests" />}
          </Paged>
        );
      }}
    </WhenLoaded>
  );
}
