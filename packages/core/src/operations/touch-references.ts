import type { DomainEvent } from '../domain/domain-event.js';
import { dependenciesOf, evolveFlag, type FlagEvent, type FlagState } from '../domain/flag.js';
import { segmentsOf } from '../domain/segment-uses.js';
import type { Aggregate } from '../engine/aggregate.js';
import { flagDocuments, segmentDocuments } from '../engine/aggregates.js';
import { type DocumentChange, touch } from '../engine/document-change.js';
import type { Read } from '../engine/reader.js';

/**
 * Touches the segments and parents that events make a flag refer to. Whoever deletes that segment, archives that parent
 * or makes it depend on another at the same moment has not seen the reference, and loses the race.
 *
 * @param flag as it is before the events
 */
export async function touchNewReferences(
  read: Read,
  flag: FlagState | undefined,
  events: readonly FlagEvent[],
): Promise<readonly (DocumentChange | undefined)[]> {
  const [before, after] = [referencesOf(flag), referencesOf(events.reduce(evolveFlag, flag))];
  const segments = after.segments.filter((id) => !before.segments.includes(id));
  const parents = after.parents.filter((name) => !before.parents.includes(name));
  return Promise.all([
    ...segments.map((id) => touchExisting(read, segmentDocuments, `${id}`)),
    ...parents.map((name) => touchExisting(read, flagDocuments, name)),
  ]);
}

interface References {
  readonly segments: readonly number[];
  readonly parents: readonly string[];
}

function referencesOf(flag: FlagState | undefined): References {
  if (!flag) return { segments: [], parents: [] };
  return { segments: segmentsOf(flag), parents: dependenciesOf(flag).map((dependency) => dependency.flag) };
}

async function touchExisting<State, Event extends DomainEvent>(
  read: Read,
  aggregate: Aggregate<State, Event>,
  id: string,
): Promise<DocumentChange | undefined> {
  const found = await read(aggregate, id);
  return found && touch(aggregate, { id, found });
}
