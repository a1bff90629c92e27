import { describeKind } from '../../kernel/feature.js';
import { segmentDocuments } from '../../segments/segment.kind.js';
import { segmentRestorer } from '../../segments/segment.restorer.js';

export const segmentsFeature = { name: 'segments', kinds: [describeKind(segmentDocuments, segmentRestorer)] } as const;
