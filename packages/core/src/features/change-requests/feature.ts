import { describeKind } from '../../kernel/feature.js';
import { requestDocuments } from './change-request.kind.js';
import { policyDocuments } from './policy.kind.js';

export const changeRequestsFeature = {
  name: 'change-requests',
  kinds: [describeKind(requestDocuments), describeKind(policyDocuments)],
} as const;
