import { DocumentCache } from '../../kernel/replica/document-cache.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { segmentDocuments } from '../segments/segment.kind.js';

/** The documents in memory, with all flags, archived ones too, and all segments by name and id. */
export class FlagDocuments extends DocumentCache {
  readonly flags = this.statesOf(flagDocuments);
  readonly segments = this.statesOf(segmentDocuments);
}
