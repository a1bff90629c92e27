import type { Awaitable, ChangeContext, Person } from '../base/common.types.js';
import { copyJson } from '../base/json.js';
import { LIMITS } from '../base/limits.js';
import { assertOptions, assertReference, invalidInput } from '../base/validator.js';
import type { CommittedDocuments, PreparedChange } from '../engine/engine.js';
import type { CallOperation, ReferenceMember } from '../engine/operation.js';
import { FlagsError } from '../errors.js';
import { readDocumentsAfter } from '../log/change-set-log.js';
import type { ActorOptions, AuthorizeChanges, GivenActor } from './change-set.types.js';
import { bypassing } from './change-set-writer.js';
import type { ChangeEngine, SetContext, SharedEngine, UnattributedContext } from './engine.js';
import type { InputOf, OperationName, RefOf, ResultOf } from './operations.js';
import { prepareOperation, validateInput } from './prepare.js';
import { ChangesHash, type HashedChange, readChangeSetId, withDerivedIds } from './repetition.js';

/** The key of the engine of an instance's actor: the same in every copy of this package. */
export const ENGINE = Symbol.for('@flags/engine');

interface WithEngine<Own extends ChangeEngine = ChangeEngine> {
  readonly [ENGINE]: Own;
}

/** A call of a method of `Flags`, with the arguments whose types are checked here. */
interface MethodArguments {
  /** The name of the operation. */
  readonly op: string;
  /** The members of its reference. Absent or empty: the operation has none, or validates it itself. */
  readonly members?: readonly ReferenceMember[];
  readonly ref?: unknown;
  readonly options?: unknown;
}

/** Throws `invalid_input` unless a method was called with its reference and options of the right type. */
function assertArguments({ op, members = [], ref, options }: MethodArguments): void {
  if (members.length > 0) assertReference(op, members, ref);
  assertOptions(op, options);
}

/** Runs a method of `Flags`. A closed engine refuses every operation; `close()` waits for running ones. */
export function run<Own extends ChangeEngine, Result>(
  flags: WithEngine<Own>,
  given: MethodArguments,
  operation: (engine: Own) => Promise<Result>,
): Promise<Result> {
  // A method that was taken from its object has none.
  const engine: Own | undefined = flags?.[ENGINE];
  if (!engine) return Promise.reject(notCalledOnFlags(given.op));
  return engine.lifetime.track(async () => {
    assertArguments(given);
    return operation(engine);
  });
}

/** An operation that runs itself, by its name. */
type Calls = Readonly<Record<string, CallOperation<never, never, never, unknown, never>>>;
type CallOf<Row> =
  Row extends CallOperation<infer Ref, infer Input, infer Context, infer Result, never>
    ? { readonly ref: Ref; readonly input: Input; readonly context: Context; readonly result: Result }
    : never;

/** Runs a method whose operation runs itself. */
export function call<Rows extends Calls, Name extends keyof Rows & string>(
  flags: WithEngine,
  rows: Rows,
  op: Name,
  given: Omit<CallOf<Rows[Name]>, 'result'>,
): Promise<CallOf<Rows[Name]>['result']> {
  const row = rows[op] as CallOperation<unknown, unknown, unknown, CallOf<Rows[Name]>['result'], never>;
  const { ref, input, context } = given as { readonly [Member in keyof typeof given]: unknown };
  return run(flags, { op: row.method, members: row.ref, ref, options: context }, async (engine) => {
    const valid = row.input === undefined ? input : validateInput(engine, row, input);
    return row.run(engine as never, { ref, input: valid, context });
  });
}

/** Returns the error of a method that was called without its object, as `const { enable } = flags; enable(ref)`. */
export function notCalledOnFlags(op: string): Error {
  return invalidInput([{ message: `call ${op} on the flags, as in flags.${op}(…)`, path: '' }]);
}

/** The arguments of a change. */
export interface ChangeArguments<Name extends OperationName> {
  readonly ref?: RefOf<Name>;
  readonly input?: InputOf<Name>;
  readonly context: ChangeContext | undefined;
}

/**
 * Runs a method of `Flags` as a change set of one change. A repeated id returns the first result, from the state that
 * the first call has left.
 */
export function change<Name extends OperationName>(
  flags: WithEngine,
  op: Name,
  given: ChangeArguments<Name>,
): Promise<ResultOf<Name>> {
  return commitChange(flags, op, given).then(resultOf<ResultOf<Name>>);
}

/** Runs a change, without reading its result. */
export function commitChange<Name extends OperationName>(
  flags: WithEngine,
  op: Name,
  { ref, input, context }: ChangeArguments<Name>,
): Promise<CommittedChange> {
  const row = flags?.[ENGINE]?.operations.find(op);
  const members = (row?.ref ?? []) as readonly ReferenceMember[];
  return run(flags, { op, members, ref, options: context }, async (engine) => {
    if (row?.input && !row.isInputOptional && members.length > 0 && input === undefined) {
      throw invalidInput([{ message: `${op} needs an input as its second argument`, path: '' }]);
    }
    const prepare = (own: ChangeEngine) => prepareOperation(own, { op, ref, input });
    return commitPrepared(engine, { call: { op, ref, input }, context, prepare });
  });
}

/** A change, and the call that it is the answer to. */
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
  readReason(bypassing({ reason, bypass }).reason, path);
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
 * Returns the engine of an actor. It inherits the other members: a router creates one engine per request. The check of an
 * engine that has one stays, whoever the actor is.
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
