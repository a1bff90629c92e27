import type { Awaitable } from '../base/common.types.js';
import type { Engine, PreparedChange } from '../engine/engine.js';
import type { Operation } from '../engine/operation.js';
import { policyOperations } from '../features/change-requests/policy.operations.js';
import { rolloutOperations } from '../features/rollouts/rollouts.operations.js';
import { dependencyOperations } from '../flags/dependencies.operations.js';
import { flagOperations } from '../flags/flag.operations.js';
import { strategyOperations } from '../flags/strategies.operations.js';
import type { EnvironmentInput, StrategyInput, StrategyReplacement } from '../flags/strategy.types.js';
import type { Validators } from '../input-schemas.js';
import { memberOperations } from '../projects/members.operations.js';
import { projectOperations } from '../projects/project.operations.js';
import { segmentOperations } from '../segments/segment.operations.js';
import { tokenOperations } from '../tokens/token.operations.js';
import { undoOperations } from './undo.js';

/** Every operation that changes documents. */
const OPERATIONS = {
  ...projectOperations,
  ...memberOperations,
  ...flagOperations,
  ...dependencyOperations,
  ...strategyOperations,
  ...segmentOperations,
  ...tokenOperations,
  ...rolloutOperations,
  ...policyOperations,
  ...undoOperations,
} satisfies Readonly<Record<string, { readonly input?: keyof Validators }>>;

type Operations = typeof OPERATIONS;

/** The name of an operation that changes documents. */
export type OperationName = keyof Operations;

type PrepareOf<Name extends OperationName> = Operations[Name]['prepare'];
export type RefOf<Name extends OperationName> = Parameters<PrepareOf<Name>>[1];
export type InputOf<Name extends OperationName> = Parameters<PrepareOf<Name>>[2];
export type ResultOf<Name extends OperationName> =
  PrepareOf<Name> extends (...given: never[]) => Awaitable<PreparedChange<infer Result>> ? Result : never;

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

/** The reference and the input of every change that a change set may contain, as the method of that name takes them. */
export type ChangeVocabulary<Own extends string = never> = {
  readonly [Name in ChangeOperationName]: (undefined extends RefOf<Name> ? unknown : { readonly ref: RefOf<Name> }) &
    (unknown extends InputOf<Name>
      ? unknown
      : undefined extends InputOf<Name>
        ? { readonly input?: ChangeInput<Name, Own> }
        : { readonly input: ChangeInput<Name, Own> });
};

type AnyOperation = Operation<unknown, unknown, unknown>;

const BY_NAME: ReadonlyMap<string, AnyOperation> = new Map(
  Object.entries(OPERATIONS).map(([name, row]) => [name, row as unknown as AnyOperation]),
);

/** Returns the row of an operation; undefined for other names. */
export function operationOf(name: string): AnyOperation | undefined {
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
  const row = BY_NAME.get(op) as AnyOperation;
  const given = row.isInputOptional ? (input ?? {}) : input;
  const valid = row.input ? engine.validate[row.input as keyof Validators](given) : undefined;
  return row.prepare(engine, ref, valid);
}
