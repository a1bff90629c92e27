import { v7 as timeOrderedId } from 'uuid';
import type { ListPage, PageQuery } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { pageBounds, takePage } from '../../base/pages.js';
import { invalidInput } from '../../base/validator.js';
import type { UnattributedContext } from '../../kernel/changes/change-engine.js';
import type { AuthorizeChanges, GatedEffect, PlannedDocument } from '../../kernel/changes/change-set.types.js';
import { type GivenChange, prepareAll } from '../../kernel/changes/change-sets.operations.js';
import { documentTooLarge } from '../../kernel/changes/refusals.js';
import { hashOf, readChangeSetId, withDerivedIds } from '../../kernel/changes/repetition.js';
import { refuseBypass, toContext } from '../../kernel/changes/run-operation.js';
import { refusalOf } from '../../kernel/due/host.js';
import { assertDueRuns } from '../../kernel/due/runner.js';
import { authorOf, type ChangeAuthor, type PreparedChange } from '../../kernel/engine.js';
import type { Call } from '../../kernel/operation.js';
import type { DocumentReader, Read, Versioned } from '../../storage/document-reader.js';
import { listSummaries, type StoredSummary } from '../../storage/summaries.js';
import { effectsOf } from '../environments/effects.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { isSamePerson } from '../tokens/people.js';
import * as rules from './change-request.decide.js';
import {
  type ChangeRequestQuery,
  isOpen,
  type RequestState,
  type RequestSummary,
  type StoredApproval,
} from './change-request.js';
import { ENDED, OPEN, requestDocuments, toSummary } from './change-request.kind.js';
import { assertAhead, readTimes } from './change-request.schema.js';
import type {
  ChangeRequest,
  ChangeRequestOptions,
  ChangeRequestRef,
  ListedChangeRequest,
  NewChangeRequest,
} from './change-request.types.js';
import type { RequestEngine, SharedRequestEngine } from './request-engine.js';
import { hashContents, scopeOf } from './scope.js';

const { kind: KIND } = requestDocuments;

export async function createChangeRequest(
  engine: RequestEngine,
  { input, context = {} }: Call<undefined, NewChangeRequest, Pick<ChangeRequestOptions, 'actor'> | undefined>,
): Promise<ChangeRequest> {
  refuseBypass(context);
  const { actor } = context;
  const set = toContext({ actor, reason: input.reason }, undefined);
  // UUIDs are stored in lower case.
  const replaces = input.replaces?.toLowerCase();
  const given = readRequest(engine, { ...input, replaces });
  if (given.at !== null) assertDueRuns(engine);
  const isRepeated = input.id !== undefined && (await engine.read(requestDocuments, given.id)) !== undefined;
  const planned = isRepeated ? undefined : await planRequest(engine, given, set);
  const change: PreparedChange = {
    // New requests of a process share a key, so that each one counts the requests before it.
    subject: { kind: KIND, id: '' },
    op: 'createChangeRequest',
    async decide(unit, by) {
      const author = authorOf(by);
      const existing = await unit.read(requestDocuments, given.id);
      if (existing) return rules.assertRepeated(existing.state, { ...given, author });
      if (!planned) throw changeRequestNotFound(given.id);
      await assertRoom(engine, { author, bytes: planned.state.bytes, replaces });
      if (replaces !== undefined) {
        const { state } = await findRequest(unit.read, replaces);
        const withdrawn = rules.withdraw(state, engine.now());
        await unit.record(requestDocuments, replaces, { ...withdrawn, op: 'withdrawChangeRequest' });
      }
      const created = { ...planned.state, author, appliedBy: given.at === null ? null : author };
      await unit.record(requestDocuments, given.id, rules.create(created));
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], set);
  if (!planned) return getChangeRequest(engine, { ref: { changeRequest: given.id } });
  const created = await findRequest(documents.read, given.id);
  engine.dueRequests.reschedule(created.state);
  if (replaces !== undefined) engine.dueRequests.reschedule((await findRequest(documents.read, replaces)).state);
  return toRequest(created, engine.now(), planned.found);
}

