import type { FlagEnvironment, HistoryEntry, ListedChangeRequest, WireEvent } from '../../api/types.js';
import { subjectTitle } from '../../model/change-request.js';
import { segmentName } from '../../model/describe.js';
import { useKnownRequest } from '../../state/change-requests.js';
import { undoOf } from '../../state/changes.js';
import { eventType, time } from '../../words.js';
import { Ago } from '../control/answer.js';
import { Code, Details, Link } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { ChangeButton } from '../form/change-button.js';
import { Differences } from './differences.js';

interface TimelineProps {
  readonly entries: readonly HistoryEntry[];
  /** Whether entries name their flags. */
  readonly isGlobal?: boolean;
  /** The newest state of the flag whose history this is. */
  readonly environments?: readonly FlagEnvironment[];
}

/** Change sets, newest first: actor, time, reason, differences, and a button to revert. */
export function Timeline({ entries, isGlobal = false, environments = [] }: TimelineProps) {
  return (
    <ol class="timeline">
      {entries.map((entry) => {
        const states = [...entry.events.flatMap(({ data, preData }) => [preData, data]), { environments }];
        return (
          <li key={entry.id ?? `${entry.at} ${entry.events[0]?.id}`}>
            <EntryHead entry={entry} isGlobal={isGlobal} />
            {entry.reason && <p class="reason">{entry.reason}</p>}
            <Differences documents={entry.differences ?? []} states={states} most={SHOWN} />
            <Details summary="JSON">{() => <Code>{JSON.stringify(entry, null, 2)}</Code>}</Details>
          </li>
        );
      })}
    </ol>
  );
}

/** The number of visible differences; the rest unfolds. */
const SHOWN = 6;

interface EntryProps {
  readonly entry: HistoryEntry;
  readonly isGlobal: boolean;
}

function EntryHead({ entry, isGlobal }: EntryProps) {
  const { id, actor, at, events } = entry;
  // The link to a request says already that the request was applied.
  const told = events.filter((event) => !(isByRequest(event) && requestFactOf(event)));
  const words = [...new Set(told.map(wordsOf))];
  const summary = words.length > 3 ? `${words.slice(0, 3).join(', ')} and more` : words.join(', ');
  const text = `Reverts the change of ${actor} on ${time(at)}.`;
  return (
    <div class="entry-head">
      <strong>{actor}</strong> {summary}
      {isGlobal && <Subjects entry={entry} />}
      <RequestLink events={events} />
      {events.some(({ origin }) => origin === 'rollout') && <span class="tag">by a rollout</span>}
      {events.some(({ origin }) => origin === 'bypass') && <span class="tag warning">without approval</span>}
      {[...new Set(events.flatMap(({ environment }) => environment ?? []))].map((name) => (
        <span key={name} class="tag">
          {name}
        </span>
      ))}
      {id === null ? (
        <Ago at={at} />
      ) : (
        <Link class="when" to={['events', id]} action={`Go to the change of ${time(at)}`}>
          <Ago at={at} />
        </Link>
      )}
      {id !== null && events.some(isRevertible) && (
        <ChangeButton
          class="quiet end"
          project={events.find(({ project }) => project !== null)?.project ?? 'default'}
          label={`Revert: ${actor}, ${time(at)}`}
          proposal={{ ...undoOf(id), text, confirm: 'Confirm: revert' }}
        >
          <Icon name="undo" /> Revert…
        </ChangeButton>
      )}
    </div>
  );
}

/**
 * Whether an undo can take an event back. Tokens cannot be restored, because their secrets are not stored; requests and
 * policies have no history; rollouts are stopped instead.
 */
function isRevertible({ type }: WireEvent): boolean {
  return !/^(api-token|change-request|approval-policy)-|^rollout-(?!started)/.test(type);
}

/** The data of an event of a request. */
type RequestFact = Pick<ListedChangeRequest, 'id' | 'state' | 'flags' | 'environments'> & {
  /** The name of who made the request. */
  readonly author: string;
  readonly decision?: 'approved' | 'scheduled';
};

function requestFactOf({ type, data }: WireEvent): RequestFact | undefined {
  return type.startsWith('change-request-') ? (data as RequestFact) : undefined;
}

/** Says what an event did. For a decision on a request, says which decision. */
function wordsOf(event: WireEvent): string {
  const fact = requestFactOf(event);
  if (fact === undefined || event.type === 'change-request-created') return eventType(event.type);
  const { decision, state } = fact;
  return ENDS[decision ?? state] ?? eventType(event.type);
}

const ENDS: Readonly<Record<string, string>> = {
  approved: 'approved the request',
  scheduled: 'set the time of the request',
  applied: 'applied the request',
  rejected: 'rejected the request',
  withdrawn: 'withdrew the request',
  failed: 'could not apply the request',
  expired: 'let the request expire',
};

/**
 * The change request of a history entry: the one that was applied, or the one that the entry creates, decides or ends.
 * Shows its author, what it changes, and who has approved it.
 */
function RequestLink({ events }: Pick<HistoryEntry, 'events'>) {
  const fact = events.map(requestFactOf).find((one) => one !== undefined);
  const origin = events.find(isByRequest)?.origin?.slice(ORIGIN.length);
  const id = origin ?? fact?.id;
  const known = useKnownRequest(id, origin === undefined ? '' : 'applied');
  if (id === undefined) return null;
  const author = known?.author.name ?? fact?.author;
  const approvers =
    origin === undefined ? [] : (known?.approvals ?? []).flatMap(({ actor, current }) => (current ? actor : []));
  const title = known?.title ?? (fact && subjectTitle(fact)) ?? 'a change request';
  return (
    <>
      {origin !== undefined && <span>by the request</span>}
      {author !== undefined && (
        <span>
          of <strong>{author}</strong>
        </span>
      )}
      <Link to={['changes', id]} action={`Go to the request: ${title}`}>
        {title}
      </Link>
      {approvers.length > 0 && (
        <span>
          approved by <strong>{approvers.join(', ')}</strong>
        </span>
      )}
    </>
  );
}

/** The origin of a change that a request made: `change-request/ID`. */
const ORIGIN = 'change-request/';

function isByRequest({ origin }: WireEvent): boolean {
  return origin?.startsWith(ORIGIN) ?? false;
}

/** The flags, segments and tokens that a change set has changed. */
function Subjects({ entry: { events, differences = [] } }: Pick<EntryProps, 'entry'>) {
  const segments = differences.filter(({ kind }) => kind === 'segment');
  const tokens = new Set(events.flatMap(({ data, preData }) => tokenNameOf(data) ?? tokenNameOf(preData) ?? []));
  const flags = [...new Map(events.map((event) => [`${event.project}/${event.featureName}`, event])).values()];
  return (
    <>
      {flags.slice(0, 3).map(({ project, featureName }) =>
        project && featureName ? (
          <Link key={featureName} to={['projects', project, 'flags', featureName]}>
            {featureName}
          </Link>
        ) : null,
      )}
      {flags.length > 3 && <span class="muted">and {flags.length - 3} more</span>}
      {segments.slice(0, 3).map(({ id }) => (
        <Link key={id} to={['segments', id]}>
          {segmentName(Number(id))}
        </Link>
      ))}
      {[...tokens].map((name) => (
        <b key={name}>{name}</b>
      ))}
    </>
  );
}

function tokenNameOf(state: unknown): string | undefined {
  const isToken = typeof state === 'object' && state !== null && 'tokenName' in state;
  return isToken ? String(state.tokenName) : undefined;
}
