import { FlagsError } from '../errors.js';
import type { EventType } from '../events/event.types.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { projectDocuments } from '../projects/project.js';
import { segmentDocuments } from '../segments/segment.js';
import { segmentRegistries } from '../segments/segment-registry.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import { LIMITS } from '../validation/limits.js';
import type { DocumentChange } from './document-change.js';
import { nameOf } from './reader.js';

/** What counts as a definition. */
const DEFINITIONS: readonly string[] = [flagDocuments, segmentDocuments, projectDocuments].map(({ kind }) => kind);

/**
 * Events that add nothing, or a few bytes that a later event of the other kind takes away. They are never refused: whatever size
 * a flag has, it can be switched off, archived and emptied.
 */
const NEVER_REFUSED: ReadonlySet<EventType> = new Set([
  'flag-archived',
  'flag-revived',
  'flag-deleted',
  'flag-stale-on',
  'flag-stale-off',
  'environment-enabled',
  'environment-disabled',
  'strategy-removed',
  'dependency-removed',
  'member-removed',
]);

const ADVICE: ReadonlyMap<string, string> = new Map([
  [flagDocuments.kind, 'shorten its texts and lists, or move constraints into segments'],
  [segmentDocuments.kind, 'divide it into several segments'],
  [projectDocuments.kind, 'remove members first'],
  [segmentRegistries.kind, 'it holds the names of all segments: delete segments, or choose shorter names'],
]);

/** In characters. Work on larger documents takes milliseconds. */
const LARGE = 100_000;

export function isLarge({ write }: DocumentChange): boolean {
  return !('deleted' in write) && write.text.length > LARGE;
}

/**
 * Refuses a change by which a document becomes too large. A document that release 0.1 has made too large may shrink or keep its
 * size.
 *
 * @throws FlagsError `document_too_large`
 */
export function assertDocumentSizes(changes: readonly DocumentChange[]): void {
  const { documentBytes } = LIMITS;
  for (const change of changes) {
    if (!isLarge(change)) continue;
    const { write, events, found } = change;
    const bytes = bytesOf(write);
    if (bytes <= documentBytes || (events.length > 0 && isNeverRefused(events))) continue;
    if (found && bytes <= sizeOf(found.state)) continue;
    const { kind, id } = write.key;
    const advice = ADVICE.get(kind) ?? 'make it smaller';
    const message = `The ${kind} ${id} would take ${bytes} bytes, and a document may take ${documentBytes}; ${advice}.`;
    throw new FlagsError('document_too_large', message);
  }
}

function isNeverRefused(events: DocumentChange['events']): boolean {
  return events.every(({ type }) => NEVER_REFUSED.has(type));
}

function bytesOf(write: DocumentChange['write']): number {
  return 'deleted' in write ? 0 : Buffer.byteLength(write.text);
}

/** Bytes of the JSON of a document. */
function sizeOf(state: unknown): number {
  return state === undefined ? 0 : Buffer.byteLength(JSON.stringify(state));
}

interface Size {
  readonly bytes: number;
  readonly revision: number;
}

/**
 * The size of all definitions together: flags, archived ones too, segments and projects. It counts what this process has
 * committed, and what it has heard of others, so several nodes can exceed the limit by what they commit between two polls.
 */
export class StateSize {
  private readonly sizes = new Map<string, Size>();
  private total = 0;
  private reserved = 0;

  constructor(private readonly limit: number) {}

  async load(storage: Pick<Storage, 'list'>): Promise<void> {
    for (const kind of DEFINITIONS) {
      for (const { key, revision, content } of await storage.list({ kind, part: 'body' })) {
        this.take(key, { revision, state: content });
      }
    }
  }

  /**
   * Sets room aside for a commit that is under way, so that simultaneous ones do not exceed the limit together.
   *
   * @returns a function that gives the room back
   * @throws FlagsError `state_too_large`
   */
  reserve(changes: readonly DocumentChange[]): () => void {
    const growth = this.growthBy(changes);
    if (growth <= 0) return () => undefined;
    const bytes = this.total + this.reserved + growth;
    if (bytes > this.limit && !isNeverRefused(changes.flatMap(({ events }) => events))) {
      const message = `All flags, segments and projects together would take ${bytes} bytes, and stateLimit is ${this.limit}; delete what is not used any more, archived flags too.`;
      throw new FlagsError('state_too_large', message);
    }
    this.reserved += growth;
    return () => {
      this.reserved -= growth;
    };
  }

  /** Counts what this process has committed. */
  record(changes: readonly DocumentChange[], revisions: readonly number[]): void {
    for (const [index, { write }] of changes.entries()) {
      this.set(write.key, { bytes: bytesOf(write), revision: revisions[index] ?? 0 });
    }
  }

  /** Counts what another process has committed. */
  take(key: DocumentKey, { revision, state }: { readonly revision: number; readonly state: unknown }): void {
    this.set(key, { bytes: sizeOf(state), revision });
  }

  /** Whether a document at this revision has yet to be counted. */
  isNews(key: DocumentKey, revision: number): boolean {
    return DEFINITIONS.includes(key.kind) && revision > (this.sizes.get(nameOf(key))?.revision ?? 0);
  }

  private growthBy(changes: readonly DocumentChange[]): number {
    const definitions = changes.filter(({ write }) => DEFINITIONS.includes(write.key.kind));
    return definitions.reduce((sum, { write }) => sum + bytesOf(write) - this.bytesOf(write.key), 0);
  }

  private set(key: DocumentKey, size: Size): void {
    if (!this.isNews(key, size.revision)) return;
    this.total += size.bytes - this.bytesOf(key);
    this.sizes.set(nameOf(key), size);
  }

  private bytesOf(key: DocumentKey): number {
    return this.sizes.get(nameOf(key))?.bytes ?? 0;
  }
}
