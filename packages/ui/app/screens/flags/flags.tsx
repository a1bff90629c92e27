import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { addressOf } from '../../api/call.js';
import { useResource } from '../../api/resource.js';
import type { ListedFlag, Session } from '../../api/types.js';
import { outlivedDays, UNUSED_DAYS } from '../../model/aging.js';
import { filterFromQuery, selectFlags } from '../../model/flag-list.js';
import { Button, DialogButton, Link, type Options, Select, sameText } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { CreateFlagDialog, hasNewFlag } from '../../parts/flag/create-flag.js';
import { ScreenHead } from '../../parts/frame/screen.js';
import { Empty, Fault, Loading } from '../../parts/frame/states.js';
import { SearchBox } from '../../parts/list/search-box.js';
import { query, setQuery } from '../../router.js';
import { useFlagList } from '../../state/listed-flags.js';
import { environmentNames, session } from '../../state/session.js';
import { flagType, number, shownOf } from '../../words.js';
import { Projects } from '../projects/projects.js';
import { BulkBar } from './bulk-bar.js';
import { FlagTable } from './flag-table.js';

/** All flags of a project. The URL holds the filters and the order. */
export function FlagsScreen({ project }: { readonly project: string }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const archived = query.value.get('show') === 'archived';
  useEffect(() => {
    chosen.value = new Set();
  }, [project, archived]);
  const filter = useComputed(() => filterFromQuery(query.value)).value;
  const { data: list, error } = useFlagList(project, archived);
  const flags = list?.flags ?? NONE;
  const types = session.value?.types ?? NO_TYPES;
  const selected = useMemo(() => selectFlags(flags, filter, types), [flags, filter, types]);
  const potentiallyStale = useMemo(
    () => flags.filter((flag) => outlivedDays(flag, types) !== undefined).length,
    [flags, types],
  );
  const health = useResource('listProjects', {}).data?.projects.find(({ id }) => id === project)?.health;
  return (
    <section>
      {project === '' ? (
        <ScreenHead title="All projects" />
      ) : (
        <ScreenHead
          title="Flags"
          actions={
            <DialogButton
              class="primary"
              needs={['createFlag']}
              project={project}
              isOpen={hasNewFlag(project)}
              dialog={(close) => <CreateFlagDialog project={project} onClose={close} />}
            >
              <Icon name="plus" /> New flag
            </DialogButton>
          }
        />
      )}
      <div class={project === '' ? 'beside' : undefined}>
        <div class="flags-main">
          <Filters flags={flags} />
          {error && <Fault error={error} />}
          {!list && !error && <Loading rows={12} />}
          {list && (
            <p class="count">
              <span role="status">
                {shownOf(selected.length, list.total, 'flag')}
                {!list.isComplete && error === undefined && ' · loading…'}
              </span>
              {potentiallyStale > 0 && !archived && (
                <>
                  {' · '}
                  <Link
                    to={project ? ['projects', project] : ['projects']}
                    query={{ stale: 'potentially' }}
                    action="Filter: potentially stale"
                  >
                    {number(potentiallyStale)} potentially stale
                  </Link>
                </>
              )}
              {health !== undefined && !archived && ` · health ${health} %`}
            </p>
          )}
          <BulkBar flags={flags} chosen={chosen} isArchive={archived} />
          {list && list.total > 0 && selected.length > 0 && (
            <FlagTable flags={selected} filter={filter} chosen={chosen} project={project} isArchive={archived} />
          )}
          {list && list.total > 0 && selected.length === 0 && list.isComplete && (
            <Empty title="No flag matches">
              <Button onClick={() => setQuery({ q: '', ...Object.fromEntries(CHOICES.map((name) => [name, ''])) })}>
                Clear the filters
              </Button>
            </Empty>
          )}
          {list && list.total === 0 && list.isComplete && <NoFlags project={project} archived={archived} />}
        </div>
        {project === '' && <Projects />}
      </div>
    </section>
  );
}

const NONE: readonly ListedFlag[] = [];
/** The parameters of the choices that filter. */
const CHOICES = ['type', 'state', 'stale', 'label', 'owner'];
const NO_TYPES: NonNullable<Session['types']> = [];

function NoFlags({ project, archived }: { readonly project: string; readonly archived: boolean }) {
  if (archived) return <Empty title="The archive is empty">Archived flags can be revived here.</Empty>;
  const address = addressOf('getFlag', { params: { project: project || 'default', flag: '' } }).href.replace(/\/$/, '');
  return (
    <Empty title="No flags yet">
      <p>
        A flag switches a part of your application on for everybody, for some, or for nobody. Create the first one here
        or by curl:
      </p>
      <pre>
        <code>{`curl -X POST ${address} \\\n  -H 'Content-Type: application/json' -d '{"name":"checkout"}'`}</code>
      </pre>
    </Empty>
  );
}

function Filters({ flags }: { readonly flags: readonly ListedFlag[] }) {
  const options = useMemo(
    () => ({
      types: unique(flags.map(({ type }) => type)),
      labels: unique(flags.flatMap(({ labels }) => labels ?? [])),
      owners: unique(flags.flatMap(({ owner }) => owner ?? [])),
    }),
    [flags],
  );
  const isOpen = useSignal(false);
  const active = [...CHOICES, 'show'].filter((name) => query.value.has(name)).length;
  return (
    <div class={isOpen.value ? 'filters open' : 'filters'}>
      <SearchBox label="Filter flags" placeholder="Name, description, label, owner" />
      <Button
        class={active > 0 ? 'choices-button active' : 'choices-button'}
        expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        Filters{active > 0 && ` · ${active}`}
      </Button>
      <Choice label="Type" options={options.types.map((type) => [type, flagType(type)])} />
      <Choice
        label="State"
        options={[
          ['on', 'On anywhere'],
          ['off', 'Off everywhere'],
          ...environmentNames.value.flatMap((name): [string, string][] => [
            [`on:${name}`, `On in ${name}`],
            [`off:${name}`, `Off in ${name}`],
          ]),
        ]}
      />
      <Choice
        label="Stale"
        options={[
          ['true', 'Stale'],
          ['false', 'Not stale'],
          ['potentially', 'Potentially stale'],
          ['unused', `Unused for ${UNUSED_DAYS} days`],
        ]}
        all="Stale or not"
      />
      {options.labels.length > 0 && <Choice label="Label" options={sameText(options.labels)} />}
      {options.owners.length > 0 && <Choice label="Owner" options={sameText(options.owners)} />}
      <Choice label="Show" options={[['archived', 'Archived']]} all="Not archived" />
    </div>
  );
}

interface ChoiceProps {
  /** In lower case, it is the parameter of the URL. */
  readonly label: string;
  readonly options: Options;
  /** The option that filters nothing. */
  readonly all?: string;
}

function Choice({ label, options, all = label }: ChoiceProps) {
  const name = label.toLowerCase();
  const value = query.value.get(name) ?? '';
  const isKnown = value === '' || options.some(([key]) => key === value);
  return (
    <Select
      label={label}
      class={value === '' ? 'choice' : 'choice active'}
      value={value}
      options={[['', all], ...(isKnown ? [] : sameText([value])), ...options]}
      onChange={(chosen) => setQuery({ [name]: chosen })}
    />
  );
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
