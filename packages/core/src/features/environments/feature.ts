import { openEnvironments } from './environments.js';
import { changeSetOperations } from './plan.operations.js';
import { preparePatternsIn } from './prepare-patterns.js';

export const environmentsFeature = {
  name: 'environments',
  operations: changeSetOperations,
  open: openEnvironments,
  prepareDocuments: preparePatternsIn,
} as const;
