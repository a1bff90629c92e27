import type { Awaitable, ChangeContext } from '../base/common.types.js';
import { invalidInput } from '../base/validator.js';
import type { PayloadReader } from '../definitions/payload.js';
import type { Feed } from '../events/feed.js';
import type { Settings } from '../flags.js';
import type { Validators } from '../input-schemas.js';
import type { Replica } from '../replica/replica.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import type { UsageStorage } from '../storage/usage-port.js';
import type { TokenVerifier } from '../tokens/token-verification.operations.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { AuthorizeChanges } from './change-set.types.js';
import type { ChangeSetLog } from './change-set-log.js';
import type { DocumentChange, DocumentReader } from './documents.js';
import type { ExpectedRevision } from './refusals.js';
import type { CommittableUnit, UnitOfWork } from './unit-of-work.js';

/** The dependencies of operations. Engines of different actors differ in `run`, `plan` and `authorize` only. */
export interface Engine extends DocumentReader, TokenVerifier {
  readonly settings: Settings;
  readonly validate: Validators;
  readonly storage: Storage;
  readonly usage: UsageStorage;
  readonly usageWriter: UsageWriter;
  readonly feed: Feed;
  readonly replica: Replica;
  readonly log: ChangeSetLog;
  readonly payloads: PayloadReader;
  /** Runs a change set, attributed to the engine's actor unless the context names another one. */
  readonly run: (changes: readonly PreparedChange[], context: UnattributedContext | undefined) => Promise<CommittedSet>;
  /** Decides a change set without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context?: UnattributedContext) => Promise<DecidedSet>;
  readonly now: () => Date;
  /** Milliseconds after which a new token expires at the latest; undefined: no limit. */
  readonly maxTokenLifetime: number | undefined;
  readonly newId: () => string;
  readonly isUser: (userId: number) => Awaitable<boolean>;
  /** Checks the changes of the engine's actor. */
  readonly authorize: AuthorizeChanges | undefined;
}

/** A context that may lack an actor. */
export type UnattributedContext = Omit<SetContext, 'actor' | 'actorToken'> & Pick<ChangeContext, 'actor'>;

/** The context of a change set. */
export interface SetContext {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
  /** The id that the caller gives to the set. The runner commits it once, however often it is repeated. */
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  /** Documents that must be at these revisions. */
  readonly expected?: readonly ExpectedRevision[] | undefined;
  /** Called after every decision, before its commit. */
  readonly authorize?: AuthorizeChanges | undefined;
}

/** A change with a valid input, ready to be decided any number of times. */
export interface PreparedChange<Result = unknown> {
  /** The document that the change is about. */
  readonly subject: DocumentKey;
  /** The document whose other changes wait for this one; the subject when absent. */
  readonly lock?: DocumentKey;
  /** The document that `ifRevision` refers to; the subject when absent. */
  readonly revisionOf?: DocumentKey;
  readonly ifRevision?: number | readonly number[] | undefined;
  /** A JSON Pointer to the change in the caller's input, which refusals name. Absent for a single operation. */
  readonly path?: string;
  /** The operation, which the planned events name. Absent for an undo and an import. */
  readonly op?: string;
  /**
   * Decides the change on the working unit, and writes to it. Runs again after a conflict, so the preparation creates
   * the time, the ids and the input.
   */
  readonly decide: (unit: UnitOfWork, context: SetContext) => Awaitable<void>;
  /** Returns the result of the operation from the documents after the commit. */
  readonly result: (committed: DocumentReader) => Awaitable<Result>;
}

/** A change set after its commit. */
export interface CommittedSet {
  /** null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  /** The documents after the set. */
  readonly documents: DocumentReader;
}

/** A decided set, before its commit. */
export interface DecidedSet {
  readonly unit: CommittableUnit;
  readonly writes: readonly DocumentChange[];
}

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

/** An operation that changes documents: as a method, and as an entry of a change set. */
export interface ChangeOperation {
  /** Validates the input, and creates ids and times once. */
  readonly prepare: (engine: Engine, change: ChangeArguments) => Awaitable<PreparedChange>;
  /** Splits the parameters of the method. */
  readonly split: (
    ...parameters: readonly unknown[]
  ) => ChangeArguments & { readonly context: ChangeContext | undefined };
  /** The members of the reference; empty if the operation has none, or refers by a text. */
  readonly ref: readonly (keyof typeof REF_MEMBERS)[];
}

type Prepare<Parameters extends readonly unknown[]> = (
  engine: Engine,
  ...parameters: Parameters
) => Awaitable<PreparedChange>;

/** An operation `(input, context)`. The input is validated by the operation, so its type is not checked here. */
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
    split: (given, context) => ({ ref: given, context: context as ChangeContext | undefined }),
    ref,
  };
}

/** An operation `(ref, input, context)`. */
export function ofBoth<Ref, Input>(prepare: Prepare<[Ref, Input]>, ref: ChangeOperation['ref'] = []): ChangeOperation {
  return {
    prepare: (engine, change) => prepare(engine, change.ref as Ref, change.input as Input),
    split: (given, input, context) => ({ ref: given, input, context: context as ChangeContext | undefined }),
    ref,
  };
}

/**
 * Throws `invalid_input` unless the first argument of a method is an object. It may be absent if all its members are
 * optional.
 *
 * @param members the names of its members, for the message; those of optional members end in `?`
 */
export function assertReference(method: string, members: readonly string[], given: unknown): void {
  if (typeof given === 'object' && given !== null) return;
  if (given === undefined && members.every((member) => member.endsWith('?'))) return;
  const call = `${method}({ ${members.join(', ').replaceAll('?', '')} })`;
  throw invalidInput([{ message: `${method} needs an object as its first argument, as in ${call}`, path: '' }]);
}

/** Throws `invalid_input` unless a change was called with its reference, its input and options of the right type. */
export function assertChangeArguments(
  method: string,
  ref: ChangeOperation['ref'],
  given: ReturnType<ChangeOperation['split']>,
): void {
  if (ref.length > 0) {
    assertReference(method, ref, given.ref);
    if ('input' in given && given.input === undefined) {
      throw invalidInput([{ message: `${method} needs an input as its second argument`, path: '' }]);
    }
  }
  assertOptions(method, given.context);
}

/**
 * Throws `invalid_input` unless an operation was called with its reference and options of the right type.
 *
 * @param ref the members of its reference; undefined if the operation itself validates its first argument
 */
export function assertArguments(method: string, ref: readonly string[] | undefined, given: readonly unknown[]): void {
  const [first, ...options] = given;
  if (ref) assertReference(method, ref, first);
  for (const one of options) assertOptions(method, one);
}

/** Throws `invalid_input` for options that are neither absent nor an object. */
export function assertOptions(method: string, given: unknown): void {
  if (given === undefined || (typeof given === 'object' && given !== null)) return;
  throw invalidInput([{ message: `the options of ${method} must be an object`, path: '' }]);
}
