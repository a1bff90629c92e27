import type { DocumentsInMemory } from '../../kernel/engine.js';
import type { FlagState } from '../flags/flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import type { SegmentState } from '../segments/segment.js';
import { segmentDocuments } from '../segments/segment.kind.js';

/** All flags in memory by name, archived ones too, and all segments by id. They follow the storage. */
export interface FlagDocuments {
  readonly flags: ReadonlyMap<string, FlagState>;
  readonly segments: ReadonlyMap<string, SegmentState>;
}

export function flagDocumentsIn(memory: Pick<DocumentsInMemory, 'statesOf'>): FlagDocuments {
  return { flags: memory.statesOf(flagDocuments), segments: memory.statesOf(segmentDocuments) };
}
