import { describeAudience, isSameJson } from '@flags/core/admin';
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ExplainedFlag, ListedFlag } from '../../api/types.js';
import { findSegmentName } from '../../model/describe.js';
import { environmentWidth, fitColumns, type OptionalColumn, VIEWED } from '../../model/flag-columns.js';
import type { FlagFilter, SortKey } from '../../model/flag-list.js';
import { type RowWindow, rowWindow } from '../../model/window.js';
import { ExplainedAnswer } from '../../parts/control/answer.js';
import { Button, Link } from '../../parts/control/controls.js';
import { AgingTags } from '../../parts/flag/aging-tags.js';
import { ArchivedActions } from '../../parts/flag/archived-actions.js';
import { FlagSwitch } from '../../parts/flag/switch.js';
import { isAllProjects, setQuery } from '../../router.js';
import { type FlagMarks, useFlagMarks } from '../../state/flag-marks.js';
import { type FlagUsage, useUsage } from '../../state/flag-usage.js';
import { useAction } from '../../state/page-actions.js';
import { segments } from '../../state/segments.js';
import { environmentNames, offers } from '../../state/session.js';
import { useExplanations, viewAs, viewIn } from '../../state/view-as.js';
import { flagType, timeAgo } from '../../words.js';
import { Sparkline } from './sparkline.js';

interface FlagTableProps {
  readonly flags: readonly ListedFlag[];
  readonly filter: FlagFilter;
  readonly chosen: Signal<ReadonlySet<string>>;
  readonly project: string;
  readonly isArchive: boolean;
}

/** The estimated height until the first row is laid out. Cards are higher. */
const ROW_HEIGHT = 52;

/** A table that renders only the visible rows. Roles are explicit: narrow, the rows are cards. */
export function FlagTable({ flags, filter, chosen, project, isArchive }: FlagTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end, rowHeight, width } = useRowWindow(body, flags.length);
  const columns = isArchive ? [] : environmentNames.value;
  const wanted = useEnvironmentWidths(flags, columns);
  const nameWidth = useMemo(() => longestName(flags), [flags]);
  const context = isArchive ? undefined : viewAs.value;
  const explanations = useExplanations(project, viewIn.value, !isArchive);
  const isAllChosen = flags.length > 0 && flags.every(({ name }) => chosen.value.has(name));
  const hasUsage = !isArchive && offers('listUsage', project);
  const usageOf = useUsage(hasUsage);
  const marks = useFlagMarks(!isArchive);
  const { environments: widths, optional: shown } = fitColumns(width, {
    name: nameWidth,
    environments: wanted,
    isViewed: context !== undefined,
    optional: new Set<OptionalColumn>(['seen', 'type', ...(hasUsage ? (['hours'] as const) : [])]),
  });
  return (
    <table role="table" class="flags" aria-rowcount={flags.length + 1}>
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
          {shown.has('type') && <SortHead sort="type" filter={filter} label="Type" />}
          {columns.map((name, index) => (
            <Head key={name} class="environment" title={name} style={widthOf(widths[index])}>
              {name}
            </Head>
          ))}
          {shown.has('hours') && <Head class="hours">24 h</Head>}
          {shown.has('seen') && <SortHead sort="lastSeenAt" filter={filter} label="Seen" />}
          {context && (
            <Head class="for" style={widthOf(VIEWED)}>
              For {context.userId ?? 'this context'}
            </Head>
          )}
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
            shown={[...shown].join(' ')}
            usage={shown.has('hours') ? usageOf(flag.name) : undefined}
            explained={explanations?.get(flag.name)}
            marks={marks.get(flag.name)}
          />
        ))}
        {end < flags.length && <Gap height={(flags.length - end) * rowHeight} />}
      </tbody>
    </table>
  );
}

/** Returns the width of each column of an environment, by the texts of all rows: scrolling does not move columns. */
function useEnvironmentWidths(flags: readonly ListedFlag[], columns: readonly string[]): readonly number[] {
  const known = segments.value;
  return useMemo(
    () =>
      columns.map((column) => {
        const states = flags.flatMap(({ environments }) => environments.find(({ name }) => name === column) ?? []);
        return environmentWidth(column, states.map(audienceWords));
      }),
    [flags, columns, known],
  );
}

/** The names that are measured: the widest one is among the longest. */
const MEASURED = 20;

