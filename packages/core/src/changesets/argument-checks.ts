import { invalidInput } from '../base/validator.js';
import type { ChangeOperation } from './change-operations.js';

/**
 * Throws `invalid_input` unless the first argument of a method is an object. It may be absent if all its members are
 * optional.
 *
 * @param members the names of its members, for the message; those of optional members end in `?`
 */
export function assertReference(method: string, members: readonly string[], reference: unknown): void {
  if (typeof reference === 'object' && reference !== null) return;
  if (reference === undefined && members.every((member) => member.endsWith('?'))) return;
  const call = `${method}({ ${members.join(', ').replaceAll('?', '')} })`;
  throw invalidInput([{ message: `${method} needs an object as its first argument, as in ${call}`, path: '' }]);
}

/** Throws `invalid_input` unless a change was called with its reference, its input and options of the right type. */
export function assertChangeArguments(
  method: string,
  ref: ChangeOperation['ref'],
  change: ReturnType<ChangeOperation['split']>,
): void {
  if (ref.length > 0) {
    assertReference(method, ref, change.ref);
    if ('input' in change && change.input === undefined) {
      throw invalidInput([{ message: `${method} needs an input as its second argument`, path: '' }]);
    }
  }
  assertOptions(method, change.context);
}

/**
 * Throws `invalid_input` unless an operation was called with its reference and options of the right type.
 *
 * @param ref the members of its reference; undefined if the operation itself validates its first argument
 */
export function assertArguments(
  method: string,
  ref: readonly string[] | undefined,
  parameters: readonly unknown[],
): void {
  const [first, ...options] = parameters;
  if (ref) assertReference(method, ref, first);
  for (const one of options) assertOptions(method, one);
}

/** Throws `invalid_input` for options that are neither absent nor an object. */
export function assertOptions(method: string, options: unknown): void {
  if (options === undefined || (typeof options === 'object' && options !== null)) return;
  throw invalidInput([{ message: `the options of ${method} must be an object`, path: '' }]);
}
