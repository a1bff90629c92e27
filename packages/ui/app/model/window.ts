/** The rendered rows of a long list: the visible rows, and some around them. */
export interface RowWindow {
  readonly first: number;
  /** The index after the last row. */
  readonly end: number;
}

/** Rows to render above and below the visible ones, so that scrolling shows no gaps. */
const AROUND = 8;

/** Returns the rows to render. All rows have the same height. */
export function rowWindow(scrolled: number, height: number, rowHeight: number, count: number): RowWindow {
  const first = Math.max(0, Math.min(Math.floor(scrolled / rowHeight), count) - AROUND);
  const end = Math.min(count, Math.max(0, Math.ceil((scrolled + height) / rowHeight)) + AROUND);
  return { first, end: Math.max(first, end) };
}
