import { consumerOperations } from '../consumers/consumers.operations.js';
import { policyOperations } from '../features/change-requests/policy.operations.js';
import { type ChangeOperationName, SET_OPERATIONS } from '../features/change-requests/vocabulary.js';
import { flagListOperations } from '../flags/flag-lists.operations.js';
import type { Validators } from '../input-schemas.js';
import { eventOperations } from '../log/event.operations.js';
import { historyOperations } from '../log/history.operations.js';
import { tokenOperations } from '../tokens/token.operations.js';
import { verificationOperations } from '../tokens/token-verification.operations.js';
import { applicationOperations } from '../usage/applications.operations.js';
import { reportOperations } from '../usage/report.operations.js';
import { seenFlagOperations } from '../usage/seen-flags.operations.js';
import { usageOperations } from '../usage/usage-over-time.operations.js';
import type * as rows from './row.js';
import { undoOperations } from './undo.js';

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
