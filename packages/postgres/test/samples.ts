import { randomUUID } from 'node:crypto';
import type { FlagsStorage } from '@flags/core';
import type { Commit, DocumentKey, NewEvent } from '@flags/core/storage';

export const flag = (id: string): DocumentKey => ({ kind: 'flag', id });

function newEvent(subject: DocumentKey): NewEvent {
  const at = '2026-01-01T00:00:00.000Z';
  const states = { project: null, environment: null, data: null, before: null };
  return { type: 'changed', at, actor: 'ada', changeSet: randomUUID(), subject, ...states };
}

/** A commit that creates a flag, or changes it. */
export function change(id: string, expected = 0): Commit {
  const key = flag(id);
  return { writes: [{ key, expected, parent: null, body: { id }, summary: null }], events: [newEvent(key)] };
}

/** The subjects of all events after a position, in order. */
export async function subjectsAfter(storage: FlagsStorage, after?: string): Promise<string[]> {
  const { events } = await storage.events({
    order: 'oldest-first',
    limit: 1000,
    ...(after !== undefined && { after }),
  });
  return events.map(({ subject }) => subject.id);
}
