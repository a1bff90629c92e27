import type { Awaitable, ChangeContext } from '../base/common.types.js';
import type { Engine, PreparedChange } from './engine.js';

/** The types of the members of references, and whether a change may leave them out. */
export const REF_MEMBERS = {
  project: 'string',
  flag: 'string',
  environment: 'string',
  strategy: 'string',
  segment: 'number',
  token: 'string',
  'project?': 'string',
} as const;

/** The reference and the input of a change. */
export interface ChangeArguments {
  readonly ref?: unknown;
  readonly input?: unknown;
}

/** An operation that changes documents, as a method and as an entry of a change set. */
export interface ChangeOperation {
  /** Validates the input, and creates ids and times once. */
  readonly prepare: (engine: Engine, change: ChangeArguments) => Awaitable<PreparedChange>;
  /** Maps the parameters of the method. */
  readonly split: (
    ...parameters: readonly unknown[]
  ) => ChangeArguments & { readonly context: ChangeContext | undefined };
  /** The members of the reference; empty if the operation has none, or its reference is a text. */
  readonly ref: readonly (keyof typeof REF_MEMBERS)[];
}

type Prepare<Parameters extends readonly unknown[]> = (
  engine: Engine,
  ...parameters: Parameters
) => Awaitable<PreparedChange>;

/** An operation `(input, context)`. The operation validates the input itself. */
export function ofInput<Input>(prepare: Prepare<[Input]>): ChangeOperation {
  return {
    prepare: (engine, { input }) => prepare(engine, input as Input),
    split: (input, context) => ({ input, context: context as ChangeContext | undefined }),
    ref: [],
  };
}

/** An operation `(ref, context)`. */
export function ofRef<Ref>(prepare: Prepare<[Ref]>, ref: ChangeOperation['ref']): ChangeOperation {
  return {
    prepare: (engine, change) => prepare(engine, change.ref as Ref),
    split: (reference, context) => ({ ref: reference, context: context as ChangeContext | undefined }),
    ref,
  };
}

/** An operation `(ref, input, context)`. */
export function ofBoth<Ref, Input>(prepare: Prepare<[Ref, Input]>, ref: ChangeOperation['ref'] = []): ChangeOperation {
  return {
    prepare: (engine, change) => prepare(engine, change.ref as Ref, change.input as Input),
    split: (reference, input, context) => ({ ref: reference, input, context: context as ChangeContext | undefined }),
    ref,
  };
}
