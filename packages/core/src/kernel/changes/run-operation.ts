import type { Awaitable, ChangeContext, Person } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { copyJson } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { assertOptions, assertReference, invalidInput } from '../../base/validator.js';
import { assertDueRuns, type DueMode } from '../due/runner.js';
import type { CommittedDocuments, PreparedChange } from '../engine.js';
import { readDocumentsAfter } from '../log/change-set-log.js';
import type { CallOperation, ChangeOperation } from '../operation.js';
import type { AnyValidators, ChangeEngine, SetContext, SharedEngine, UnattributedContext } from './change-engine.js';
import type { ActorOptions, AuthorizeChanges, GivenActor } from './change-set.types.js';
import { withBypass } from './change-set-writer.js';
import { ChangesHash, type HashedChange, readChangeSetId, withDerivedIds } from './repetition.js';

/*
 * Runs the operations of `Flags`: checks the arguments, prepares the change, and commits it as a change set.
 */

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
function readInput(engine: Validating, row: Pick<AnyRow, 'input' | 'isInputOptional'>, input: unknown): unknown {
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

/** The key of the engine of an instance's actor: the same in every copy of this package. */
export const ENGINE = Symbol.for('@flags/engine');

interface WithEngine<Own extends ChangeEngine = ChangeEngine> {
  readonly [ENGINE]: Own;
}

/** A group of operations of `Flags`, such as `flags.segments`, or `Flags` itself. */
export abstract class Namespace {
  /** @internal A private member would make the types of the ESM and CommonJS builds incompatible. */
  readonly [ENGINE]: ChangeEngine;

  /** @internal */
  constructor(engine: ChangeEngine) {
    this[ENGINE] = engine;
  }
}

/** Creates a namespace at its first use: each request has flags of its own, and uses few of their namespaces. */
export function namespaceOf<Type>(flags: Namespace, name: string, Class: new (engine: ChangeEngine) => Type): Type {
  const value = new Class(flags[ENGINE]);
  Object.defineProperty(flags, name, { value });
  return value;
}

/** Every argument of an operation, before it is checked. */
interface GivenArguments extends UntypedArguments {
  readonly context?: unknown;
}

/**
 * Checks the arguments of a method of `Flags`, and calls `work` with the engine of its actor. A closed engine refuses every
 * operation; `close()` waits for running ones.
 *
 * @param row the operation of the method. Without members, it checks its reference itself
 */
export function withEngine<Own extends ChangeEngine, Result>(
  flags: WithEngine<Own>,
  row: Pick<AnyRow, 'op' | 'method' | 'ref'>,
  { ref, context }: GivenArguments,
  work: (engine: Own) => Promise<Result>,
): Promise<Result> {
  const method = row.method ?? row.op;
  // A method that was taken from its object has none.
  const engine: Own | undefined = flags?.[ENGINE];
  if (!engine) return Promise.reject(notCalledOnFlags(method));
  return engine.lifetime.track(async () => {
    if (row.ref.length > 0) assertReference(method, row.ref, ref);
    assertOptions(method, context);
    return work(engine);
  });
}

/** Runs an operation: a change as a change set of one, for which a repeated id returns the first result. */
export function run<Row extends AnyRow>(flags: WithEngine, row: Row, given: ArgumentsOf<Row>): Promise<ResultOf<Row>>;
export function run(
  flags: WithEngine,
  row: UntypedChange | UntypedCall<ChangeEngine>,
  given: GivenArguments,
): Promise<unknown> {
  if (!('run' in row)) return commitChange(flags, row, given).then(resultOf);
  return withEngine(flags, row, given, async (engine) => {
    const { ref, context } = given;
    return row.run(engine, { ref, input: readInput(engine, row, given.input), context });
  });
}

/** Returns the error of a method that was called without its object, as `const { enable } = flags; enable(ref)`. */
export function notCalledOnFlags(method: string): Error {
  return invalidInput([{ message: `call ${method} on the flags, as in flags.${method}(…)`, path: '' }]);
}

/** Runs a change, without reading its result. */
export function commitChange(flags: WithEngine, row: UntypedChange, given: GivenArguments): Promise<CommittedChange> {
  const { op, method = op } = row;
  const { ref, input, context } = given;
  return withEngine(flags, row, given, async (engine) => {
    if (row.input && !row.isInputOptional && row.ref.length > 0 && input === undefined) {
      throw invalidInput([{ message: `${method} needs an input as its second argument`, path: '' }]);
    }
    const prepare = (own: ChangeEngine) => prepareCall(own, row, { ref, input });
    return commitPrepared(engine, { call: { op, ref, input }, context: context as ChangeContext | undefined, prepare });
  });
}

/** A change, and the call that asked for it. */
interface CallOfChange<Own extends ChangeEngine> {
  /** A repeated id is compared with it, and planned events name its operation. */
  readonly call: HashedChange;
  readonly context: ChangeContext | undefined;
  readonly prepare: (engine: Own) => Awaitable<PreparedChange>;
}

/** A change with the documents after it, or after the first commit of a repeated id. */
interface CommittedChange {
  readonly prepared: PreparedChange;
  readonly documents: CommittedDocuments;
}

/** Commits a change set of one change, unless its id is repeated. */
export async function commitPrepared<Own extends ChangeEngine>(
  engine: Own,
  { call, context, prepare }: CallOfChange<Own>,
): Promise<CommittedChange> {
  const { op } = call;
  const id = context?.id === undefined ? undefined : readChangeSetId(context.id);
  // Before the first wait: the caller may change the input then.
  const hash = id === undefined ? undefined : new ChangesHash(engine);
  hash?.add(call);
  const preparing = prepare(id === undefined ? engine : withDerivedIds(engine, id));
  const unnamed = 'then' in preparing ? await preparing : preparing;
  const named = engine.authorize ? { ...unnamed, op } : unnamed;
  if (id !== undefined && !engine.registry.hasHistory(named.subject)) throw cannotBeRepeated(op);
  if (!context) return { prepared: named, documents: await commitOne(engine, named) };
  const { ifRevision } = context;
  const prepared = ifRevision === undefined ? named : { ...named, ifRevision };
  return { prepared, documents: await commitOne(engine, prepared, toContext(context, hash)) };
}

/** The history keeps no tokens, because their secrets are shown once. */
export function cannotBeRepeated(op: string): Error {
  const message = `is not supported for ${op}`;
  return invalidInput([
    {
      message: /Token$/.test(op) ? `${message}, because the secret of a token is shown only once` : message,
      path: '/id',
    },
  ]);
}

/** Commits a change. Returns the documents after it, or after the first commit of a repeated id. */
async function commitOne(
  engine: ChangeEngine,
  change: PreparedChange,
  context?: UnattributedContext,
): Promise<CommittedDocuments> {
  const { documents } = await engine.run([change], context);
  return documents ?? readDocumentsAfter(engine, context?.repetition?.id ?? '');
}

/** Returns a copy that callers may change: the storage may keep the documents themselves in memory. */
export async function resultOf<Result>({ prepared, documents }: CommittedChange): Promise<Result> {
  return copyJson(await prepared.result(documents)) as Result;
}

/** The options of a call that become the context of its set. */
type GivenContext = { readonly [Name in Exclude<keyof ChangeContext, 'ifRevision'>]?: ChangeContext[Name] | undefined };

/**
 * Returns the context of a set from the options of a call.
 *
 * @param hash has all changes of the set; undefined without an id
 * @throws FlagsError `invalid_input` for an id that is not a UUID, and for an invalid reason
 */
export function toContext(
  { id, actor, reason: given, bypassApproval }: GivenContext,
  hash: ChangesHash | undefined,
): UnattributedContext {
  const reason = given === undefined ? undefined : readReason(given, '/reason');
  const bypass = bypassApproval === undefined ? undefined : readBypass(bypassApproval, reason);
  return {
    ...(id !== undefined && hash && { repetition: { id: readChangeSetId(id), hash: hash.digest() } }),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason }),
    ...(bypass !== undefined && { bypass }),
  };
}

