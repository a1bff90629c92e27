import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { QueryState } from '../../api/resource.js';
import { query } from '../../router.js';
import { shownOf } from '../../words.js';
import { Paged } from '../control/controls.js';
import { ScreenHead, WhenLoaded } from '../frame/screen.js';
import { Empty } from '../frame/states.js';
import { SearchBox } from './search-box.js';
import { type Column, Table } from './table.js';

/** The number of rows at first, and of the rows that each press of the button adds. */
const PAGE = 100;

interface ListScreenProps<Item> {
  readonly title: string;
  /** Whether the list is a part of a screen. Its heading is one level lower then. */
  readonly isPart?: boolean;
  /** The noun for an item: "segment". */
  readonly noun: string;
  readonly reply: Pick<QueryState<unknown>, 'data' | 'error'>;
  /** Undefined while the items load. */
  readonly items: readonly Item[] | undefined;
  readonly keyOf: (item: Item) => string | number;
  /** The text that the filter searches, such as the name. */
  readonly textOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  /** The text of an empty list. */
  readonly empty: { readonly title: string; readonly text: string };
  /** The button that creates an item. */
  readonly create?: ComponentChildren;
  readonly tableClass?: string;
  readonly rowClass?: (item: Item) => string;
}

/** A list of items of one kind. The URL holds the filter. */
export function ListScreen<Item>(props: ListScreenProps<Item>) {
  const { title, isPart = false, noun, reply, items = [], textOf, empty, create, tableClass = '', ...table } = props;
  const id = useId();
  const search = (query.value.get('q') ?? '').toLowerCase();
  const all = items.toSorted((one, other) => textOf(one).localeCompare(textOf(other), undefined, { numeric: true }));
  const found = all.filter((item) => textOf(item).toLowerCase().includes(search));
  return (
    <section aria-labelledby={isPart ? id : undefined}>
      {isPart ? (
        <header class="screen-head part-head">
          <h2 id={id}>{title}</h2>
          <span class="actions">{all.length > 0 && create}</span>
        </header>
      ) : (
        <ScreenHead title={title} actions={all.length > 0 && create} />
      )}
      <WhenLoaded reply={reply}>
        {() =>
          all.length === 0 ? (
            <Empty title={empty.title}>
              <p>{empty.text}</p>
              {create}
            </Empty>
          ) : (
            <>
              <SearchBox label={`Filter ${noun}s`} />
              <p class="count" role="status">
                {shownOf(found.length, all.length, noun)}
              </p>
              <Paged items={found} page={PAGE}>
                {(shown) => <Table {...table} class={`list ${tableClass}`} items={shown} />}
              </Paged>
            </>
          )
        }
      </WhenLoaded>
    </section>
  );
}
