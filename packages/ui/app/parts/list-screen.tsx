import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { query } from '../router.js';
import { number, plural } from '../words.js';
import { Heading } from './heading.js';
import { SearchBox } from './search-box.js';
import { Empty, Fault, Loading } from './states.js';

/** Rows that are shown at first; a button shows as many more. */
const PAGE = 100;

interface ListScreenProps<Item> {
  readonly title: string;
  /** One item in words: "segment". */
  readonly noun: string;
  /** Undefined while they load. */
  readonly items: readonly Item[] | undefined;
  readonly error: ApiError | undefined;
  /** The name and what else the filter searches. */
  readonly textOf: (item: Item) => string;
  readonly columns: readonly string[];
  readonly row: (item: Item) => ComponentChildren;
  /** Whether the last column of the rows, which has no title, holds buttons. */
  readonly hasActions?: boolean;
  /** What an empty list says. */
  readonly empty: { readonly title: string; readonly text: string };
  /** The button that creates an item. */
  readonly create?: ComponentChildren;
  readonly tableClass?: string;
}

/** Lists what there is of one kind. The filter is in the address. */
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
