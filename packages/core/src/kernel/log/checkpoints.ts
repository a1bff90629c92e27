import { nameOf, type Versioned } from '../../storage/document-reader.js';
import type {
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  DocumentWrite,
  FlagsStorage,
} from '../../storage/port.js';
import type { Registry } from '../registry.js';

/** The write of a document in a commit. */
export interface WrittenDocument {
  /** Includes the JSON text, because the size is checked before the commit. */
  readonly write: DocumentDeletion | DocumentTouch | (DocumentPut & { readonly text: string });
  /** The new state; undefined for a deletion. */
  readonly next: unknown;
  readonly events: readonly unknown[];
  /** The size of the events as JSON. */
  readonly eventBytes: number;
}

/**
 * A checkpoint is the state of a document at a revision. It bounds the number and the size of the events that `stateAt`
 * reads. A commit stores a checkpoint at every 200th revision, and if it appends ten events to the document. It stores
 * them more often if its events are large: at about every 256 KiB of such events.
 */
const CHECKPOINT = { kind: 'checkpoint', revisions: 200, events: 10, bytes: 262_144 } as const;

/** Checkpoints are listed newest first, because their ids count down. */
function checkpointKey(document: DocumentKey, revision: number): DocumentKey {
  const rank = `${Number.MAX_SAFE_INTEGER - revision}`.padStart(16, '0');
  return { kind: CHECKPOINT.kind, id: `${nameOf(document)} ${rank}` };
}

/** Reads the newest checkpoint of a document before a revision. */
export async function readCheckpoint(
  storage: Pick<FlagsStorage, 'list'>,
  document: DocumentKey,
  before: number,
): Promise<Versioned<unknown> | undefined> {
  const { kind, id: after } = checkpointKey(document, before);
  const [found] = await storage.list({ kind, parent: nameOf(document), part: 'body', after, limit: 1 });
  return found && { state: found.content, revision: Number.MAX_SAFE_INTEGER - Number(found.key.id.slice(-16)) };
}

/**
 * Returns the checkpoints of a commit.
 *
 * @param changes those of documents that exist: the creation event of a new one holds its state
 */
export function checkpointsOf(changes: readonly WrittenDocument[], { hasHistory }: Registry): readonly DocumentWrite[] {
  const checkpoints: DocumentWrite[] = [];
  for (const { write, next: body, events, eventBytes } of changes) {
    if (body === undefined) continue;
    const revision = write.expected + 1;
    const interval = Math.min(CHECKPOINT.revisions, Math.ceil(CHECKPOINT.bytes / Math.max(1, eventBytes)));
    if (revision % interval !== 0 && events.length < CHECKPOINT.events) continue;
    const text = 'text' in write ? write.text : '';
    if (!hasHistory(write.key)) continue;
    const parent = nameOf(write.key);
    const key = checkpointKey(write.key, revision);
    checkpoints.push({ key, expected: 0, parent, body, text: text || JSON.stringify(body), summary: null });
  }
  return checkpoints;
}
