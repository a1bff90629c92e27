import { describeAudience, isSameJson } from '@flags/core/admin';
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Explained, ListedFlag } from '../api/types.js';
import { findSegmentName } from '../model/describe.js';
import type { FlagFilter, SortKey } from '../model/flag-list.js';
import { type RowWindow, rowWindow } from '../model/window.js';
import { isAllProjects, setQuery } from '../router.js';
import { useAction } from '../state/actions.js';
import { environmentNames, offers } from '../state/session.js';
import { type FlagUsage, useUsage } from '../state/usage.js';
import { useExplanations, viewAs, viewIn } from '../state/view-as.js';
import { ago, flagType } from '../words.js';
import { AgingTags } from './aging-tags.js';
import { ExplainedAnswer } from './answer.js';
import { ArchivedActions } from './archived-actions.js';
import { Button, Link } from './controls.js';
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

/** A table that renders only the visible rows. Roles are explicit: narrow, the rows are cards. */
export function FlagTable({ flags, filter, chosen, project, isArchive }: FlagTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end, rowHeight } = useRowWindow(body, flags.length);
  const columns = isArchive ? [] : environmentNames.value;
  const context = isArchive ? undefined : viewAs.value;
  const explanations = useExplanations(project, viewIn.value, !isArchive);
  const isAllChosen = flags.length > 0 && flags.every(({ name }) => chosen.value.has(name));
  const hasUsage = !isArchive && offers('listUsage', project);
  const usageOf = useUsage(hasUsage);
  return (
    <table role="table" class={columns.length > WIDE_COLUMNS ? 'flags many' : 'flags'} aria-rowcount={flags.length + 1}>
      <caption class="hidden">Flags</caption>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <Head class="check">
            <RowCheck
              label="all flags of the list"
              isChosen={isAllChosen}
              onToggle={() => {
                chosen.value = new Set(isAllChosen ? [] : flags.map(({ name }) => name));
              }}
            />
          </Head>
          <SortHead sort="name" filter={filter} label="Name" />
          <SortHead sort="type" filter={filter} label="Type" />
          {columns.map((name) => (
            <Head key={name} class="environment">
              {name}
            </Head>
          ))}
          {hasUsage && <Head class="hours">24 h</Head>}
          <SortHead sort="lastSeenAt" filter={filter} label="Seen" />
          {context && <Head class="for">For {context.userId ?? 'this context'}</Head>}
          {isArchive && <Head class="actions-head">Actions</Head>}
        </tr>
      </thead>
      <tbody role="rowgroup" ref={body}>
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

interface RowCheckProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}

function RowCheck({ label, isChosen, onToggle }: RowCheckProps) {
  return (
    <input
      ref={useAction<HTMLInputElement>(`${isChosen ? 'Do not choose' : 'Choose'} ${label}`)}
      type="checkbox"
      aria-label={`Choose ${label}`}
      checked={isChosen}
      onChange={onToggle}
    />
  );
}

interface CellProps {
  readonly class: string;
  /** The title of the column, for cards. */
  readonly 'data-label'?: string;
  readonly children?: ComponentChildren;
}

function Cell(props: CellProps) {
  return <td role="cell" {...props} />;
}

function Head({ sorted, ...props }: CellProps & { readonly sorted?: 'ascending' | 'descending' | undefined }) {
  return <th role="columnheader" scope="col" aria-sort={sorted} {...props} />;
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
    <tr role="row" aria-rowindex={rowIndex} class={isChosen ? 'chosen' : ''}>
      <Cell class="check">
        <RowCheck label={name} isChosen={isChosen} onToggle={toggle} />
      </Cell>
      <NameCell flag={flag} />
      <Cell class="type">{flagType(flag.type)}</Cell>
      {!isArchive &&
        environmentNames.value.map((environment) => (
          <EnvironmentCell key={environment} flag={flag} name={environment} />
        ))}
      {usage && (
        <Cell class="hours">
          <Sparkline project={project} flag={name} usage={usage} />
        </Cell>
      )}
      <Cell class="seen">{flag.lastSeenAt === null ? 'never' : ago(flag.lastSeenAt)}</Cell>
      {viewAs.value && !isArchive && (
        <Cell class="me" data-label={`For ${viewAs.value.userId ?? 'this context'}`}>
          <ExplainedAnswer explained={explained} />
        </Cell>
      )}
      {isArchive && (
        <Cell class="archived">
          <ArchivedActions flag={flag} />
        </Cell>
      )}
    </tr>
  );
}

/** Takes the place of the rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  return (
    <tr role="row" class="gap" style={{ height: `${height}px` }}>
      <Cell class="" />
    </tr>
  );
}

function NameCell({ flag }: { readonly flag: ListedFlag }) {
  const text = [isAllProjects() && flag.project, flag.description].filter(Boolean).join(' · ');
  return (
    <th role="rowheader" scope="row" class="name">
      <span class="name-line">
        <Link to={['projects', flag.project, 'flags', flag.name]} title={flag.name} action="">
          {flag.name}
        </Link>
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
  if (environment === undefined) return <Cell class="environment" data-label={name} />;
  const { enabled, offBecauseOf, audience } = environment;
  const isBlocked = enabled && offBecauseOf !== null;
  const words = isBlocked ? `because of ${offBecauseOf}` : describeAudience(audience, findSegmentName);
  return (
    <Cell class="environment" data-label={name}>
      <span class="environment-state">
        <FlagSwitch project={flag.project} flag={flag.name} revision={flag.revision} environment={environment} />
        {words && (
          <span class="audience" title={words}>
            {words}
          </span>
        )}
      </span>
    </Cell>
  );
}

interface SortHeadProps {
  readonly sort: SortKey;
  readonly filter: FlagFilter;
  readonly label: string;
}

function SortHead({ sort, filter, label }: SortHeadProps) {
  const isCurrent = filter.sort === sort;
  const direction = filter.isDescending ? 'descending' : 'ascending';
  const next = isCurrent && !filter.isDescending ? `-${sort}` : sort === 'name' ? undefined : sort;
  return (
    <Head class={sort} sorted={isCurrent ? direction : undefined}>
      <Button class="sort" action={`Sort by ${label}`} onClick={() => setQuery({ sort: next })}>
        {label}
        <span aria-hidden="true">{isCurrent ? (filter.isDescending ? '▾' : '▴') : ''}</span>
      </Button>
    </Head>
  );
}

interface TableWindow extends RowWindow {
  readonly rowHeight: number;
}

/** Tracks the scroll position of the page, and the height of the rows. */
function useRowWindow(body: { readonly current: HTMLElement | null }, count: number): TableWindow {
  const windowAt = (scrolled: number, rowHeight: number): TableWindow => ({
    ...rowWindow(scrolled, innerHeight, rowHeight, count),
    rowHeight,
  });
  const [view, setView] = useState(() => windowAt(0, ROW_HEIGHT));
  useLayoutEffect(() => {
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const row = body.current?.querySelector<HTMLElement>('tr:not(.gap)');
      const next = windowAt(-top, row?.offsetHeight || ROW_HEIGHT);
      setView((now) => (isSameJson(now, next) ? now : next));
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
  return view.end > count ? windowAt(0, view.rowHeight) : view;
}
