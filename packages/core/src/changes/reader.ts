import type { DocumentCheck, DocumentKey, Storage } from '../storage/port.js';
import { timeSlice } from '../time-slice.js';
import { invalidInput } from '../validation/validator.js';
import type { Documents, Versioned } from './aggregate.js';

/** Resolves to a document, or to undefined if there is none. */
export type Read = <State>(documents: Documents<State>, id: string) => Promise<Versioned<State> | undefined>;

/** Creates a reader of a storage. Reads reject with `invalid_input` for an id that is not a string. */
export function createRead(storage: Pick<Storage, 'get'>): Read {
  return async <State>({ kind }: Documents<State>, id: string) => {
    assertText(kind, id);
    const found = await storage.get({ kind, id });
    return found && { state: found.body as State, revision: found.revision };
  };
}

/**
 * Caches the documents that it reads, so repeated reads return the same state. A commit can check that none of the
 * documents has changed since.
 */
export interface TrackingReader {
  readonly read: Read;
  /** Returns checks for all documents found, except the written ones. Writes check the revision themselves. */
  checksBeside(written: readonly DocumentKey[]): DocumentCheck[];
}

export function createTrackingReader(storage: Pick<Storage, 'get'>): TrackingReader {
  const readings = new Map<string, Promise<Versioned<unknown> | undefined>>();
  const found: DocumentCheck[] = [];

  async function readAndTrack(key: DocumentKey): Promise<Versioned<unknown> | undefined> {
    // A change may read hundreds of large segments, and a storage in this process reads synchronously.
    if (timeSlice.isOver()) await timeSlice.next();
    const document = await storage.get(key);
    if (!document) return undefined;
    found.push({ key, expected: document.revision });
    return { state: document.body, revision: document.revision };
  }

  return {
    read<State>({ kind }: Documents<State>, id: string) {
      assertText(kind, id);
      const key = { kind, id };
      const name = nameOf(key);
      const reading = readings.get(name) ?? readAndTrack(key);
      readings.set(name, reading);
      return reading as Promise<Versioned<State> | undefined>;
    },
    checksBeside: (written) => {
      const names = new Set(written.map(nameOf));
      return found.filter(({ key }) => !names.has(nameOf(key)));
    },
  };
}

/** Throws `invalid_input` for a reference that is not a string. */
export function assertText(kind: string, id: unknown): void {
  if (typeof id !== 'string') throw invalidInput([{ message: `must name a ${kind}, as a string`, path: `/${kind}` }]);
}

/** Returns a unique text for a key. It is unique because kinds contain no spaces. */
export function nameOf({ kind, id }: DocumentKey): string {
  return `${kind} ${id}`;
}
