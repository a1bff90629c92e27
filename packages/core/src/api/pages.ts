/** Which part of a long list to read. */
export interface PageQuery {
  /** At most so many, 1–1000; 100 when absent. */
  readonly limit?: number | undefined;
  /** The `next` of the page before; from the beginning when absent. */
  readonly after?: string | undefined;
}

/**
 * A part of a long list, in the list's order. Reading from page to page brings everything that is there all the while
 * exactly once, whatever is created and deleted between one page and the next; the pages together are no consistent view.
 */
export interface Page<Item> {
  /** As many as the limit, but on the last page; fewer where the items are large. */
  readonly items: readonly Item[];
  /** Where the next page begins, to be passed as `after`; absent on the last page. It stays valid for as long as you like. */
  readonly next?: string;
}