type GivenRequest = Pick<
  RequestState,
  'id' | 'changes' | 'reason' | 'at' | 'notAfter' | 'expiresAt' | 'ifUnchanged' | 'createdAt' | 'hash'
>;

/** Validates what does not depend on stored state, and copies the changes: the caller may change them afterwards. */
function readRequest({ now }: RequestEngine, input: NewChangeRequest): GivenRequest {
  const created = now();
  const { ifUnchanged = false, reason = null, expiresAt, replaces } = input;
  const times = readTimes(input, created);
  const id =
    input.id === undefined ? timeOrderedId({ msecs: Math.max(0, created.getTime()) }) : readChangeSetId(input.id);
  const changes = copyChanges(input.changes);
  const { at, notAfter } = times;
  // The default end depends on the time of the call, so the hash of a repeated id leaves it out.
  const hash = hashOf([changes, at, notAfter, expiresAt ?? null, ifUnchanged, replaces ?? null]);
  return { id, ...times, changes, ifUnchanged, reason, createdAt: created.toISOString(), hash };
}

/** Returns the changes as they are stored, without members that nobody reads. */
function copyChanges(given: unknown): readonly GivenChange[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw invalidInput([{ message: 'must be a list of changes, with one at least', path: '/changes' }]);
  }
  if (given.length > LIMITS.changesPerSet) return given;
  const known = given.map((change: unknown) => {
    if (typeof change !== 'object' || change === null) return change;
    const { op, ref, input, ifRevision } = change as Readonly<Record<string, unknown>>;
    return { op, ref, input, ifRevision };
  });
  try {
    const changes = JSON.parse(JSON.stringify(known));
    hashOf(changes);
    return changes;
  } catch {
    const message = 'must be JSON without cycles and of little depth, because they are stored';
    throw invalidInput([{ message, path: '/changes' }]);
  }
}

interface PlannedRequest {
  readonly state: Omit<RequestState, 'author' | 'appliedBy'>;
  readonly found: GatedEffect;
}

/**
 * Validates and plans the changes immediately: invalid ones are refused now. A person who sets a time needs the
 * permissions for the changes.
 */
async function planRequest(
  engine: RequestEngine,
  given: GivenRequest,
  set: UnattributedContext,
): Promise<PlannedRequest> {
  assertAhead(given, engine.now());
  const bytes = Buffer.byteLength(JSON.stringify(given.changes));
  if (bytes > LIMITS.documentBytes) {
    throw documentTooLarge(engine.registry, { kind: KIND, id: given.id }, { bytes });
  }
  const prepared = await prepareRequestedChanges(engine, given);
  const decided =
    given.at === null
      ? await engine.writer.plan(prepared, { actor: KIND })
      : await engine.plan(prepared, { ...set, authorize: authorizeAll(engine) });
  const found = await engine.gate.describe(decided);
  const { approval, effect } = found;
  const contents = given.ifUnchanged ? await hashContents(decided.unit, prepared) : undefined;
  const scope = await scopeOf(given.changes as readonly GivenChange[], prepared, {
    decided,
    registry: engine.registry,
  });
  const state = {
    v: 1,
    state: approval ? 'open' : 'approved',
    ...given,
    ...scope,
    environments: [...new Set([...scope.environments, ...(approval?.environments ?? [])])],
    required: approval?.required ?? 0,
    approvals: [],
    effect,
    bytes,
    endedAt: null,
    lateBy: null,
    changeSet: null,
    failure: null,
    ...(contents && { contents }),
  } as const;
  return { state, found };
}

/**
 * Prepares the changes of a request. New ids in them follow from the id of the request, so that they are fixed when the request is made.
 *
 * @param areAccepted whether the process that made the request has checked that its rollouts will go on
 */
