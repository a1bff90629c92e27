import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Explained, ListedFlag } from '../api/types.js';
import type { FlagFilter, SortKey } from '../model/flag-list.js';
import { type RowWindow, rowWindow } from '../model/window.js';
import { href, setQuery } from '../router.js';
import { version } from '../state/changes.js';
import { environments, offers } from '../state/session.js';
import { explanationsFor, viewAs, viewIn } from '../state/view-as.js';
import { ago, answer, flagType, why } from '../words.js';
import { ArchivedActions } from './archived-actions.js';
import { Sparkline } from './sparkline.js';
import { FlagSwitch } from './switch.js';

interface FlagTableProps {
  readonly flags: readonly ListedFlag[];
  readonly filter: FlagFilter;
  readonly chosen: Signal<ReadonlySet<string>>;
  readonly project: string;
  readonly isArchive: boolean;
}

const ROW_HEIGHT = 48;

/** A table of which only the rows in view are in the page. */
export function FlagTable({ flags, filter, chosen, project, isArchive }: FlagTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end } = useRowWindow(body, flags.length);
  const columns = isArchive ? [] : environments.value.map(({ name }) => name);
  const context = viewAs.value;
  const explanations = isArchive ? undefined : explanationsFor(project, viewIn.value, version.value);
  const isAllChosen = flags.length > 0 && flags.every(({ name }) => chosen.value.has(name));
  const hasUsage = !isArchive && offers('listUsage', project);
  const columnCount = columns.length + (context && !isArchive ? 1 : 0) + (hasUsage ? 1 : 0) + (isArchive ? 1 : 0) + 4;
  return (
    <div class="table-frame">
      <table class="flags" aria-rowcount={flags.length + 1}>
        <caption class="hidden">Flags</caption>
        <thead>
          <tr aria-rowindex={1}>
            <th class="check" scope="col">
              <input
                type="checkbox"
                aria-label="Choose all flags of the list"
                checked={isAllChosen}
                onChange={() => {
                  chosen.value = new Set(isAllChosen ? [] : flags.map(({ name }) => name));
                }}
              />
            </th>
            <SortHeader sort="name" filter={filter} label="Name" />
            <SortHeader sort="type" filter={filter} label="Type" />
            {columns.map((name) => (
              <th key={name} scope="col" class="environment">
                {name}
              </th>
            ))}
            {hasUsage && (
              <th scope="col" class="hours">
                24 h
              </th>
            )}
            <SortHeader sort="lastSeenAt" filter={filter} label="Seen" />
            {context && !isArchive && (
              <th scope="col" class="for">
                For {context.userId ?? 'this context'}
              </th>
            )}
            {isArchive && <th scope="col">Actions</th>}
          </tr>
        </thead>
        <tbody ref={body}>
          {first > 0 && <Gap rows={first} columns={columnCount} />}
          {flags.slice(first, end).map((flag, index) => (
            <FlagRow
              key={flag.name}
              flag={flag}
              rowIndex={first + index + 2}
              chosen={chosen}
              isArchive={isArchive}
              hasUsage={hasUsage}
              explained={explanations?.get(flag.name)}
            />
          ))}
          {end < flags.length && <Gap rows={flags.length - end} columns={columnCount} />}
        </tbody>
      </table>
    </div>
  );
}

interface FlagRowProps extends Pick<FlagTableProps, 'chosen' | 'isArchive'> {
  readonly flag: ListedFlag;
  readonly rowIndex: number;
  readonly hasUsage: boolean;
  readonly explained: Explained | undefined;
}

