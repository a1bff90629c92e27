import type { DomainEvent } from '../domain/domain-event.js';
import type { DocumentKey, DocumentWrite } from '../storage/port.js';
import type { Aggregate, Versioned } from './aggregate.js';

/** One document's part in a commit: the new state, folded from the events that lead to it. */
export interface DocumentChange<State = unknown> {
  readonly write: DocumentWrite;
  readonly events: readonly DomainEvent[];
  readonly project: string | null;
  /** Undefined when the document is deleted. */
  readonly next: State | undefined;
}

/**
 * Folds a decision's events into the document they are about. Undefined when there are none: nothing is written then.
 *
 * @param found the document as it was read; undefined when there was none
 */
export function changeDocument<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  { id, found, events }: { id: string; found: Versioned<State> | undefined; events: readonly Event[] },
): DocumentChange<State> | undefined {
  if (events.length === 0) return undefined;
  const next = events.reduce(aggregate.evolve, found?.state);
  const known = next ?? found?.state;
  const project = known === undefined ? null : aggregate.projectOf(known);
  return {
    write: toWrite(aggregate, { key: { kind: aggregate.kind, id }, expected: found?.revision ?? 0, next }),
    events,
    project,
    next,
  };
}

function toWrite<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  { key, expected, next }: { key: DocumentKey; expected: number; next: State | undefined },
): DocumentWrite {
  if (next === undefined) return { key, expected, deleted: true };
  return { key, expected, parent: aggregate.parentOf(next), body: next, summary: aggregate.summarize(next) };
}
