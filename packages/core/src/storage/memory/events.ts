import { type CommitTarget, type PreparedEvent, parsePosition } from '../commit.js';
import type { EventFilter, EventPage, StoredEvent, StoredEventQuery } from '../port.js';

export type MemoryEvents = CommitTarget['events'] & {
  query(query: StoredEventQuery): EventPage;
};

/** An event in the log. Its position is its index plus one. */
interface LoggedEvent extends Omit<PreparedEvent, 'write'> {
  /** The size of `data` and `before`. */
  readonly bytes: number;
  readonly position: number;
  readonly revision: number;
}

export function memoryEvents(): MemoryEvents {
  const log: LoggedEvent[] = [];

  /** Yields the events between the positions of a query, in its order. */
  function* between({ order, after, until }: StoredEventQuery): Generator<LoggedEvent> {
    const first = after === undefined ? 0 : parsePosition(after);
    const end = Math.min(log.length, until === undefined ? log.length : parsePosition(until));
    for (let count = 0; count < end - first; count++) {
      const event = log[order === 'oldest-first' ? first + count : end - 1 - count];
      if (event) yield event;
    }
  }

  return {
    append(events, revisions) {
      for (const event of events) {
        log.push(toLogged(event, { position: log.length + 1, revision: revisions[event.write] ?? 0 }));
      }
    },
    query(query) {
      const { filter = {}, limit, offset = 0, maxBytes, total, withoutData } = query;
      const page: LoggedEvent[] = [];
      let found = 0;
      for (const event of between(query)) {
        if (!matches(event, filter)) continue;
        if (found >= offset && page.length < limit) page.push(event);
        else if (found >= offset && !total) break;
        found++;
      }
      const events = withoutData ? page.map(headOf) : upTo(maxBytes, page).map(toStoredEvent);
      return total ? { events, total: found } : { events };
    },
  };
}

/** Named members instead of a spread: the object needs half the memory. */
function toLogged(event: PreparedEvent, place: Pick<LoggedEvent, 'position' | 'revision'>): LoggedEvent {
  return {
    type: event.type,
    at: event.at,
    actor: event.actor,
    actorTokenId: event.actorTokenId,
    actorTokenKind: event.actorTokenKind,
    changeSet: event.changeSet,
    reason: event.reason,
    origin: event.origin,
    subject: event.subject,
    project: event.project,
    environment: event.environment,
    before: event.before,
    data: event.data,
    bytes: Buffer.byteLength(event.data) + Buffer.byteLength(event.before),
    position: place.position,
    revision: place.revision,
  };
}

/** Cuts a page at a size, but not before its second event. */
function upTo(maxBytes = Number.POSITIVE_INFINITY, page: readonly LoggedEvent[]): readonly LoggedEvent[] {
  let bytes = 0;
  const end = page.findIndex((event, index) => {
    bytes += event.bytes;
    return bytes > maxBytes && index > 0;
  });
  return end === -1 ? page : page.slice(0, end);
}

function matches(event: LoggedEvent, { project, subject, type, changeSet, from, to }: EventFilter): boolean {
  if (project !== undefined && event.project !== project) return false;
  if (subject && (event.subject.kind !== subject.kind || event.subject.id !== subject.id)) return false;
  if (type !== undefined && event.type !== type) return false;
  if (changeSet !== undefined && event.changeSet !== changeSet) return false;
  if (from !== undefined && event.at < from) return false;
  return to === undefined || event.at <= to;
}

function toStoredEvent(event: LoggedEvent): StoredEvent {
  const { data, before } = event;
  return {
    ...headOf(event),
    data: JSON.parse(data),
    before: JSON.parse(before),
  };
}

/** Names each member: a spread would take many times as long. */
function headOf(event: LoggedEvent): StoredEvent {
  const { actorTokenId, actorTokenKind, origin } = event;
  return {
    id: event.position,
    type: event.type,
    at: event.at,
    actor: event.actor,
    changeSet: event.changeSet,
    reason: event.reason,
    position: String(event.position),
    subject: { ...event.subject },
    revision: event.revision,
    project: event.project,
    environment: event.environment,
    ...(actorTokenId !== null && { actorTokenId }),
    ...(actorTokenKind !== null && { actorTokenKind }),
    ...(origin !== null && { origin }),
    data: null,
    before: null,
  };
}
