import { changeRequestOperations } from './features/change-requests/operations.js';
import { exportOperations } from './features/definitions/export.operations.js';
import { importOperations } from './features/definitions/import.operations.js';
import { changeSetOperations } from './features/environments/plan.operations.js';
import { historyChangeOperations } from './features/history/undo.operations.js';
import type { Validators } from './input-schemas.js';
import type { AnyRow } from './kernel/changes/row.js';
import { dueOperations } from './kernel/due/due.operations.js';
import { OPERATIONS } from './operations.js';

/**
 * Every operation, by its name: in change sets, permissions and routes. Its row names the method of `Flags` that runs it.
 * Evaluation is no operation.
 */
export const ALL_OPERATIONS = {
  ...OPERATIONS,
  ...changeSetOperations,
  ...historyChangeOperations,
  ...exportOperations,
  ...importOperations,
  ...changeRequestOperations,
  ...dueOperations,
} satisfies Readonly<Record<string, AnyRow & { readonly input?: keyof Validators }>>;

/** The row of an operation, without the types of its arguments. */
export type AnyOperation = Pick<AnyRow, 'op' | 'method' | 'ref' | 'input'>;
