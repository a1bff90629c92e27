import type { FlagEnvironment, HistoryEntry, WireEvent } from '../../api/types.js';
import { segmentName } from '../../model/describe.js';
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
  const words = [...new Set(events.map(({ type }) => eventType(type)))];
  const summary = words.length > 3 ? `${words.slice(0, 3).join(', ')} and more` : words.join(', ');
  const text = `Reverts the change of ${actor} on ${time(at)}.`;
  return (
    <div class="entry-head">
      <strong>{actor}</strong> {summary}
      {isGlobal && <Subjects entry={entry} />}
      <OriginLink events={events} kind="schedule" />
      <OriginLink events={events} kind="proposal" />
      {events.some(({ origin }) => origin?.startsWith('rollout/')) && <span class="tag">by a rollout</span>}
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

/** Tokens are not restored, because their secrets are not stored. The rest has no history, or ends in another way. */
function isRevertible({ type }: WireEvent): boolean {
  return !/^(api-token|schedule|rollout|proposal|approval-policy)-/.test(type);
}

interface OriginLinkProps extends Pick<HistoryEntry, 'events'> {
  readonly kind: keyof typeof ORIGINS;
}

/** The screens of what makes changes. */
const ORIGINS = { schedule: 'schedules', proposal: 'proposals' } as const;

/** A link to the schedule or the proposal that made a change, or that was made or ended by it. */
function OriginLink({ events, kind }: OriginLinkProps) {
  // The origin of a change that a schedule made: `schedule/ID`.
  const prefix = `${kind}/`;
  const origin = events.find((event) => event.origin?.startsWith(prefix))?.origin?.slice(prefix.length);
  const own = events.find(({ type }) => type.startsWith(`${kind}-`))?.data;
  const id = origin ?? (hasId(own) ? own.id : undefined);
  if (id === undefined) return null;
  return (
    <Link class="tag" to={[ORIGINS[kind], id]} action={`Go to the ${kind} ${id}`}>
      {origin === undefined ? `the ${kind}` : `by a ${kind}`}
    </Link>
  );
}

function hasId(state: unknown): state is { readonly id: string } {
  return typeof state === 'object' && state !== null && 'id' in state && typeof state.id === 'string';
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
