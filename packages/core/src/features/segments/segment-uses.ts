import type { Awaitable } from '../../base/common.types.js';
import { paced } from '../../base/paced.js';
import type { DecidedSet } from '../../kernel/changes/change-engine.js';
import type {
  PlannedDocument,
  PlannedEvent,
  PlannedSet,
  SegmentUseRequest,
} from '../../kernel/changes/change-set.types.js';
import { toPlannedDocuments } from '../../kernel/changes/planned.js';
import type { Registry } from '../../kernel/registry.js';
import { newSegmentsOf } from '../flags/change-flag.js';
import type { FlagEvent } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { SegmentState } from './segment.js';
import { segmentDocuments } from './segment.kind.js';

/** Converts a decided set for `authorize`. The commit checks the revisions of the segments that this reads. */
export function toPlannedSet(registry: Registry, decided: DecidedSet): Promise<PlannedSet> {
  return withSegmentUses(toPlannedDocuments(registry, decided), async (segment) => {
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
