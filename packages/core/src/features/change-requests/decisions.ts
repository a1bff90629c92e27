import type { SetApproval, UnattributedContext } from '../../kernel/changes/change-engine.js';
import type { GatedEffect } from '../../kernel/changes/change-set.types.js';
import { assertRevision } from '../../kernel/changes/refusals.js';
import { ChangesHash } from '../../kernel/changes/repetition.js';
import { cannotBeRepeated, refuseBypass, toContext } from '../../kernel/changes/run-operation.js';
import type { ChangeSetUnit } from '../../kernel/changes/unit-of-work.js';
import { assertDueRuns } from '../../kernel/due/runner.js';
import { authorOf, type ChangeAuthor, type PreparedChange } from '../../kernel/engine.js';
import type { Call } from '../../kernel/operation.js';
import * as rules from './change-request.decide.js';
import type { ChangeRequestApproval, ChangeRequestTime, RequestState } from './change-request.js';
import { requestDocuments } from './change-request.kind.js';
import { assertAhead, readTimes } from './change-request.schema.js';
import type { ApplyContext, ChangeRequest, ChangeRequestRef, DecisionContext } from './change-request.types.js';
import type { RequestEngine } from './request-engine.js';
import {
  authorizeAll,
  describeRequest,
  findRequest,
  getChangeRequest,
  prepareRequestedChanges,
  toRequest,
} from './requests.js';
import { assertUnchanged } from './scope.js';

const { kind: KIND } = requestDocuments;

type Decide<Input = unknown> = Call<ChangeRequestRef, Input, DecisionContext | undefined>;

export async function approveChangeRequest(
  engine: RequestEngine,
  { ref: { changeRequest: id }, input: { effect }, context = {} }: Decide<ChangeRequestApproval>,
): Promise<ChangeRequest> {
  const { state } = await findRequest(engine.read, id);
  rules.assertOpen(state, engine.now());
  const found = await describeRequest(engine, state);
  const { reason = null } = context;
  const decide = (request: RequestState, actor: ChangeAuthor) => {
    const now = engine.now();
    return rules.approve(request, { actor, at: now.toISOString(), reason, effect, found }, now);
  };
  return decideOn(engine, id, { op: 'approveChangeRequest', decide, context, found });
}

export function rejectChangeRequest(
  engine: RequestEngine,
  { ref: { changeRequest: id }, context }: Decide,
): Promise<ChangeRequest> {
  const decide = (request: RequestState, actor: ChangeAuthor) => rules.reject(request, actor, engine.now());
  return decideOn(engine, id, { op: 'rejectChangeRequest', decide, context });
}

export function withdrawChangeRequest(
  engine: RequestEngine,
  { ref: { changeRequest: id }, context }: Decide,
): Promise<ChangeRequest> {
  const decide = (request: RequestState) => rules.withdraw(request, engine.now());
  return decideOn(engine, id, { op: 'withdrawChangeRequest', decide, context });
}

interface Decision {
  readonly op: string;
  /** Undefined: there is nothing to do. */
  readonly decide: (request: RequestState, actor: ChangeAuthor) => rules.DecidedRequest | undefined;
  readonly context: ApplyContext | undefined;
  /** The context of the change set, if the call can be repeated by its id. Default: the context of the call. */
  readonly set?: UnattributedContext;
  /** What the request would do now. */
  readonly found?: GatedEffect;
}

async function decideOn(
  engine: RequestEngine,
  id: string,
  { op, decide, context = {}, set, found }: Decision,
): Promise<ChangeRequest> {
  refuseBypass(context);
  if (context.id !== undefined && !set) throw cannotBeRepeated(op);
  const change: PreparedChange = {
    subject: { kind: KIND, id },
    op,
    ifRevision: context.ifRevision,
    async decide(unit, by) {
      const { state } = await findRequest(unit.read, id);
      const decided = decide(state, authorOf(by));
      if (decided) await unit.record(requestDocuments, id, decided);
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], set ?? toContext(context, undefined));
  const decided = await findRequest(documents.read, id);
  engine.dueRequests.reschedule(decided.state);
  return toRequest(decided, engine.now(), found);
}

export async function applyChangeRequest(
  engine: RequestEngine,
  { ref, input: { at, notAfter }, context = {} }: Call<ChangeRequestRef, ChangeRequestTime, ApplyContext | undefined>,
): Promise<ChangeRequest> {
  refuseBypass(context);
  const { changeRequest: id } = ref;
  readTimes({ at, notAfter }, engine.now());
  const hash = context.id === undefined ? undefined : new ChangesHash(engine);
  hash?.addValue(['applyChangeRequest', id, at ?? null, notAfter ?? null]);
  const { state } = await findRequest(engine.read, id);
  const set = toContext(context, hash);
  if (await engine.isCommitted(set)) return getChangeRequest(engine, { ref });
  rules.assertOpen(state, engine.now());
  if (at !== undefined) return applyAt(engine, state, { time: { at, notAfter }, context, set });
  return applyNow(engine, state, set, context);
}

/** Applies a request, and ends it, in one commit. A refusal leaves it as it is. */
async function applyNow(
  engine: RequestEngine,
  request: RequestState,
  set: UnattributedContext,
  { ifRevision }: ApplyContext,
): Promise<ChangeRequest> {
  const { id, reason } = request;
  const { documents = engine } = await engine.run(await prepareRequestedChanges(engine, request), {
    ...(reason !== null && { reason }),
    ...set,
    origin: originOf(id),
    authorize: authorizeAll(engine),
    async finishSet(unit, by, identity) {
      if (ifRevision !== undefined) await assertRevision(unit, { subject: { kind: KIND, id } }, ifRevision);
      return finishRequest(unit, id, { ...identity, by: authorOf(by), now: engine.now() });
    },
  });
  const applied = await findRequest(documents.read, id);
  engine.dueRequests.reschedule(applied.state);
  return toRequest(applied, engine.now());
}

interface Finished {
  /** The set that applies the request. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly by: ChangeAuthor;
  readonly now: Date;
}

/** Ends a request in the same commit as its changes. Returns whether the set has the approvals that it needs. */
export async function finishRequest(
  unit: ChangeSetUnit,
  id: string,
  { id: changeSet, at: endedAt, by, now }: Finished,
): Promise<SetApproval> {
  const { state } = await findRequest(unit.read, id);
  if (state.contents) await assertUnchanged(unit, state.contents);
  const effective = unit.events.length > 0 ? changeSet : null;
  const applied = rules.apply(state, { changeSet: effective, endedAt, by }, now);
  await unit.record(requestDocuments, id, { ...applied, op: 'applyChangeRequest' });
  return (found) => rules.lackOfApproval(state, found);
}

export function originOf(id: string): string {
  return `${KIND}/${id}`;
}

interface Later {
  readonly time: ChangeRequestTime;
  readonly context: ApplyContext;
  readonly set: UnattributedContext;
}

/** Sets the time of a request. The person who sets it needs the permissions for the changes. */
async function applyAt(
  engine: RequestEngine,
  request: RequestState,
  { time, context, set }: Later,
): Promise<ChangeRequest> {
  assertDueRuns(engine);
  const times = readTimes(time, engine.now());
  assertAhead(times, engine.now());
  const prepared = await prepareRequestedChanges(engine, request);
  const found = await engine.gate.describe(await engine.plan(prepared, { ...set, authorize: authorizeAll(engine) }));
  const decide = (stored: RequestState, by: ChangeAuthor) => rules.schedule(stored, { times, by, found }, engine.now());
  return decideOn(engine, request.id, { op: 'applyChangeRequest', decide, context, set, found });
}
