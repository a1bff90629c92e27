import { groupBy } from '../base/collections.js';
import type { Awaitable } from '../base/common.types.js';
import { paced } from '../base/paced.js';
import { newSegmentsOf } from '../flags/change-flag.js';
import type { FlagEvent } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { EventType } from '../kinds.js';
import { withoutHash } from '../log/feed.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';
import { nameOf } from '../storage/documents.js';
import { tokenDocuments } from '../tokens/token.kind.js';
import type { PlannedDocument, PlannedEvent, PlannedSet, SegmentUseRequest } from './change-set.types.js';
import type { DecidedSet } from './engine.js';
import type { RecordedEvent } from './unit-of-work.js';

/** Returns the documents that have events, with their states before and after a decided set. */
export function toPlannedDocuments({ unit, writes }: DecidedSet): readonly PlannedDocument[] {
  const written = new Map(writes.map((change) => [nameOf(change.write.key), change]));
  // In the order of their events, as the log has them. A write may come first that another document needs.
  return [...groupBy(unit.events, ({ subject }) => nameOf(subject))].flatMap(([name, own]) => {
    const change = written.get(name);
    if (!change) return [];
    const { write, found, next } = change;
    const { key } = write;
    const shown = showingOf(key.kind);
    const states = { before: shown(found?.state ?? null), after: shown(next ?? null) };
    return [{ ...key, ...states, events: own.map(toPlannedEvent) }];
  });
}

export function toPlannedEvent({ subject, project, event, op }: RecordedEvent): PlannedEvent {
  const { type, environment = null, data, before } = event;
  const shown = showingOf(subject.kind);
  const flag = subject.kind === flagDocuments.kind ? subject.id : null;
  const planned = { type: type as EventType, project, flag, environment, data: shown(data), before: shown(before) };
  return op === undefined ? planned : { ...planned, op };
}

/** Returns a function that removes the hash of a token. */
function showingOf(kind: string): (value: unknown) => unknown {
  return kind === tokenDocuments.kind ? withoutHash : (value) => value;
}

/** Converts a decided set for `authorize`. The commit checks the revisions of the segments that this reads. */
export function toPlannedSet(decided: DecidedSet): Promise<PlannedSet> {
  return withSegmentUses(toPlannedDocuments(decided), async (segment) => {
    return (await decided.unit.read(segmentDocuments, `${segment}`))?.state;
  });
}

/** @param read returns a segment that the set does not change */
async function withSegmentUses(
  documents: readonly PlannedDocument[],
  read: (segment: number) => Awaitable<SegmentState | undefined>,
): Promise<PlannedSet> {
  const used = new Set<number>();
  const changed = new Map<string, PlannedDocument>();
  for await (const document of paced(documents)) {
    if (document.kind === segmentDocuments.kind) changed.set(document.id, document);
    if (document.kind !== flagDocuments.kind) continue;
    for (const event of document.events) for (const segment of segmentsUsedBy(event)) used.add(segment);
  }
  const segmentUses: SegmentUseRequest[] = [];
  for (const segment of used) {
    const { before, after } = changed.get(`${segment}`) ?? { before: await read(segment), after: undefined };
    const states = [before, after].filter((state): state is SegmentState => Boolean(state));
    const projects = new Set(states.map(({ project = null }) => project));
    segmentUses.push(...[...projects].map((project) => ({ segment, project })));
  }
  return { documents, segmentUses };
}

/** Returns the segments that an event starts to use. A clone starts none: its source uses them already. */
function segmentsUsedBy({ op, type, data, before }: PlannedEvent): readonly number[] {
  return op === 'cloneFlag' ? [] : newSegmentsOf({ type, data, before } as FlagEvent);
}
