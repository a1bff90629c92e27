import type { FlagsStorage, ListedDocument, StoredEvent } from '../../src/storage/port.js';

const KINDS = ['flag', 'project', 'token', 'segment', 'segment-registry', 'dependency'] as const;

/** All content of a storage, except the numbers that it may choose. */
export interface Content {
  readonly documents: readonly ListedDocument[];
  readonly summaries: readonly ListedDocument[];
  readonly events: readonly Omit<StoredEvent, 'id' | 'position'>[];
}

export async function contentOf(storage: FlagsStorage): Promise<Content> {
  const list = async (part: 'body' | 'summary') => {
    return (await Promise.all(KINDS.map(async (kind) => storage.list({ kind, part })))).flat();
  };
  const { events } = await storage.events({ order: 'oldest-first', limit: 10_000_000 });
  return {
    documents: await list('body'),
    summaries: await list('summary'),
    events: withNumberedSets(events.map(({ id: _id, position: _position, ...event }) => event)),
  };
}

/** Replaces the random ids of change sets by numbers, in the order of their appearance. */
export function withNumberedSets<Event extends Pick<StoredEvent, 'changeSet'>>(events: readonly Event[]): Event[] {
  const numbers = new Map<string, string>();
  return events.map((event) => {
    const id = event.changeSet;
    if (id === null) return event;
    if (!numbers.has(id)) numbers.set(id, `set-${numbers.size + 1}`);
    return { ...event, changeSet: numbers.get(id) ?? id };
  });
}
