import { eventOperations } from './event.operations.js';
import { historyOperations } from './history.operations.js';
import { undoOperations } from './undo.operations.js';

export const historyFeature = {
  name: 'history',
  operations: { ...undoOperations, ...historyOperations, ...eventOperations },
} as const;
