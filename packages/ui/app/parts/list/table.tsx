import type { ComponentChildren } from 'preact';

export interface Column<Item> {
  /** Empty: the column has buttons. */
  readonly title: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** Whether narrow rows, which have no head, name the column. */
  readonly isNamed?: boolean;
  readonly class?: (item: Item) => string;
}

interface TableProps<Item> {
  readonly class: string;
  readonly caption?: string;
  /** The first column names the row. */
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly keyOf: (item: Item, index: number) => string | number;
  readonly rowClass?: (item: Item) => string;
}

/**
 * A table with one row per item. The roles are explicit, because browsers drop those of table elements when a style
 * changes their `display`, as narrow tables do.
 */
export function Table<Item>({ caption, columns, items, keyOf, rowClass, ...props }: TableProps<Item>) {
  const [first, ...others] = columns;
  return (
    <table role="table" class={props.class}>
      {caption && <caption class="hidden">{caption}</caption>}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title }) => (
            <th key={title} role="columnheader" scope="col">
              {title || <span class="hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {items.map((item, index) => (
          <tr key={keyOf(item, index)} role="row" class={rowClass?.(item)}>
            <th role="rowheader" scope="row">
              {first?.cell(item)}
            </th>
            {others.map(({ title, cell, isNamed, ...column }) => (
              <td
                key={title}
                role="cell"
                class={title === '' ? 'row-actions' : column.class?.(item)}
                data-label={isNamed ? title : undefined}
              >
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