export function prepareRequestedChanges<E extends SharedRequestEngine>(
  engine: E,
  { id, changes }: Pick<RequestState, 'id' | 'changes'>,
  areAccepted = false,
): Promise<readonly PreparedChange[]> {
  const options = { operations: engine.operations.inRequests, areAccepted };
  return prepareAll(withDerivedIds(engine, id, 'change request'), changes as readonly GivenChange[], options);
}

/** Returns the check of the engine's actor, which is also told the projects whose clients would see the changes. */
export function authorizeAll(
  engine: Pick<RequestEngine, 'authorize' | 'replica' | 'memory'>,
): AuthorizeChanges | undefined {
  const { authorize } = engine;
  return (
    authorize &&
    (async (planned) => authorize({ ...planned, projects: await projectsSeenIn(engine, planned.documents) }))
  );
}

/** Returns the projects whose clients would see planned changes, those of children and of users of a segment included. */
export async function projectsSeenIn(
  engine: Pick<RequestEngine, 'replica' | 'memory'>,
  documents: readonly PlannedDocument[],
): Promise<readonly string[]> {
  return [...new Set((await effectsOf(engine, documents)).map(({ project }) => project))];
}

interface Room {
  readonly author: ChangeAuthor;
  readonly bytes: number;
  /** The id of the request that this one replaces: it does not count. */
  readonly replaces: string | undefined;
}

async function assertRoom(engine: RequestEngine, { author, bytes, replaces }: Room): Promise<void> {
  let [count, own, total] = [1, 1, bytes];
  const now = engine.now();
  for await (const { summary } of listRequestSummaries(engine, OPEN)) {
    if (summary.id === replaces || rules.statusAt(summary, now) === 'expired') continue;
    count += 1;
    total += summary.bytes;
    if (isSamePerson(summary.author, author)) own += 1;
  }
  const { waitingRequests, waitingRequestsPerPerson, waitingRequestBytes } = LIMITS;
  const advice = 'Apply or withdraw some';
  if (own > waitingRequestsPerPerson) {
    throw full(
      `would be one too many: at most ${waitingRequestsPerPerson} change requests of one person wait. ${advice}`,
    );
  }
  if (count > waitingRequests || total > waitingRequestBytes) {
    throw full(
      `would be one too many: at most ${waitingRequests} change requests wait, with ${waitingRequestBytes} bytes of changes. ${advice}`,
    );
  }
}

function full(message: string): FlagsError {
  return invalidInput([{ message, path: '' }]) as FlagsError;
}

/** Resolves to a request. Rejects with `change_request_not_found`. */
export async function findRequest(read: Read, id: string): Promise<Versioned<RequestState>> {
  // UUIDs are stored in lower case.
  const found = await read(requestDocuments, typeof id === 'string' ? id.toLowerCase() : id);
  if (found) return found;
  throw changeRequestNotFound(id);
}

/** Returns the error for a request that does not exist, and for one that the caller may not read. */
export function changeRequestNotFound(id: string): FlagsError {
  const message = `There is no change request ${id}; list the change requests for existing ids.`;
  return new FlagsError('change_request_not_found', message);
}

export async function getChangeRequest(
  engine: SharedRequestEngine,
  { ref: { changeRequest: id } }: Pick<Call<ChangeRequestRef>, 'ref'>,
): Promise<ChangeRequest> {
  const found = await findRequest(engine.read, id);
  const now = engine.now();
  if (!isOpen(rules.statusAt(found.state, now))) return toRequest(found, now);
  const effect = await describeRequest(engine, found.state).catch(nullIfRefused);
  return toRequest(found, now, effect);
}

/**
 * Returns null if the changes were refused. Throws other errors again: a failure of the storage or the host says
 * nothing about the changes.
 */
export function nullIfRefused(error: unknown): null {
  if (refusalOf(error)) return null;
  throw error;
}

/**
 * Returns what a request would do now. Rejects if its changes would be refused. Does not check permissions, because a
 * reader need not be permitted to apply it.
 */
