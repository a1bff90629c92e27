import type { Awaitable, ChangeContext } from '../../base/common.types.js';
import type { PreparedChange } from '../change.js';
import { assertDueRuns, type DueMode } from '../due/runner.js';
import type { CallOperation, ChangeOperation } from '../operation.js';
import type { AnyValidators } from './change-engine.js';

interface Named {
  /** The name of the operation. */
  readonly op: string;
}

type AnyChange<Needed> = ChangeOperation<never, never, unknown, Needed>;
type AnyCall<Needed> = CallOperation<never, never, never, unknown, Needed>;

/** The row of an operation that runs on this engine. */
export type AnyRow<Needed = never> = Named & (AnyChange<Needed> | AnyCall<Needed>);

export type UntypedChange = Named & ChangeOperation<unknown, unknown, unknown, unknown>;
export type UntypedCall<Needed> = Named & CallOperation<unknown, unknown, unknown, unknown, Needed>;

type PrepareOf<Row> = Row extends { readonly prepare: infer Prepare extends AnyChange<never>['prepare'] }
  ? Prepare
  : never;

export type RefOf<Row> = Parameters<PrepareOf<Row>>[1];
export type InputOf<Row> = Parameters<PrepareOf<Row>>[2];

/** The arguments of a change. */
export interface ChangeArguments<Row> {
  readonly ref?: RefOf<Row>;
  readonly input?: InputOf<Row>;
  readonly context?: ChangeContext | undefined;
}

type CallOf<Row> = Row extends { readonly run: (engine: never, call: infer Call) => unknown } ? Call : never;
type OptionalIn<Call> = { [Member in keyof Call]: undefined extends Call[Member] ? Member : never }[keyof Call];

/** The arguments of an operation. What may be undefined may be absent. */
export type ArgumentsOf<Row> = [CallOf<Row>] extends [never]
  ? ChangeArguments<Row>
  : Omit<CallOf<Row>, OptionalIn<CallOf<Row>>> & Partial<Pick<CallOf<Row>, OptionalIn<CallOf<Row>>>>;

/** What an operation resolves to. */
export type ResultOf<Row> = Row extends { readonly run: (...given: never[]) => Promise<infer Result> }
  ? Result
  : PrepareOf<Row> extends (...given: never[]) => Awaitable<PreparedChange<infer Result>>
    ? Result
    : never;

type Validating = { readonly validate: AnyValidators };

/**
 * Validates the input of an operation.
 *
 * @throws FlagsError `invalid_input`
 */
export function readInput(engine: Validating, row: Pick<AnyRow, 'input' | 'isInputOptional'>, input: unknown): unknown {
  const given = row.isInputOptional ? (input ?? {}) : input;
  return row.input === undefined ? given : engine.validate[row.input]?.(given as never);
}

/** The arguments of an operation of an unknown type. */
export interface UntypedArguments {
  readonly ref?: unknown;
  readonly input?: unknown;
}

/**
 * Validates the input of an operation, and prepares its change.
 *
 * @throws FlagsError `invalid_input`
 */
export function prepareChange(
  engine: Validating,
  row: UntypedChange,
  { ref, input }: UntypedArguments,
): Awaitable<PreparedChange> {
  return row.prepare(engine, ref, row.input === undefined ? undefined : readInput(engine, row, input));
}

/**
 * Prepares a change of a caller. Unlike {@link prepareChange}, refuses an operation that needs the runner of what is due if
 * no process runs it.
 *
 * @throws FlagsError `invalid_input`, `due_disabled`
 */
export function prepareCall(
  engine: Validating & { readonly due: { readonly mode: DueMode } },
  row: UntypedChange,
  given: UntypedArguments,
): Awaitable<PreparedChange> {
  const prepared = prepareChange(engine, row, given);
  if (row.needsDue) assertDueRuns(engine);
  return prepared;
}
