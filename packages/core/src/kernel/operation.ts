import type { Awaitable, PageQuery } from '../base/common.types.js';
import type { Engine, PreparedChange } from './engine.js';

/** The members of references that are not text, with their types. Names that end in `?` are optional. */
const OTHER_MEMBERS = { segment: 'number', 'strategies?': 'object' } as const;

/** The names of the members of a reference. A member that is not text has a row in `OTHER_MEMBERS`. */
type MemberOf<Ref> = Ref extends object
  ? {
      [Name in keyof Ref & string]-?: [Extract<Ref[Name], string>] extends [never]
        ? Extract<keyof typeof OTHER_MEMBERS, Name | `${Name}?`>
        : Name | `${Name}?`;
    }[keyof Ref & string]
  : never;

/** Returns the type of a member of references, as `typeof` names it. */
export function typeOfMember(member: string): string {
  return (OTHER_MEMBERS as Readonly<Record<string, string>>)[member] ?? 'string';
}

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

/** What every operation has: its name, and the arguments that are checked before it runs. */
interface OperationRow {
  /** The method of `Flags` that runs it, as `segments.create`. Absent: the method has the name of the operation. */
  readonly method?: string;
  /** The members of the reference; empty for an operation without one, and if the operation checks them itself. */
  readonly ref: readonly string[];
  /** The name of the schema of the input. Absent: there is no input, or the operation checks it itself. */
  readonly input?: string;
  /** An absent input is an empty one. */
  readonly isInputOptional?: true;
  /** Starts something that continues by itself, such as a rollout. Refused unless a process does what is due. */
  readonly needsDue?: true;
}

/**
 * An operation that changes documents, described once. The arguments' checks, the repetition of calls, and the
 * vocabulary of change sets follow from its row.
 */
export interface ChangeOperation<Ref, Input, Result, Needed = Engine> extends OperationRow {
  /** Whether change sets may contain it. */
  readonly isInSets: boolean;
  /** A change request may contain it although change sets may not: among other changes, or only `alone`. */
  readonly isInRequests?: true | 'alone';
  /** Creates ids and times once, from a valid input. The caller may change the input afterwards, so copy it. */
  readonly prepare: (engine: Needed, ref: Ref, input: Input) => Awaitable<PreparedChange<Result>>;
}

/**
 * An operation that is not one prepared change: a read, or a change of several documents that decides by itself what it
 * commits.
 */
export interface CallOperation<Ref, Input, Context, Result, Needed = Engine> extends OperationRow {
  readonly run: (engine: Needed, call: Call<Ref, Input, Context>) => Promise<Result>;
}

/** Where a list starts and how long it is, if the caller says so. */
export type Page = PageQuery | undefined;

/** The arguments of a call. */
export interface Call<Ref = undefined, Input = undefined, Context = undefined> {
  readonly ref: Ref;
  readonly input: Input;
  readonly context: Context;
}

type ChangeRow<Ref, Input, Result, Name, Needed> = Omit<
  ChangeOperation<Ref, Input, Result, Needed>,
  'isInSets' | 'input' | 'ref'
> & { readonly input?: Name; readonly ref: readonly MemberOf<Ref>[] };

/** An operation that change sets may contain. */
export function operation<Ref, Input, Result, const Name extends string = never, Needed = Engine>(
  row: ChangeRow<Ref, Input, Result, Name, Needed>,
) {
  return { ...row, isInSets: true } as const satisfies ChangeOperation<Ref, Input, Result, Needed>;
}

/** An operation that is a change set of its own only. */
export function singleOperation<Ref, Input, Result, const Name extends string = never, Needed = Engine>(
  row: ChangeRow<Ref, Input, Result, Name, Needed>,
) {
  return { ...row, isInSets: false } as const satisfies ChangeOperation<Ref, Input, Result, Needed>;
}

/** An operation that runs itself. */
export function call<Ref, Input, Context, Result, const Name extends string = never, Needed = Engine>(
  row: Omit<CallOperation<Ref, Input, Context, Result, Needed>, 'input' | 'ref'> & {
    readonly input?: Name;
    readonly ref: readonly MemberOf<Ref>[];
  },
) {
  return row satisfies CallOperation<Ref, Input, Context, Result, Needed>;
}

/** The rows of a feature, each with its name. */
export type NamedRows<Rows> = { readonly [Name in keyof Rows]: Rows[Name] & { readonly op: Name } };

/** Gives the operations of a feature their names. */
export function defineOperations<const Rows extends Readonly<Record<string, object>>>(rows: Rows): NamedRows<Rows> {
  return Object.fromEntries(Object.entries(rows).map(([op, row]) => [op, { ...row, op }])) as NamedRows<Rows>;
}