/** Throws `invalid_input` unless the reason is a text of the permitted length. */
function readReason(reason: unknown, path: string): string {
  if (typeof reason === 'string' && reason.length <= LIMITS.reason && !/\p{Cs}/u.test(reason)) return reason;
  throw invalidInput([{ message: `must be text of at most ${LIMITS.reason} characters`, path }]);
}

/** Returns why the set does not wait for approval. The reason of the change and this one together obey the limit. */
function readBypass(given: unknown, reason: string | undefined): string {
  const path = '/bypassApproval';
  const bypass = readReason(given, path).trim();
  if (bypass === '') throw invalidInput([{ message: 'must say why the change cannot wait for approval', path }]);
  readReason(withBypass({ reason, bypass }).reason, path);
  return bypass;
}

/** Throws `invalid_input` for the bypass of an operation that no approval can concern, or that waits for approval. */
export function refuseBypass(context: unknown): void {
  const { bypassApproval } = Object(context) as { readonly bypassApproval?: unknown };
  if (bypassApproval === undefined) return;
  const message = 'is not supported here: make the change itself with it, without a change request';
  throw invalidInput([{ message, path: '/bypassApproval' }]);
}

/** The actor of changes: a name, and the API token if the actor uses one. */
export interface ActorIdentity {
  /** Not validated yet: the first change validates it. */
  readonly name: unknown;
  readonly token?: { readonly id: string; readonly kind: string };
  /** The person, or the one who created the token. Absent for the instance itself. */
  readonly person?: Person | undefined;
  readonly authorize?: AuthorizeChanges | undefined;
}

