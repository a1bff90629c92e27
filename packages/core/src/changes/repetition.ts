import type { Storage } from '../storage/port.js';
import type { DocumentReader } from './reader.js';

/** A set that its caller may have sent before. */
export interface RepeatableSet {
  readonly context: { readonly actor: string };
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Whether a set was committed before, under the id that the caller gave. */
export async function isRepetition(storage: Pick<Storage, 'events'>, id: string | undefined): Promise<boolean> {
  if (id === undefined) return false;
  const { events } = await storage.events({
    order: 'oldest-first',
    filter: { changeSet: id },
    limit: 1,
    withoutData: true,
  });
  return events.length > 0;
}

/** Returns the result of a repeated set. It has no documents: the caller reads the first result from the events. */
export function toRepetition({ id, at, context: { actor } }: RepeatableSet) {
  const missing = () => Promise.reject(new Error('A repeated change set reads its result from the events.'));
  const documents: DocumentReader = { read: missing, list: missing };
  return { id, at, actor, documents };
}
