import type { Statements } from '../database.js';
import type { TableNames } from '../schema/table-names.js';
import { counterOrder } from './counter-order.js';
import { createReadEvents } from './events.js';
import type { Feed } from './feed.js';

/** Gives every event that is committed: what comes later has a higher number. */
export function counterFeed(options: {
  readonly statements: Statements;
  readonly names: TableNames;
  readonly hasTransactionIds: boolean;
}): Feed {
  const { statements, names, hasTransactionIds } = options;
  const read = createReadEvents(statements, names);
  return {
    order: counterOrder(names, { hasTransactionIds }),
    query: async (query) => (await read(query)).page,
  };
}
