import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { query } from '../router.js';
import { number, plural } from '../words.js';
import { Heading } from './heading.js';
import { SearchBox } from './search-box.js';
import { Empty, Fault, Loading } from './states.js';

/** The number of rows at first, and of the rows that each press of the button adds. */
const PAGE = 100;

interface ListScreenProps<Item> {
  readonly title: string;
  /** The noun for an item: "segment". */
  readonly noun: string;
  /** Undefined while the items load. */
  readonly items: readonly Item[] | undefined;
  readonly error: ApiError | undefined;
  /** The text that the filter searches, such as the name. */
  readonly textOf: (item: Item) => string;
  readonly columns: readonly string[];
  readonly row: (item: Item) => ComponentChildren;
  /** Whether the last column of the rows, which has no title, holds buttons. */
  readonly hasActions?: boolean;
  /** The text of an empty list. */
  readonly empty: { readonly title: string; readonly text: string };
  /** The button that creates an item. */
  readonly create?: ComponentChildren;
  readonly tableClass?: string;
}

/** A list of items of one kind. The URL holds the filter. */
export function ListScreen<Item>(props: ListScreenProps<Item>) {
  const { title, noun, items, error, textOf, columns, row, hasActions, empty, create, tableClass = '' } = props;
  const [shown, setShown] = useState(PAGE);
  const search = (query.value.get('q') ?? '').toLowerCase();
  const all = (items ?? []).toSorted((one, other) => textOf(one).localeCompare(textOf(other)));
  const found = all.filter((item) => textOf(item).toLowerCase().includes(search));
  return (
    <section>
      <div class="screen-head">
        <Heading title={title} />
        <span class="stretch" />
        {all.length > 0 && create}
      </div>
      {error && <Fault error={error} />}
      {!items && !error && <Loading />}
      {items?.length === 0 && (
        <Empty title={empty.title}>
          <p>{empty.text}</p>
          {create}
        </Empty>
      )}
      {all.length > 0 && (
        <>
          <SearchBox label={`Filter ${noun}s`} />
          <p class="count" role="status">
            {search === '' ? plural(all.length, noun) : `${number(found.length)} of ${plural(all.length, noun)}`}
          </p>
          <table class={`list ${tableClass}`}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
                {hasActions && (
                  <th scope="col">
                    <span class="hidden">Actions</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>{found.slice(0, shown).map(row)}</tbody>
          </table>
          {found.length > shown && (
            <button type="button" onClick={() => setShown(shown + PAGE)}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  );
}
