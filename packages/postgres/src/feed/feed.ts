import type { EventPage, StoredEventQuery } from '@flags/core';
import type { FeedOrder } from './feed-order.js';

/** The events of a storage, in an order that never changes behind a reader. */
export interface Feed {
  readonly order: FeedOrder;
  query(query: StoredEventQuery): Promise<EventPage>;
}
