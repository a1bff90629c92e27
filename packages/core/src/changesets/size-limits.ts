import { LIMITS } from '../base/limits.js';
import { FlagsError } from '../errors.js';
import type { DomainEvent, EventType } from '../events/event.types.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { projectDocuments } from '../projects/project.js';
import { segmentDocuments, segmentRegistries } from '../segments/segment.js';
import { nameOf } from '../storage/documents.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import type { DocumentChange } from './document-changes.js';
import { locateRefusal } from './refusals.js';

/** The document kinds that count towards the state size. */
const DEFINITION_KINDS: readonly string[] = [flagDocuments, segmentDocuments, projectDocuments].map(({ kind }) => kind);

/**
 * Events that shrink a document, or add a few bytes only. Size limits do not apply to them, so that callers can
 * disable, archive and empty a flag of any size.
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

/**
 * Refuses a change that makes a document too large. A document from release 0.1 that is already too large may shrink or
 * keep its size.
 *
 * @throws FlagsError `document_too_large`
 */
export function assertDocumentSize(change: DocumentChange): void {
  const { documentBytes } = LIMITS;
  const { write, events, found } = change;
  const bytes = bytesOf(write);
  if (bytes <= documentBytes || (events.length > 0 && isNeverRefused(events))) return;
  if (found && bytes <= sizeOf(found.state)) return;
  const { kind, id } = write.key;
  const advice = ADVICE.get(kind) ?? 'make it smaller';
  const message = `The ${kind} ${id} would take ${bytes} bytes, and a document may take ${documentBytes}; ${advice}.`;
  throw new FlagsError('document_too_large', message);
}

function isNeverRefused(events: DocumentChange['events']): boolean {
  return events.every(({ type }) => NEVER_REFUSED.has(type));
}

function bytesOf(write: DocumentChange['write']): number {
  return 'text' in write ? Buffer.byteLength(write.text) : 0;
}

/** Returns the size of a document's JSON in bytes. */
function sizeOf(state: unknown): number {
  return state === undefined ? 0 : Buffer.byteLength(JSON.stringify(state));
}

interface Size {
  readonly bytes: number;
  readonly revision: number;
}

/**
 * Tracks and limits the total size of all flags (archived ones too), segments and projects. It counts the commits of
 * this process, and those of other processes as polls find them. Several nodes can therefore exceed the limit by their
 * commits between two polls.
 */
export class StateSize {
  private readonly sizes = new Map<string, Size>();
  private total = 0;
  private reserved = 0;

  constructor(private readonly limit: number) {}

  /** Counts what is stored, and forgets what was counted before. */
  async load(storage: Pick<Storage, 'list'>): Promise<void> {
    this.sizes.clear();
    this.total = 0;
    for (const kind of DEFINITION_KINDS) {
      for (const { key, revision, content } of await storage.list({ kind, part: 'body' })) {
        this.applyUpdate(key, { revision, state: content });
      }
    }
  }

  /**
   * Reserves space for a pending commit, so that concurrent commits do not exceed the limit together.
   *
   * @returns a function that releases the space
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

  /** Counts a commit of this process. */
  record(changes: readonly DocumentChange[], revisions: readonly number[]): void {
    for (const [index, { write }] of changes.entries()) {
      const bytes = 'touch' in write ? this.bytesOf(write.key) : bytesOf(write);
      this.set(write.key, { bytes, revision: revisions[index] ?? 0 });
    }
  }

  /** Counts a document that another process has committed. */
  applyUpdate(key: DocumentKey, { revision, state }: { readonly revision: number; readonly state: unknown }): void {
    this.set(key, { bytes: sizeOf(state), revision });
  }

  /** Whether this revision of a document is newer than the counted one. */
  isNewer(key: DocumentKey, revision: number): boolean {
    return DEFINITION_KINDS.includes(key.kind) && revision > (this.sizes.get(nameOf(key))?.revision ?? 0);
  }

  private growthBy(changes: readonly DocumentChange[]): number {
    const definitions = changes.filter(({ write }) => !('touch' in write) && DEFINITION_KINDS.includes(write.key.kind));
    return definitions.reduce((sum, { write }) => sum + bytesOf(write) - this.bytesOf(write.key), 0);
  }

  private set(key: DocumentKey, size: Size): void {
    if (!this.isNewer(key, size.revision)) return;
    this.total += size.bytes - this.bytesOf(key);
    this.sizes.set(nameOf(key), size);
  }

  private bytesOf(key: DocumentKey): number {
    return this.sizes.get(nameOf(key))?.bytes ?? 0;
  }
}

/** Measures the writes of a change set. Refuses the set as soon as it exceeds the limit. */
export class SetSize {
  private bytes = 0;

  /** @throws FlagsError `change_set_too_large` */
  addEvent({ data, before }: DomainEvent): void {
    this.add(JSON.stringify([data, before]), undefined);
  }

  /**
   * @param path the place of the last change of the document in the caller's input
   * @throws FlagsError `change_set_too_large`
   */
  addDocument(text: string, path: string | undefined): void {
    this.add(text, path);
  }

  private add(text: string, path: string | undefined): void {
    this.bytes += Buffer.byteLength(text);
    if (this.bytes <= LIMITS.changeSetBytes) return;
    const message =
      `The changes would write more than ${LIMITS.changeSetBytes} bytes of documents and events in one commit; divide them ` +
      'into several change sets. Before you delete a large project, delete its archived flags and segments.';
    throw locateRefusal(new FlagsError('change_set_too_large', message), path);
  }
}
