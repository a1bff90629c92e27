import type { Awaitable } from '../base/common.types.js';
import { consumerOperations } from '../consumers/consumers.operations.js';
import type { Engine, PreparedChange } from '../engine/engine.js';
import { policyOperations } from '../features/change-requests/policy.operations.js';
import { rolloutOperations } from '../features/rollouts/rollouts.operations.js';
import { dependencyOperations } from '../flags/dependencies.operations.js';
import { flagOperations } from '../flags/flag.operations.js';
import { flagListOperations } from '../flags/flag-lists.operations.js';
import { strategyOperations } from '../flags/strategies.operations.js';
import type { EnvironmentInput, StrategyInput, StrategyReplacement } from '../flags/strategy.types.js';
import type { Validators } from '../input-schemas.js';
import { eventOperations } from '../log/event.operations.js';
import { historyOperations } from '../log/history.operations.js';
import { memberOperations } from '../projects/members.operations.js';
import { projectOperations } from '../projects/project.operations.js';
import { segmentOperations } from '../segments/segment.operations.js';
import { tokenOperations } from '../tokens/token.operations.js';
import { verificationOperations } from '../tokens/token-verification.operations.js';
import { applicationOperations } from '../usage/applications.operations.js';
import { reportOperations } from '../usage/report.operations.js';
import { seenFlagOperations } from '../usage/seen-flags.operations.js';
import { usageOperations } from '../usage/usage-over-time.operations.js';
import * as rows from './row.js';
import { undoOperations } from './undo.js';

/**
 * The operations of all features, but for those that run change sets themselves: changes of several documents, and change
 * requests.
 */
export const OPERATIONS = {
  ...projectOperations,
  ...memberOperations,
  ...flagOperations,
  ...flagListOperations,
  ...dependencyOperations,
  ...strategyOperations,
  ...segmentOperations,
  ...tokenOperations,
  ...verificationOperations,
  ...rolloutOperations,
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

export type RefOf<Name extends OperationName> = rows.RefOf<Operations[Name]>;
export type InputOf<Name extends OperationName> = rows.InputOf<Operations[Name]>;
export type ResultOf<Name extends OperationName> = rows.ResultOf<Operations[Name]>;
export type ChangeArguments<Name extends OperationName> = rows.ChangeArguments<Operations[Name]>;

/** The name of an operation that a change set may contain. */
export type ChangeOperationName = {
  [Name in OperationName]: Operations[Name]['isInSets'] extends true ? Name : never;
}[OperationName];

/** The inputs that name strategies: built-in ones, and the host's own. */
interface StrategyInputs<Own extends string> {
  readonly addStrategy: StrategyInput<Own>;
  readonly updateStrategy: StrategyReplacement<Own>;
  readonly configureEnvironment: EnvironmentInput<Own>;
}

type ChangeInput<Name extends ChangeOperationName, Own extends string> = Name extends keyof StrategyInputs<Own>
  ? StrategyInputs<Own>[Name]
  : InputOf<Name>;

/** The reference and the input of every change that a change set may contain, as its method takes them. */
export type ChangeVocabulary<Own extends string = never> = {
  readonly [Name in ChangeOperationName]: (undefined extends RefOf<Name> ? unknown : { readonly ref: RefOf<Name> }) &
    (unknown extends InputOf<Name>
      ? unknown
      : undefined extends InputOf<Name>
        ? { readonly input?: ChangeInput<Name, Own> }
        : { readonly input: ChangeInput<Name, Own> });
};

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

/** A call of an operation. */
interface OperationCall {
  readonly op: string;
  readonly ref?: unknown;
  readonly input?: unknown;
}

/**
 * Validates the input of an operation, and prepares its change.
 *
 * @throws FlagsError `invalid_input`
 */
export function prepareOperation(
  engine: Engine & { readonly validate: Validators },
  { op, ref, input }: OperationCall,
): Awaitable<PreparedChange> {
  return rows.prepareChange(engine, BY_NAME.get(op) as rows.UntypedChange, { ref, input });
}
