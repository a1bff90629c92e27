import type { Awaitable } from '../base/common.types.js';
import type { PreparedChange } from '../engine/change.js';
import type { Engine } from '../engine/engine.js';
import type { ListedOperation } from '../kernel/registry.js';
import type { AnyValidators } from './engine.js';
import type { HashedChange } from './repetition.js';

/** An engine with the validators of all inputs. */
export interface PreparingEngine extends Engine {
  readonly validate: AnyValidators;
}

/**
 * Validates the input of an operation, and prepares its change.
 *
 * @throws FlagsError `invalid_input`
 */
export function prepareOperation(engine: PreparingEngine, { op, ref, input }: HashedChange): Awaitable<PreparedChange> {
  const row = engine.operations.find(op) as ListedOperation;
  const given = row.isInputOptional ? (input ?? {}) : input;
  return row.prepare(engine as never, ref as never, validateInput(engine, row, given) as never);
}

/** Returns the valid input of an operation; undefined if it has none. */
export function validateInput(
  { validate }: Pick<PreparingEngine, 'validate'>,
  { input: name }: { readonly input?: string },
  given: unknown,
): unknown {
  return name === undefined ? undefined : validate[name]?.(given as never);
}
