import { OPERATIONS } from './changesets/operations.js';
import { changeSetOperations } from './changesets/plan.operations.js';
import type { AnyRow } from './changesets/row.js';
import { historyChangeOperations } from './changesets/undo.operations.js';
import { exportOperations } from './definitions/export.operations.js';
import { importOperations } from './definitions/import.operations.js';
import { changeRequestOperations } from './features/change-requests/operations.js';
import type { Validators } from './input-schemas.js';
import { dueOperations } from './kernel/due/due.operations.js';

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
