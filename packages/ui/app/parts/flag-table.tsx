import { describeAudience } from '@flags/core/admin';
import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Explained, ListedFlag } from '../api/types.js';
import { findSegmentName } from '../model/describe.js';
import type { FlagFilter, SortKey } from '../model/flag-list.js';
import { type RowWindow, rowWindow } from '../model/window.js';
import { href, isAllProjects, setQuery } from '../router.js';
import { useSegments } from '../state/segments.js';
import { environments, offers } from '../state/session.js';
import { type FlagUsage, useUsage } from '../state/usage.js';
import { useExplanations, viewAs, viewIn } from '../state/view-as.js';
import { ago, answer, flagType, why } from '../words.js';
import { AgingTags } from './aging-tags.js';
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

/** The estimated height until the first row is laid out. Cards are higher. */
const ROW_HEIGHT = 48;
/** Above this number of environments, their columns are narrow. */
const WIDE_COLUMNS = 2;

/** The classes of the table by width: they hide columns, or show cards. The style sheet uses the same widths. */
function classesOf(width: number, environmentCount: number, hasContext: boolean): string {
  const isMany = environmentCount > WIDE_COLUMNS;
  const needed = 364 + environmentCount * (isMany ? 120 : 196) + (hasContext ? 190 : 0);
  const room = width < needed ? ' cards' : width < needed + 246 ? ' compact' : '';
  return `flags${isMany ? ' many' : ''}${room}`;
}

/** A table that renders only the visible rows. */
export function FlagTable({ flags, filter, chosen, project, isArchive }: FlagTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useSegments();
  const { first, end, rowHeight, width } = useRowWindow(body, flags.length);
  const columns = isArchive ? [] : environments.value.map(({ name }) => name);
  const context = viewAs.value;
  const explanations = useExplanations(project, viewIn.value, !isArchive);
  const isAllChosen = flags.length > 0 && flags.every(({ name }) => chosen.value.has(name));
  const hasUsage = !isArchive && offers('listUsage', project);
  const usageOf = useUsage(hasUsage);
  return (
    <table
      class={classesOf(width, columns.length, context !== undefined && !isArchive)}
      aria-rowcount={flags.length + 1}
    >
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
        {first > 0 && <Gap height={first * rowHeight} />}
        {flags.slice(first, end).map((flag, index) => (
          <FlagRow
            key={flag.name}
            flag={flag}
            rowIndex={first + index + 2}
            chosen={chosen}
            isArchive={isArchive}
            usage={hasUsage ? usageOf(flag.name) : undefined}
            explained={explanations?.get(flag.name)}
          />
        ))}
        {end < flags.length && <Gap height={(flags.length - end) * rowHeight} />}
      </tbody>
    </table>
  );
}

interface FlagRowProps extends Pick<FlagTableProps, 'chosen' | 'isArchive'> {
  readonly flag: ListedFlag;
  readonly rowIndex: number;
  readonly usage: FlagUsage | undefined;
  readonly explained: Explained | undefined;
}

/** Visible rows do not render again while the list scrolls, because their properties stay the same. */
function FlagRow({ flag, rowIndex, chosen, isArchive, usage, explained }: FlagRowProps) {
  const { name, project } = flag;
  const isChosen = chosen.value.has(name);
  const toggle = () => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) next.add(name);
    chosen.value = next;
  };
  return (
    <tr aria-rowindex={rowIndex} class={isChosen ? 'chosen' : ''}>
      <td class="check">
        <input type="checkbox" aria-label={`Choose ${name}`} checked={isChosen} onChange={toggle} />
      </td>
      <NameCell flag={flag} />
      <td class="type">{flagType(flag.type)}</td>
      {!isArchive &&
        environments.value.map((environment) => (
          <EnvironmentCell key={environment.name} flag={flag} name={environment.name} />
        ))}
      {usage && (
        <td class="hours">
          <Sparkline project={project} flag={name} usage={usage} />
        </td>
      )}
      <td class="seen">{flag.lastSeenAt === null ? 'never' : ago(flag.lastSeenAt)}</td>
      {viewAs.value && !isArchive && (
        <td class="me" data-label={`For ${viewAs.value.userId ?? 'this context'}`}>
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

/** Takes the place of the rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  return (
    <tr class="gap" style={{ height: `${height}px` }}>
      <td />
    </tr>
  );
}

function NameCell({ flag }: { readonly flag: ListedFlag }) {
  const text = [isAllProjects() && flag.project, flag.description].filter(Boolean).join(' · ');
  return (
    <th scope="row" class="name">
      <span class="name-line">
        <a href={href(['projects', flag.project, 'flags', flag.name])} title={flag.name}>
          {flag.name}
        </a>
        {flag.stale && <span class="tag warning">stale</span>}
        <AgingTags flag={flag} isShort />
        {(flag.labels ?? []).slice(0, 3).map((label) => (
          <span key={label} class="tag" title={label}>
            {label}
          </span>
        ))}
      </span>
      {text && <small title={text}>{text}</small>}
    </th>
  );
}

function EnvironmentCell({ flag, name }: { readonly flag: ListedFlag; readonly name: string }) {
  const environment = flag.environments.find((one) => one.name === name);
  if (environment === undefined) return <td class="environment" data-label={name} />;
  const { enabled, offBecauseOf, audience } = environment;
  const isBlocked = enabled && offBecauseOf !== null;
  const words = isBlocked ? `because of ${offBecauseOf}` : describeAudience(audience, findSegmentName);
  return (
    <td class="environment" data-label={name}>
      <span class="environment-state">
        <FlagSwitch project={flag.project} flag={flag.name} revision={flag.revision} environment={environment} />
        {words && (
          <span class="audience" title={words}>
            {words}
          </span>
        )}
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

interface TableWindow extends RowWindow {
  readonly rowHeight: number;
  /** The width of the table. */
  readonly width: number;
}

/** Tracks the scroll position of the page, and the height of the rows. */
function useRowWindow(body: { readonly current: HTMLElement | null }, count: number): TableWindow {
  const windowAt = (scrolled: number, rowHeight: number, width: number): TableWindow => ({
    ...rowWindow(scrolled, innerHeight, rowHeight, count),
    rowHeight,
    width,
  });
  const [view, setView] = useState(() => windowAt(0, ROW_HEIGHT, innerWidth));
  useLayoutEffect(() => {
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const row = body.current?.querySelector<HTMLElement>('tr:not(.gap)');
      const width = body.current?.closest('section')?.clientWidth ?? innerWidth;
      const next = windowAt(-top, row?.offsetHeight || ROW_HEIGHT, width);
      setView((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next));
    };
    const observer = new ResizeObserver(update);
    if (body.current) observer.observe(body.current);
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      observer.disconnect();
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [count]);
  return view.end > count ? windowAt(0, view.rowHeight, view.width) : view;
}
