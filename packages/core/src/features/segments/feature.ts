import { describeKind } from '../../kernel/feature.js';
import { segmentDocuments } from './segment.kind.js';
import { segmentRestorer } from './segment.restorer.js';

export const segmentsFeature = { name: 'segments', kinds: [describeKind(segmentDocuments, segmentRestorer)] } as const;
