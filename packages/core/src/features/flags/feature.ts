import { describeKind } from '../../kernel/feature.js';
import { flagDocuments } from './flag.kind.js';
import { flagRestorer } from './flag.restorer.js';

export const flagsFeature = { name: 'flags', kinds: [describeKind(flagDocuments, flagRestorer)] } as const;
