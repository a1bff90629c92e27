import { EVENT_WORDS } from '@flags/core/admin';
import { useEffect, useState } from 'preact/hooks';
import { download } from '../../api/call.js';
import { useResource } from '../../api/resource.js';
import { Button, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { SelectField, TextField } from '../../parts/form/field.js';
import { ScreenFrame, ScreenHead } from '../../parts/frame/screen.js';
import { Empty, Fault, Loading } from '../../parts/frame/states.js';
import { Timeline } from '../../parts/review/timeline.js';
import { query, setQuery } from '../../router.js';
import { type EventFilter, toTimeRange, useEventSearch } from '../../state/event-search.js';
import { attempt } from '../../state/toasts.js';
import { plural, time } from '../../words.js';

const NAMES: readonly (keyof EventFilter)[] = ['flag', 'who', 'type', 'from', 'to'];
const PAGE = 30;

interface EventsProps {
  /** Undefined: all projects. */
  readonly project: string | undefined;
}

/** The changes of a project or of all, newest first. The URL holds the filters. */
export function EventsScreen({ project }: EventsProps) {
  const filter = Object.fromEntries(NAMES.map((name) => [name, query.value.get(name) ?? ''])) as Record<
    keyof EventFilter,
    string
  >;
  const isFiltered = NAMES.some((name) => filter[name] !== '');
  return (
    <section>
      <ScreenHead
        title="Events"
        actions={
          <>
            {project !== undefined && <Link to={['events']}>All projects, segments and tokens</Link>}
            <Download project={project} filter={filter} />
          </>
        }
      />
      <Filters filter={filter} isFiltered={isFiltered} />
      <Found key={JSON.stringify([project, filter])} project={project} filter={filter} isFiltered={isFiltered} />
    </section>
  );
}

interface DownloadProps extends EventsProps {
  readonly filter: EventFilter;
}

/** Downloads events for a spreadsheet. The API finds names as a whole, this page by a part, so these filters do not apply. */
function Download({ project, filter }: DownloadProps) {
  const [isBusy, setBusy] = useState(false);
  const isPartial = filter.flag.trim() !== '' || filter.who.trim() !== '';

  async function save(): Promise<void> {
    setBusy(true);
    const query = { format: 'csv', project, type: filter.type || undefined, ...toTimeRange(filter) };
    await attempt(() => download('exportEvents', 'events.csv', { query }), 'Downloaded events.csv.');
    setBusy(false);
  }

  return (
    <Button
      onClick={save}
      isBusy={isBusy}
      needs={['listEvents']}
      {...(project !== undefined && { project })}
      blocked={isPartial ? 'A download has all flags and authors: empty the filters Flag and Who' : undefined}
    >
      <Icon name="down" /> {isBusy ? 'Downloading…' : 'Download CSV'}
    </Button>
  );
}

/** The matching change sets. Another filter starts again at the first page. */
function Found({ project, filter, isFiltered }: FiltersProps & EventsProps) {
  const [wanted, setWanted] = useState(PAGE);
  const [steps, setSteps] = useState(1);
  // Not `isLoading`: while an event makes the page read the shown entries again, the button must still work.
  const { data, error, isFormer: isSearching } = useEventSearch({ ...filter, project }, wanted, steps);
  const { entries, hasMore, searchedTo } = data ?? {};
  const shown = entries?.slice(0, wanted) ?? [];
  return (
    <>
      {error && <Fault error={error} />}
      {!entries && !error && <Loading />}
      {entries?.length === 0 && !hasMore && (
        <Empty title={isFiltered ? 'No change matches' : 'Nothing has changed yet'}>
          {isFiltered ? (
            <Button onClick={clear}>Remove the filters</Button>
          ) : (
            <p>Every change of a flag, segment, token, member or project appears here, and can be reverted.</p>
          )}
        </Empty>
      )}
      {shown.length > 0 && (
        <div class="card">
          <Timeline entries={shown} isGlobal />
        </div>
      )}
      {entries && (hasMore || entries.length > wanted) && (
        <p class="more">
          <Button
            isBusy={isSearching}
            onClick={() => (entries.length >= wanted ? setWanted(wanted + PAGE) : setSteps(steps + 1))}
          >
            {isSearching ? 'Searching…' : entries.length >= wanted ? 'Show more' : 'Search further back'}
          </Button>
          {isFiltered && searchedTo && (
            <span class="muted" role="status">
              {plural(shown.length, 'change')} since {time(searchedTo)}
            </span>
          )}
        </p>
      )}
    </>
  );
}

function clear(): void {
  setQuery(Object.fromEntries(NAMES.map((name) => [name, undefined])));
}

interface FiltersProps {
  readonly filter: EventFilter;
  readonly isFiltered: boolean;
}

function Filters({ filter, isFiltered }: FiltersProps) {
  const types = Object.entries(EVENT_WORDS).toSorted(([, one], [, other]) => one.localeCompare(other));
  const set = (name: keyof EventFilter) => (value: string) => setQuery({ [name]: value });
  return (
    <search class="event-filters">
      <TypedText label="Flag" value={filter.flag} onChange={set('flag')} />
      <TypedText label="Who" value={filter.who} onChange={set('who')} />
      <SelectField label="What" value={filter.type} options={[['', 'Anything'], ...types]} onChange={set('type')} />
      {DAYS.map(([name, label]) => (
        <TextField key={name} label={label} type="date" value={filter[name]} onChange={set(name)} />
      ))}
      {isFiltered && (
        <Button class="quiet" onClick={clear}>
          <Icon name="close" /> Remove the filters
        </Button>
      )}
    </search>
  );
}

const DAYS = [
  ['from', 'From'],
  ['to', 'To'],
] as const;

/** A search reads many pages, so it starts when the user stops typing. */
const PAUSE = 300;

interface TypedTextProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TypedText({ label, value, onChange }: TypedTextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    const timer = setTimeout(() => onChange(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return <TextField label={label} type="search" value={text} onChange={setText} />;
}

/** The screen of one change set. */
export function ChangeSetScreen({ id }: { readonly id: string }) {
  const reply = useResource('getChangeSet', { params: { id } });
  const title = reply.data ? `Change of ${time(reply.data.at)}` : 'Change';
  return (
    <ScreenFrame back={{ to: ['events'], label: 'Events' }} title={title} reply={reply}>
      {(entry) => (
        <div class="card">
          <Timeline entries={[entry]} isGlobal />
        </div>
      )}
    </ScreenFrame>
  );
}
