import { describeKind } from '../../kernel/feature.js';
import { tokenDocuments } from '../../tokens/token.kind.js';

export const tokensFeature = { name: 'tokens', kinds: [describeKind(tokenDocuments)] } as const;
