import { describeKind } from '../../kernel/feature.js';
import { tokenDocuments } from './token.kind.js';

export const tokensFeature = { name: 'tokens', kinds: [describeKind(tokenDocuments)] } as const;
