import type { DocumentCheck, DocumentKey, Storage } from '../storage/port.js';
import { invalidInput } from '../validation/validator.js';
import type { Documents, Versioned } from './aggregate.js';

/** Reads a document's state, or undefined if there is no document. */
export type Read = <State>(documents: Documents<State>, id: string) => Promise<Versioned<State> | undefined>;

/** Reads from a storage. Throws `invalid_input` for an id that is not a string. */
export function createRead(storage: Pick<Storage, 'get'>): Read {
  return async <State>({ kind }: Documents<State>, id: string) => {
    assertText(kind, id);
    const found = await storage.get({ kind, id });
    return found && { state: found.body as State, revision: found.revision };
  };
}

/**
 * A reader that caches its reads: it returns the same state for the same document, and a commit can check that none of
 * these documents has changed since.
 */
export interface TrackingReader {
  readonly read: Read;
  /** Checks of all documents found, except the written ones: their writes compare the revision anyway. */
  checksBeside(written: readonly DocumentKey[]): DocumentCheck[];
}

export function createTrackingReader(storage: Pick<Storage, 'get'>): TrackingReader {
  const readings = new Map<string, Promise<Versioned<unknown> | undefined>>();
  const found: DocumentCheck[] = [];

  async function readAndTrack(key: DocumentKey): Promise<Versioned<unknown> | undefined> {
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

/** A unique text for a key: kinds contain no spaces. */
export function nameOf({ kind, id }: DocumentKey): string {
  return `${kind} ${id}`;
}