export async function describeRequest(engine: SharedRequestEngine, request: RequestState): Promise<GatedEffect> {
  const prepared = await prepareRequestedChanges(engine, request, true);
  return engine.gate.describe(await engine.writer.plan(prepared, { actor: KIND }));
}

/**
 * Returns a request with its present state.
 *
 * @param found what an open request would do now; null: its changes would be refused
 */
export function toRequest(
  { state: request, revision }: Versioned<RequestState>,
  now: Date,
  found?: GatedEffect | null,
): ChangeRequest {
  const listed = toListed(toSummary(request), revision, now);
  const changes = request.changes as ChangeRequest['changes'];
  if (!isOpen(listed.state) || found === undefined) {
    return { ...listed, changes, approval: null, effect: request.effect };
  }
  const { effect, approval } = found ?? { effect: null, approval: null };
  return {
    ...listed,
    changes,
    ...(found && { state: rules.isApproved(request.approvals, found) ? 'approved' : 'open' }),
    required: found ? (approval?.required ?? 0) : listed.required,
    approvals: approvalsOf(request.approvals, effect),
    approval,
    effect,
  };
}

function approvalsOf(approvals: readonly StoredApproval[], effect: string | null): ChangeRequest['approvals'] {
  return approvals.map((one) => ({ actor: one.actor, at: one.at, reason: one.reason, current: one.effect === effect }));
}

export function toListed(
  { bytes: _bytes, effect, ...summary }: RequestSummary,
  revision: number,
  now: Date,
): ListedChangeRequest {
  const state = rules.statusAt(summary, now);
  // The request has expired, but no process has recorded that yet.
  const endedAt = state === 'expired' ? (summary.notAfter ?? summary.expiresAt) : summary.endedAt;
  return { ...summary, state, endedAt, approvals: approvalsOf(summary.approvals, effect), revision };
}

/** Decides whether the caller may read a request. */
export type CanReadRequest = (request: ListedChangeRequest) => Promise<boolean>;

export function listChangeRequests(
  engine: SharedRequestEngine,
  {
    input: query,
    context: page,
    canRead,
  }: Omit<Call<undefined, ChangeRequestQuery, PageQuery | undefined>, 'ref'> & { readonly canRead?: CanReadRequest },
): Promise<ListPage<ListedChangeRequest>> {
  const bounds = pageBounds(page);
  return takePage(select(engine, query, { after: bounds.after, canRead }), bounds, {
    cursorOf: ({ id }) => id,
    sizeOf: (request) => JSON.stringify(request).length,
  });
}

async function* select(
  engine: SharedRequestEngine,
  { state, project, flag }: ChangeRequestQuery,
  { after, canRead }: { readonly after: string | undefined; readonly canRead: CanReadRequest | undefined },
): AsyncGenerator<ListedChangeRequest> {
  // An expired request is listed among the open ones until a process records its end.
  const parent = state === undefined || state === 'expired' ? undefined : isOpen(state) ? OPEN : ENDED;
  const stored = engine.memory.statesOf(flagDocuments);
  const now = engine.now();
  for await (const { summary, revision } of listRequestSummaries(engine, parent, after)) {
    const listed = toListed(summary, revision, now);
    if (state !== undefined && listed.state !== state) continue;
    if (flag !== undefined && !summary.flags.some((one) => one.flag === flag)) continue;
    const isIn = (one: string) =>
      summary.projects.includes(one) || summary.flags.some((of) => stored.get(of.flag)?.project === one);
    if (project !== undefined && !isIn(project)) continue;
    if (!canRead || (await canRead(listed))) yield listed;
  }
}

/** Reads the summaries of requests by id, never their changes. */
export function listRequestSummaries(
  reader: Pick<DocumentReader, 'list'>,
  parent?: typeof OPEN | typeof ENDED,
  after?: string,
): AsyncGenerator<StoredSummary<RequestSummary>> {
  return listSummaries(reader, { kind: KIND, parent, after });
}
