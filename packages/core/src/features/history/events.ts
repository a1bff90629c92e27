import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { EventLog, EventQuery, FeedPage, FeedQuery } from '../../kernel/log/event.types.js';
import { eventOperations as operations } from './event.operations.js';

/** Reads of the event log: `flags.events`. `flags.subscribe` and `flags.consume` hand events to a function. */
export class Events extends Namespace {
  /**
   * Lists events, newest first.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items, total } = await flags.events.list({ flag: 'checkout', limit: 20 });
   */
  list(query?: EventQuery): Promise<EventLog> {
    return run(this, operations.listEvents, { input: query });
  }

  /**
   * Lists the events after a position, oldest first, without a total. For readers that store their own position.
   * Without `after` the list is empty, and `position` is that of the newest event.
   *
   * @throws FlagsError `invalid_input`, `history_lost` (the storage has no longer the event at `after`: start again)
   * @example
   * let { position } = await flags.events.listNext();
   * // … later:
   * const page = await flags.events.listNext({ after: position });
   * position = page.position;
   */
  listNext(query?: FeedQuery): Promise<FeedPage> {
    return run(this, operations.listNextEvents, { input: query });
  }
}
