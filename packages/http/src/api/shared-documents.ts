import { createHash } from 'node:crypto';
import { nextTurn } from '@flags/core/integration/shared';
import { toTag } from '../messages/entity-tags.js';
import { type Pieces, SLICE_LENGTH, slicesOf } from '../messages/json.js';
import { ownBytes } from '../messages/reply.js';
import type { Admission } from './admission.js';

/** The bytes of all documents that are kept or read. A document that does not fit keeps its tag only. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A longer document is written slice by slice, because many clients may read it slowly. */
const BUFFERED_BYTES = 1024 * 1024;

/** The estimated bytes of an entry beside its document and key. */
const ENTRY_OVERHEAD = 1024;

/** A document for SDKs: the same for all clients with this key. */
export interface SharedDocument {
  /** The scope, and the version of the configuration. */
  readonly key: string;
  readonly generate: () => Pieces;
}

/** An encoded document. */
interface Encoded {
  readonly etag: string;
  /** Absent if it is long. */
  readonly body: Buffer | undefined;
  /** Yields the slices of a long document. Its bytes count until the client has taken them. */
  read(): AsyncGenerator<string | Uint8Array, void>;
}

interface Entry {
  encoding: Promise<Encoded>;
  bytes: number;
  /** The number of clients that read it, and one more during the encoding. */
  readers: number;
}

/** Returns an encoded document, which clients share. */
export type Documents = (document: SharedDocument) => Promise<Encoded>;

/** Encodes each document once, and hashes it in the same pass. Only one that does not fit is generated for each client. */
export function createDocuments(admission: Admission, maxBytes = MAX_BYTES): Documents {
  /** The least recently used one first. */
  const kept = new Map<string, Entry>();
  let total = 0;

  function makeRoom(bytes: number): boolean {
    for (const [key, entry] of kept) {
      if (total + bytes <= maxBytes) return true;
      if (entry.readers === 0) drop(key, entry);
    }
    return total + bytes <= maxBytes;
  }

  function add(entry: Entry, bytes: number): void {
    total += bytes;
    entry.bytes += bytes;
  }

  function drop(key: string, entry: Entry): void {
    if (kept.get(key) === entry) kept.delete(key);
    add(entry, -entry.bytes);
  }

  async function* readSlices(entry: Entry, slices: readonly Buffer[]): AsyncGenerator<Buffer, void> {
    entry.readers++;
    try {
      for (const slice of slices) {
        // A thousand clients may have waited for the same document. Writing it to all of them would be one long turn.
        await nextTurn();
        yield slice;
      }
    } finally {
      entry.readers--;
    }
  }

  async function encode(entry: Entry, { key, generate }: SharedDocument): Promise<Encoded> {
    const passage = admission({ signal: undefined }, key);
    const digest = createHash('sha256');
    let slices: Buffer[] | undefined = [];
    let length = 0;
    try {
      for await (const text of slicesOf(generate())) {
        digest.update(text);
        if (slices && makeRoom(Buffer.byteLength(text))) {
          const slice = ownBytes(text);
          slices.push(slice);
          length += slice.length;
          add(entry, slice.length);
        } else if (slices) {
          slices = undefined;
          add(entry, -length);
        }
        if (text.length === SLICE_LENGTH) await passage.enter('document');
      }
      const etag = toTag(digest.digest('hex'), undefined);
      if (slices === undefined) return { etag, body: undefined, read: () => slicesOf(generate()) };
      const [first, ...others] = slices;
      const whole = slices;
      const body = others.length === 0 ? first : length > BUFFERED_BYTES ? undefined : Buffer.concat(slices);
      return { etag, body, read: () => readSlices(entry, whole) };
    } catch (error) {
      drop(key, entry);
      throw error;
    } finally {
      passage.leave();
      entry.readers--;
    }
  }

  return (document) => {
    const { key } = document;
    const known = kept.get(key);
    if (known) {
      kept.delete(key);
      kept.set(key, known);
      return known.encoding;
    }
    const entry = { bytes: 0, readers: 1 } as Entry;
    makeRoom(ENTRY_OVERHEAD + 2 * key.length);
    add(entry, ENTRY_OVERHEAD + 2 * key.length);
    kept.set(key, entry);
    entry.encoding = encode(entry, document);
    return entry.encoding;
  };
}