/** Converts an actor's name or an API token to an identity. */
export function toIdentity(actor: GivenActor, options: ActorOptions | undefined): ActorIdentity {
  const authorize = options === undefined ? undefined : readAuthorize(options);
  if (typeof actor !== 'object' || actor === null) return { name: actor, person: { name: actor }, authorize };
  const { name } = actor;
  if ('kind' in actor && typeof actor.kind === 'string' && typeof actor.id === 'string') {
    const { id, kind, createdBy } = actor;
    return { name, token: { id, kind }, person: createdBy ?? undefined, authorize };
  }
  const id = readPersonId(actor.id);
  return { name, person: id === undefined ? { name } : { name, id }, authorize };
}

/**
 * Returns the id of a person as text; undefined for a person without one. Every entry converts ids by it: 7 and `'7'` are
 * one person.
 *
 * @throws FlagsError `invalid_input` for another type. Without it, people would silently be compared by name
 */
export function readPersonId(id: unknown): string | undefined {
  if (id === undefined || typeof id === 'string') return id;
  if (typeof id === 'number' && Number.isFinite(id)) return `${id}`;
  const message = 'must be text or a finite number: convert it, as in String(user.id), or leave it out';
  throw invalidInput([{ message, path: '/id' }]);
}

function readAuthorize(options: ActorOptions): AuthorizeChanges | undefined {
  assertOptions('as', options);
  const { authorize } = options;
  if (authorize === undefined || typeof authorize === 'function') return authorize;
  throw invalidInput([{ message: 'must be a function', path: '/authorize' }]);
}

/**
 * Returns the engine of an actor. It inherits the members of the shared engine, because a router creates one engine per
 * request. If the shared engine has an `authorize`, both checks run.
 */
export function engineOf<Shared extends SharedEngine & Partial<Pick<ChangeEngine, 'authorize'>>>(
  shared: Shared,
  identity: ActorIdentity,
): Shared & ChangeEngine {
  const { writer } = shared;
  const actor = { ...identity, authorize: bothOf(shared.authorize, identity.authorize) };
  return Object.assign(Object.create(shared) as Shared, {
    run: (changes, context) => writer.run(changes, attribute(context, actor)),
    plan: async (changes, context) => writer.plan(changes, attribute(context, actor)),
    isCommitted: async (context) => writer.isCommitted(attribute(context, actor)),
    authorize: actor.authorize,
  } satisfies Omit<ChangeEngine, keyof SharedEngine>);
}

function bothOf(
  first: AuthorizeChanges | undefined,
  second: AuthorizeChanges | undefined,
): AuthorizeChanges | undefined {
  if (!first || !second) return first ?? second;
  return async (planned) => {
    await first(planned);
    await second(planned);
  };
}

/** Adds the engine's actor and its check to the context of a change set, unless the context has its own. */
function attribute(
  context: UnattributedContext | undefined,
  { name, token, person: own, authorize }: ActorIdentity,
): SetContext {
  const actor: unknown = context?.actor ?? name;
  const actorToken = context?.actor === undefined ? token : undefined;
  if (typeof actor !== 'string' || actor === '') {
    throw invalidInput([{ message: 'the actor must be a non-empty string', path: '' }]);
  }
  if (context?.bypass !== undefined && actorToken) {
    throw new FlagsError('forbidden', 'API tokens cannot bypass approval; ask a person to make the change.');
  }
  const person = context?.actor === undefined ? own : { name: actor };
  const attributed = { authorize, actor, ...(actorToken && { actorToken }), ...(person && { person }) };
  return context ? { ...attributed, ...context, actor } : attributed;
}
