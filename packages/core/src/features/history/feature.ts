import { eventOperations } from './event.operations.js';
import { historyOperations } from './history.operations.js';

export const historyFeature = {
  name: 'history',
  operations: { ...historyOperations, ...eventOperations },
} as const;
