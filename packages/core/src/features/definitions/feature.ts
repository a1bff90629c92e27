import { exportOperations } from './export.operations.js';
import { importOperations } from './import.operations.js';

export const definitionsFeature = {
  name: 'definitions',
  operations: { ...exportOperations, ...importOperations },
} as const;
