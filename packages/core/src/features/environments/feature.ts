import { openEnvironments, preparePatternsIn } from './environments.js';
import { changeSetOperations } from './plan.operations.js';

export const environmentsFeature = {
  name: 'environments',
  operations: changeSetOperations,
  open: openEnvironments,
  prepareDocuments: preparePatternsIn,
} as const;