/** Returns the width of the widest name in the font size of the page, in all rows: scrolling does not move columns. */
function longestName(flags: readonly ListedFlag[]): number {
  const pen = document.createElement('canvas').getContext('2d');
  if (pen === null) return 0;
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  pen.font = `600 ${fontSize} ${fontFamily}`;
  const longest = flags
    .map(({ name }) => name)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, MEASURED);
  return Math.max(0, ...longest.map((name) => pen.measureText(name).width)) / Number.parseFloat(fontSize);
}

function widthOf(width = 0): { readonly inlineSize: string } {
  return { inlineSize: `${width}rem` };
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
  readonly title?: string;
  readonly style?: { readonly inlineSize: string };
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
  /** The names of the optional columns, in one text: equal properties do not render again. */
  readonly shown: string;
  readonly usage: FlagUsage | undefined;
  readonly explained: ExplainedFlag | undefined;
  readonly marks: FlagMarks | undefined;
}

/** Visible rows do not render again while the list scrolls, because their properties stay the same. */
function FlagRow({ flag, rowIndex, chosen, isArchive, shown, usage, explained, marks }: FlagRowProps) {
  const { name, project } = flag;
  const isChosen = chosen.value.has(name);
  const columns = shown.split(' ');
  const seen = flag.lastSeenAt === null ? 'never' : timeAgo(flag.lastSeenAt);
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
      <NameCell flag={flag} seen={seen} marks={marks} />
      {columns.includes('type') && <Cell class="type">{flagType(flag.type)}</Cell>}
      {!isArchive &&
        environmentNames.value.map((environment) => (
          <EnvironmentCell key={environment} flag={flag} name={environment} />
        ))}
      {usage && (
        <Cell class="hours">
          <Sparkline project={project} flag={name} usage={usage} />
        </Cell>
      )}
      {columns.includes('seen') && <Cell class="seen">{seen}</Cell>}
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

/** The name has the first line alone, because people look for names. */
function NameCell({ flag, seen, marks }: Pick<FlagRowProps, 'flag' | 'marks'> & { readonly seen: string }) {
  const text = [isAllProjects() && flag.project, flag.description].filter(Boolean).join(' · ');
  return (
    <th role="rowheader" scope="row" class="name">
      <Link to={['projects', flag.project, 'flags', flag.name]} title={flag.name} action="">
        {flag.name}
      </Link>
      <span class="name-line">
        {marks?.rollsOutIn && (
          <span class="tag mark" title={`Rolls out in ${marks.rollsOutIn}`}>
            rolls out
          </span>
        )}
        {marks?.requestedIn !== undefined && (
          <span class="tag mark" title={`A change is requested${marks.requestedIn && ` in ${marks.requestedIn}`}`}>
            requested
          </span>
        )}
        {flag.stale && <span class="tag warning">stale</span>}
        <AgingTags flag={flag} isShort />
        {(flag.labels ?? []).slice(0, 3).map((label) => (
          <span key={label} class="tag" title={label}>
            {label}
          </span>
        ))}
        {text && <small title={text}>{text}</small>}
        <small class="seen card-only">{seen === 'never' ? 'never seen' : seen}</small>
      </span>
    </th>
  );
}

function EnvironmentCell({ flag, name }: { readonly flag: ListedFlag; readonly name: string }) {
  const environment = flag.environments.find((one) => one.name === name);
  if (environment === undefined) return <Cell class="environment" data-label={name} />;
  const words = audienceWords(environment);
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

function audienceWords({ enabled, offBecauseOf, audience }: ListedFlag['environments'][number]): string {
  const isBlocked = enabled && offBecauseOf !== null;
  return isBlocked ? `because of ${offBecauseOf}` : describeAudience(audience, findSegmentName);
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
  /** The width of the table, in the font size of the page. */
  readonly width: number;
}

/** Tracks the scroll position of the page, and the sizes of the rows. */
function useRowWindow(body: { readonly current: HTMLElement | null }, count: number): TableWindow {
  const windowAt = (scrolled: number, rowHeight: number, width: number): TableWindow => ({
    ...rowWindow(scrolled, innerHeight, rowHeight, count),
    rowHeight,
    width,
  });
  const [view, setView] = useState(() => windowAt(0, ROW_HEIGHT, 0));
  useLayoutEffect(() => {
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const row = body.current?.querySelector<HTMLElement>('tr:not(.gap)');
      const fontSize = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      const next = windowAt(-top, row?.offsetHeight || ROW_HEIGHT, (body.current?.offsetWidth ?? 0) / fontSize);
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
  return view.end > count ? windowAt(0, view.rowHeight, view.width) : view;
}
