import { copyJson } from '../../base/json.js';
import { type CommitTarget, type PreparedEvent, type PreparedWrite, parsePosition } from '../commit.js';
import type { EventFilter, EventPage, Storage, StoredEvent, StoredEventQuery } from '../port.js';

export type MemoryEvents = CommitTarget['events'] & {
  query(query: StoredEventQuery): EventPage;
};

type Origin = Pick<PreparedEvent, 'at' | 'actor' | 'actorTokenId' | 'actorTokenKind' | 'changeSet' | 'reason'>;

/** An event in the log. */
interface LoggedEvent extends Pick<PreparedEvent, 'type' | 'subject' | 'project' | 'environment' | 'before'> {
  /** The events of a commit share one object. */
  readonly origin: Origin;
  /** JSON text, or the frozen body of the created document, which is in memory anyway. */
  readonly data: string | object;
}

/** An event while a query reads it. */
interface Row {
  readonly position: number;
  readonly revision: number;
  /** The size of the texts. */
  readonly bytes: number;
  readonly event: LoggedEvent;
}

/** @param documents must have the new bodies when their events are appended */
export function memoryEvents({ peek }: Required<Pick<Storage, 'peek'>>): MemoryEvents {
  // The position of an event is its index plus one. Three lists take less memory than an object for each event.
  const log: LoggedEvent[] = [];
  const revisionsInLog: number[] = [];
  /** Bytes of the texts. */
  const sizesInLog: number[] = [];

  function toLogged(event: PreparedEvent, write: PreparedWrite | undefined): LoggedEvent {
    const { type, subject, project, environment, before } = event;
    const last = log.at(-1)?.origin;
    const origin = last && isSameOrigin(last, event) ? last : originOf(event);
    const created = isCreation(event, write) ? peek(subject)?.body : undefined;
    const data = typeof created === 'object' && created ? created : event.data;
    return { origin, type, subject: write?.key ?? subject, project, environment, data, before };
  }

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
    append(events, revisions, writes) {
      for (const event of events) {
        sizesInLog.push(Buffer.byteLength(event.data) + Buffer.byteLength(event.before));
        log.push(toLogged(event, writes[event.write]));
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

/**
 * Returns whether this commit creates the document of the event, and the data of the event is the text of that
 * document.
 */
function isCreation({ data }: PreparedEvent, write: PreparedWrite | undefined): boolean {
  if (!write?.content || write.content === 'unchanged') return false;
  return write.expected === 0 && write.content.body === data;
}

function originOf({ at, actor, actorTokenId, actorTokenKind, changeSet, reason }: Origin): Origin {
  return { at, actor, actorTokenId, actorTokenKind, changeSet, reason };
}

function isSameOrigin(one: Origin, other: Origin): boolean {
  return (
    one.changeSet === other.changeSet &&
    one.at === other.at &&
    one.actor === other.actor &&
    one.actorTokenId === other.actorTokenId &&
    one.actorTokenKind === other.actorTokenKind &&
    one.reason === other.reason
  );
}

function matches(event: LoggedEvent, { project, subject, type, changeSet, from, to }: EventFilter): boolean {
  const { origin } = event;
  if (project !== undefined && event.project !== project) return false;
  if (subject && (event.subject.kind !== subject.kind || event.subject.id !== subject.id)) return false;
  if (type !== undefined && event.type !== type) return false;
  if (changeSet !== undefined && origin.changeSet !== changeSet) return false;
  if (from !== undefined && origin.at < from) return false;
  return to === undefined || origin.at <= to;
}

function toStoredEvent(row: Row): StoredEvent {
  const { data, before } = row.event;
  return {
    ...headOf(row),
    data: typeof data === 'string' ? JSON.parse(data) : copyJson(data),
    before: JSON.parse(before),
  };
}

function headOf({ position, revision, event }: Row): StoredEvent {
  const { origin, type, subject, project, environment } = event;
  const { at, actor, actorTokenId, actorTokenKind, changeSet, reason } = origin;
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
