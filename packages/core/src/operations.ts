import { policyOperations } from './features/change-requests/policy.operations.js';
import { type ChangeOperationName, SET_OPERATIONS } from './features/change-requests/vocabulary.js';
import { consumerOperations } from './features/consumers/consumers.operations.js';
import { flagListOperations } from './features/flags/flag-lists.operations.js';
import { eventOperations } from './features/history/event.operations.js';
import { historyOperations } from './features/history/history.operations.js';
import { undoOperations } from './features/history/undo.js';
import { tokenOperations } from './features/tokens/token.operations.js';
import { verificationOperations } from './features/tokens/token-verification.operations.js';
import { applicationOperations } from './features/usage/applications.operations.js';
import { reportOperations } from './features/usage/report.operations.js';
import { seenFlagOperations } from './features/usage/seen-flags.operations.js';
import { usageOperations } from './features/usage/usage-over-time.operations.js';
import type { Validators } from './input-schemas.js';
import type * as rows from './kernel/changes/row.js';

/**
 * The operations of all features, but for those that run change sets themselves: changes of several documents, and change
 * requests.
 */
export const OPERATIONS = {
  ...SET_OPERATIONS,
  ...flagListOperations,
  ...tokenOperations,
  ...verificationOperations,
  ...policyOperations,
  ...undoOperations,
  ...historyOperations,
  ...eventOperations,
  ...consumerOperations,
  ...reportOperations,
  ...seenFlagOperations,
  ...usageOperations,
  ...applicationOperations,
} satisfies Readonly<Record<string, rows.AnyRow & { readonly input?: keyof Validators }>>;

type Operations = typeof OPERATIONS;

/** The name of an operation that changes documents. */
export type OperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly prepare: unknown } ? Name : never;
}[keyof Operations];

export type ResultOf<Name extends OperationName> = rows.ResultOf<Operations[Name]>;
export type ChangeArguments<Name extends OperationName> = rows.ChangeArguments<Operations[Name]>;

const BY_NAME: ReadonlyMap<string, rows.UntypedChange> = new Map(
  Object.entries<rows.AnyRow>(OPERATIONS).flatMap(([name, row]) =>
    'prepare' in row ? [[name, row as unknown as rows.UntypedChange]] : [],
  ),
);

/** Returns the row of an operation that changes documents; undefined for other names. */
export function operationOf(name: string): rows.UntypedChange | undefined {
  return BY_NAME.get(name);
}

/** The names of the operations that a change set may contain. */
export const CHANGE_OPERATIONS = [...BY_NAME].flatMap(([name, { isInSets }]) =>
  isInSets ? [name as ChangeOperationName] : [],
);

/** The names of the operations that a change request may contain. */
export const REQUEST_OPERATIONS: readonly OperationName[] = [...BY_NAME].flatMap(
  ([name, { isInSets, isInRequests }]) => (isInSets || isInRequests ? [name as OperationName] : []),
);
