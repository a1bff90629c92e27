import { flagDocuments } from '../../flags/flag.kind.js';
import { flagRestorer } from '../../flags/flag.restorer.js';
import { describeKind } from '../../kernel/feature.js';

export const flagsFeature = { name: 'flags', kinds: [describeKind(flagDocuments, flagRestorer)] } as const;
