import { paced } from '../../base/paced.js';
import type { DecidedSet } from '../../kernel/changes/change-engine.js';
import type { PlannedDocument, PlannedEvent, SegmentUseRequest } from '../../kernel/changes/change-set.types.js';
import { newSegmentsOf } from '../flags/change-flag.js';
import { type FlagEvent, flagDocuments } from '../flags/flag.kind.js';
import type { SegmentState } from './segment.js';
import { segmentDocuments } from './segment.kind.js';

/** Returns the segments that strategies of a decided set start to use, for `authorize`. */
export async function findSegmentUses(
  { unit }: DecidedSet,
  documents: readonly PlannedDocument[],
): Promise<readonly SegmentUseRequest[]> {
  const used = new Set<number>();
  const changed = new Map<string, PlannedDocument>();
  for await (const document of paced(documents)) {
    if (document.kind === segmentDocuments.kind) changed.set(document.id, document);
    if (document.kind !== flagDocuments.kind) continue;
    for (const event of document.events) for (const segment of segmentsUsedBy(event)) used.add(segment);
  }
  const uses: SegmentUseRequest[] = [];
  for (const segment of used) {
    const { before, after } = changed.get(`${segment}`) ?? { before: await readState(unit, segment), after: undefined };
    const states = [before, after].filter((state): state is SegmentState => Boolean(state));
    const projects = new Set(states.map(({ project = null }) => project));
    uses.push(...[...projects].map((project) => ({ segment, project })));
  }
  return uses;
}

/** Returns a segment that the set does not change. The commit checks its revision. */
async function readState(unit: DecidedSet['unit'], segment: number): Promise<SegmentState | undefined> {
  return (await unit.read(segmentDocuments, `${segment}`))?.state;
}

/** Returns the segments that an event starts to use. A clone starts none: its source uses them already. */
function segmentsUsedBy({ op, type, data, before }: PlannedEvent): readonly number[] {
  return op === 'cloneFlag' ? [] : newSegmentsOf({ type, data, before } as FlagEvent);
}
