import type { DocumentKey, ListedDocument, ListQuery, Storage } from '../storage/port.js';
import { invalidInput } from '../validation/validator.js';
import type { Documents, Versioned } from './aggregate.js';

/** Resolves to a document, or to undefined if there is none. */
export type Read = <State>(documents: Documents<State>, id: string) => Promise<Versioned<State> | undefined>;

/** Reads documents: the stored ones, or those that the earlier changes of a set leave. */
export interface DocumentReader {
  readonly read: Read;
  readonly list: (query: ListQuery) => Promise<ListedDocument[]>;
}

/** Creates a read of a storage. Reads reject with `invalid_input` for an id that is not a string. */
export function createRead(storage: Pick<Storage, 'get'>): Read {
  return async <State>({ kind }: Documents<State>, id: string) => {
    assertText(kind, id);
    const found = await storage.get({ kind, id });
    return found && { state: found.body as State, revision: found.revision };
  };
}

/** Creates a reader of the stored documents. */
export function createReader(storage: Pick<Storage, 'get' | 'list'>): DocumentReader {
  return { read: createRead(storage), list: async (query) => storage.list(query) };
}

/** Throws `invalid_input` for a reference that is not a string. */
export function assertText(kind: string, id: unknown): void {
  if (typeof id !== 'string') throw invalidInput([{ message: `must name a ${kind}, as a string`, path: `/${kind}` }]);
}

/** Returns a unique text for a key. It is unique because kinds contain no spaces. */
export function nameOf({ kind, id }: DocumentKey): string {
  return `${kind} ${id}`;
}
