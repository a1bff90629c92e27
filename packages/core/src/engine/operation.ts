import type { Awaitable } from '../base/common.types.js';
import type { Engine, PreparedChange } from './engine.js';

/** The types of the members of references. Names that end in `?` are optional. */
export const REFERENCE_MEMBERS = {
  project: 'string',
  flag: 'string',
  environment: 'string',
  strategy: 'string',
  segment: 'number',
  token: 'string',
  application: 'string',
  consumer: 'string',
  changeSet: 'string',
  changeRequest: 'string',
  'project?': 'string',
  'strategy?': 'string',
  'strategies?': 'object',
} as const;

export type ReferenceMember = keyof typeof REFERENCE_MEMBERS;

export const NO_REFERENCE = [] as const;
export const PROJECT = ['project'] as const;
export const FLAG = ['project', 'flag'] as const;
export const ANY_FLAG = ['flag', 'project?'] as const;
export const ENVIRONMENT = ['project', 'flag', 'environment'] as const;
export const STRATEGY = ['project', 'flag', 'environment', 'strategy'] as const;
export const SEGMENT = ['segment'] as const;
export const TOKEN = ['token'] as const;
export const CHANGE_SET = ['changeSet'] as const;
export const CHANGE_REQUEST = ['changeRequest'] as const;

/**
 * An operation that changes documents, described once. The arguments' checks, the repetition of calls, and the
 * vocabulary of change sets follow from its row.
 */
export interface Operation<Ref, Input, Result, Needed = Engine> {
  /** The members of the reference; empty for an operation without one. */
  readonly ref: readonly ReferenceMember[];
  /** The name of the schema of the input. Absent: there is no input. */
  readonly input?: string;
  /** An absent input is an empty one. */
  readonly isInputOptional?: true;
  /** Whether change sets may contain it. */
  readonly isInSets: boolean;
  /** A change request may contain it although change sets may not: among other changes, or only `alone`. */
  readonly isInRequests?: true | 'alone';
  /** Creates ids and times once, from a valid input. The caller may change the input afterwards, so copy it. */
  readonly prepare: (engine: Needed, ref: Ref, input: Input) => Awaitable<PreparedChange<Result>>;
}

type Row<Ref, Input, Result, Name, Needed> = Omit<Operation<Ref, Input, Result, Needed>, 'isInSets' | 'input'> & {
  readonly input?: Name;
};

/** An operation that change sets may contain. */
export function operation<Ref, Input, Result, const Name extends string = never, Needed = Engine>(
  row: Row<Ref, Input, Result, Name, Needed>,
) {
  return { ...row, isInSets: true } as const satisfies Operation<Ref, Input, Result, Needed>;
}

/** An operation that is a change set of its own only. */
export function singleOperation<Ref, Input, Result, const Name extends string = never, Needed = Engine>(
  row: Row<Ref, Input, Result, Name, Needed>,
) {
  return { ...row, isInSets: false } as const satisfies Operation<Ref, Input, Result, Needed>;
}

/**
 * An operation that is not one prepared change: a read, or a change of several documents that decides by itself what it
 * commits.
 */
export interface CallOperation<Ref, Input, Context, Result, Needed> {
  /** The method of `Flags`, for messages. */
  readonly method: string;
  readonly ref: readonly ReferenceMember[];
  /** The name of the schema of the input. Absent: there is no input. */
  readonly input?: string;
  readonly run: (engine: Needed, call: Call<Ref, Input, Context>) => Promise<Result>;
}

/** The arguments of a call. */
export interface Call<Ref, Input = undefined, Context = undefined> {
  readonly ref: Ref;
  readonly input: Input;
  readonly context: Context;
}
