import { type CommitTarget, type PreparedEvent, parsePosition } from '../commit.js';
import type { EventFilter, EventPage, StoredEvent, StoredEventQuery } from '../port.js';

export type MemoryEvents = CommitTarget['events'] & {
  query(query: StoredEventQuery): EventPage;
};

/** An event while a query reads it. */
interface Row {
  readonly position: number;
  readonly revision: number;
  /** The size of the texts. */
  readonly bytes: number;
  readonly event: PreparedEvent;
}

export function memoryEvents(): MemoryEvents {
  // The position of an event is its index plus one. Three lists take less memory than an object for each event.
  const log: PreparedEvent[] = [];
  const revisionsInLog: number[] = [];
  /** Bytes of the texts. */
  const sizesInLog: number[] = [];

  function* walk({ order, after, until }: StoredEventQuery): Generator<Row> {
    const first = after === undefined ? 0 : parsePosition(after);
    const end = until === undefined ? log.length : Math.min(parsePosition(until), log.length);
    for (let step = 0; step < end - first; step++) {
      const index = order === 'oldest-first' ? first + step : end - 1 - step;
      const event = log[index];
      if (event)
        yield { position: index + 1, revision: revisionsInLog[index] ?? 0, bytes: sizesInLog[index] ?? 0, event };
    }
  }

  return {
    append(events, revisions) {
      for (const event of events) {
        // `JSON.stringify` returns texts in many pieces, which take several times the memory. Measuring joins the pieces.
        sizesInLog.push(Buffer.byteLength(event.data) + Buffer.byteLength(event.before));
        log.push(event);
        revisionsInLog.push(revisions[event.write] ?? 0);
      }
    },
    query(query) {
      const { filter = {}, limit, offset = 0, maxBytes = Number.POSITIVE_INFINITY, total, withoutData } = query;
      const events: StoredEvent[] = [];
      let matching = 0;
      let bytes = 0;
      let isFull = limit === 0;
      for (const row of walk(query)) {
        if (isFull && !total) break;
        if (!matches(row.event, filter)) continue;
        matching += 1;
        if (isFull || matching <= offset) continue;
        bytes += withoutData ? 0 : row.bytes;
        isFull = bytes > maxBytes && events.length > 0;
        if (isFull) continue;
        events.push(withoutData ? headOf(row) : toStoredEvent(row));
        isFull = events.length >= limit;
      }
      return total ? { events, total: matching } : { events };
    },
  };
}

function matches(event: PreparedEvent, { project, subject, type, changeSet, from, to }: EventFilter): boolean {
  if (project !== undefined && event.project !== project) return false;
  if (subject && (event.subject.kind !== subject.kind || event.subject.id !== subject.id)) return false;
  if (type !== undefined && event.type !== type) return false;
  if (changeSet !== undefined && event.changeSet !== changeSet) return false;
  if (from !== undefined && event.at < from) return false;
  return to === undefined || event.at <= to;
}

function toStoredEvent(row: Row): StoredEvent {
  const { data, before } = row.event;
  return { ...headOf(row), data: JSON.parse(data), before: JSON.parse(before) };
}

/** Named members instead of a rest, which on Node 20 gives every event a hidden class of its own. */
function headOf({ position, revision, event }: Row): StoredEvent {
  const { type, at, actor, actorTokenId, actorTokenKind, changeSet, reason, subject, project, environment } = event;
  return {
    id: position,
    position: String(position),
    revision,
    type,
    at,
    actor,
    ...(actorTokenId !== null && { actorTokenId }),
    ...(actorTokenKind !== null && { actorTokenKind }),
    changeSet,
    reason,
    subject: { ...subject },
    project,
    environment,
    data: null,
    before: null,
  };
}