/** Rows that stay in view are not rendered again while the list scrolls: their properties stay the same. */
function FlagRow({ flag, rowIndex, chosen, isArchive, hasUsage, explained }: FlagRowProps) {
  const { name, project } = flag;
  const isChosen = chosen.value.has(name);
  const toggle = () => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) next.add(name);
    chosen.value = next;
  };
  return (
    <tr
      aria-rowindex={rowIndex}
      class={isChosen ? 'chosen' : ''}
      data-edit={isArchive ? undefined : href(['projects', project, 'flags', name, viewIn.value])}
    >
      <td class="check">
        <input type="checkbox" aria-label={`Choose ${name}`} checked={isChosen} onChange={toggle} />
      </td>
      <NameCell flag={flag} />
      <td class="type">{flagType(flag.type)}</td>
      {!isArchive &&
        environments.value.map((environment) => (
          <EnvironmentCell key={environment.name} flag={flag} name={environment.name} />
        ))}
      {hasUsage && (
        <td>
          <Sparkline project={project} flag={name} />
        </td>
      )}
      <td class="seen">{flag.lastSeenAt === null ? 'never' : ago(flag.lastSeenAt)}</td>
      {viewAs.value && !isArchive && (
        <td class="me">
          <Answer explained={explained} />
        </td>
      )}
      {isArchive && (
        <td>
          <ArchivedActions flag={flag} />
        </td>
      )}
    </tr>
  );
}

function Answer({ explained }: Pick<FlagRowProps, 'explained'>) {
  if (explained === undefined) return <span class="muted">…</span>;
  return (
    <span class={explained.enabled ? 'answer on' : 'answer off'} title={why(explained)}>
      {answer(explained)}
      <small>{why(explained)}</small>
    </span>
  );
}

/** Keeps the height of the rows that are not in the page. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr class="gap" style={{ height: `${rows * ROW_HEIGHT}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}

function NameCell({ flag }: { readonly flag: ListedFlag }) {
  return (
    <th scope="row" class="name">
      <a href={href(['projects', flag.project, 'flags', flag.name])}>{flag.name}</a>
      {flag.stale && <span class="tag warning">stale</span>}
      {(flag.labels ?? []).slice(0, 3).map((label) => (
        <span key={label} class="tag">
          {label}
        </span>
      ))}
      {flag.description && <small title={flag.description}>{flag.description}</small>}
    </th>
  );
}

function EnvironmentCell({ flag, name }: { readonly flag: ListedFlag; readonly name: string }) {
  const environment = flag.environments.find((one) => one.name === name);
  if (environment === undefined) return <td class="environment" />;
  const { rollout, strategyCount } = environment;
  return (
    <td class="environment">
      <span class="environment-state">
        <FlagSwitch project={flag.project} flag={flag.name} revision={flag.revision} environment={environment} />
        {strategyCount > 0 && <span class="rollout">{rollout} %</span>}
      </span>
    </td>
  );
}

interface SortHeaderProps {
  readonly sort: SortKey;
  readonly filter: FlagFilter;
  readonly label: string;
}

function SortHeader({ sort, filter, label }: SortHeaderProps) {
  const isCurrent = filter.sort === sort;
  const direction = filter.isDescending ? 'descending' : 'ascending';
  const next = isCurrent && !filter.isDescending ? `-${sort}` : sort === 'name' ? undefined : sort;
  return (
    <th scope="col" aria-sort={isCurrent ? direction : undefined} class={sort}>
      <button type="button" class="sort" onClick={() => setQuery({ sort: next })}>
        {label}
        <span aria-hidden="true">{isCurrent ? (filter.isDescending ? '▾' : '▴') : ''}</span>
      </button>
    </th>
  );
}

/** Follows the scrolling of the page. */
function useRowWindow(body: { readonly current: HTMLElement | null }, count: number): RowWindow {
  const [view, setView] = useState<RowWindow>(() => rowWindow(0, innerHeight, ROW_HEIGHT, count));
  useEffect(() => {
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const next = rowWindow(-top, innerHeight, ROW_HEIGHT, count);
      setView((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [count]);
  return view.end > count ? rowWindow(0, innerHeight, ROW_HEIGHT, count) : view;
}
