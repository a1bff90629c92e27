import type { DomainEvent } from '../../base/domain-event.js';
import { FlagsError, type Refusal } from '../../base/errors.js';
import { invalidInput } from '../../base/validator.js';
import type { ChangeAuthor, RecordedChange } from '../../kernel/change.js';
import type { GatedEffect } from '../../kernel/changes/change-set.types.js';
import { assertPerson, isSamePerson } from '../tokens/people.js';
import {
  type ChangeRequestStatus,
  FLAGS_IN_EVENTS,
  isOpen,
  type OpenStatus,
  type RequestState,
  type RequestSummary,
  type RequestTimes,
  type StoredApproval,
} from './change-request.js';
import type { RequestDecision, RequestEvent } from './change-request.kind.js';

/** A request after a decision, with the event of the decision. */
export type DecidedRequest = RecordedChange<RequestState, RequestEvent & DomainEvent>;

/** Throws `id_taken` unless the request with this id has the same author, changes, times and options. */
export function assertRepeated(existing: RequestState, { author, hash }: Pick<RequestState, 'author' | 'hash'>): void {
  if (existing.hash === hash && isSamePerson(existing.author, author)) return;
  const message = `The id ${existing.id} belongs to a change request of another author, or with other changes, times or options. Choose a new id.`;
  throw new FlagsError('id_taken', message);
}

export function create(request: RequestState): DecidedRequest {
  const data = tell(request, request.state as OpenStatus);
  return { next: request, event: { type: 'change-request-created', data, before: null } };
}

/** Returns when an open request expires, in milliseconds since 1970. */
export function endsAt({ at, notAfter, expiresAt }: RequestTimes): number {
  // The last millisecond of `notAfter` still counts, as its name says.
  return at === null ? Date.parse(expiresAt ?? '') : Date.parse(notAfter ?? '') + 1;
}

/** Returns the state for readers: `expired` from the time on that ends the request. */
export function statusAt(request: Pick<RequestSummary, 'state'> & RequestTimes, now: Date): ChangeRequestStatus {
  return isOpen(request.state) && endsAt(request) <= now.getTime() ? 'expired' : request.state;
}

/** Throws `change_request_not_open` for a request that has ended. */
export function assertOpen(request: Pick<RequestSummary, 'id' | 'state'> & RequestTimes, now: Date): void {
  const state = statusAt(request, now);
  if (isOpen(state)) return;
  const advice = state === 'applied' ? 'undo its change set instead' : 'make a new one';
  const message = `The change request ${request.id} is ${state}, so it cannot be changed; ${advice}.`;
  throw new FlagsError('change_request_not_open', message);
}

/** Whether enough people have approved what a request would do now. */
export function isApproved(approvals: readonly StoredApproval[], { effect, approval }: GatedEffect): boolean {
  return countCurrent(approvals, effect) >= (approval?.required ?? 0);
}

function countCurrent(approvals: readonly StoredApproval[], effect: string): number {
  return approvals.filter((one) => one.effect === effect).length;
}

/** Returns a message if too few people have approved what the request would do now; undefined if enough have. */
export function lackOfApproval({ id, approvals }: RequestState, found: GatedEffect): string | undefined {
  const { effect, approval } = found;
  if (!approval || isApproved(approvals, found)) return undefined;
  const { required, environments } = approval;
  const current = countCurrent(approvals, effect);
  const count = `${required} ${required === 1 ? 'approval' : 'approvals'} in ${environments.join(', ')}`;
  const has = current === approvals.length ? `has ${current}` : `has ${current} of what it would do now`;
  return `The change request ${id} needs ${count}, and ${has}; ask for approval.`;
}

/** A person's approval. */
interface NewApproval extends Omit<StoredApproval, 'effect'> {
  /** The effect that the person has seen. */
  readonly effect: string;
  /** What the request would do now. */
  readonly found: GatedEffect;
}

/**
 * Adds an approval. Undefined if that changes nothing: no approval is needed, or the person has approved this effect
 * before.
 */
export function approve(request: RequestState, given: NewApproval, now: Date): DecidedRequest | undefined {
  const { actor, at, reason, effect, found } = given;
  assertOpen(request, now);
  assertPerson(actor, 'approve change requests');
  assertNotAuthor(request, actor, 'approve');
  if (effect !== found.effect) {
    const message = `The change request ${request.id} would now do something else than what was seen: its effect is ${found.effect}. Read it again, and approve that.`;
    throw new FlagsError('effect_changed', message, [{ message, path: '/effect' }]);
  }
  const isOwn = (one: StoredApproval) => isSamePerson(one.actor, actor);
  if (!found.approval || request.approvals.some((one) => isOwn(one) && one.effect === effect)) return undefined;
  const approvals = [...request.approvals.filter((one) => !isOwn(one)), { actor, at, reason, effect }];
  return decide(request, 'approved', { ...decidedOn(approvals, found), approvals });
}

/** Sets or replaces the time. Undefined if the same person has set the same time before. */
export function schedule(
  request: RequestState,
  { times, by, found }: { readonly times: RequestTimes; readonly by: ChangeAuthor; readonly found: GatedEffect },
  now: Date,
): DecidedRequest | undefined {
  assertOpen(request, now);
  const { expiresAt, appliedBy } = request;
  if (expiresAt !== null && Date.parse(times.at ?? '') > Date.parse(expiresAt)) {
    throw invalidInput([{ message: `must not be after ${expiresAt}, when the request expires`, path: '/at' }]);
  }
  const isSame = request.at === times.at && request.notAfter === times.notAfter;
  if (isSame && appliedBy && isSamePerson(appliedBy, by)) return undefined;
  const { at, notAfter } = times;
  return decide(request, 'scheduled', {
    ...decidedOn(request.approvals, found),
    at,
    notAfter,
    expiresAt: null,
    appliedBy: by,
  });
}

function decidedOn(approvals: readonly StoredApproval[], found: GatedEffect) {
  const state: OpenStatus = isApproved(approvals, found) ? 'approved' : 'open';
  return { state, required: found.approval?.required ?? 0, effect: found.effect };
}

/** Ends a request. Only a person who is not its author may reject it. */
export function reject(request: RequestState, actor: ChangeAuthor, at: Date): DecidedRequest {
  assertOpen(request, at);
  assertPerson(actor, 'reject change requests');
  assertNotAuthor(request, actor, 'reject');
  return end(request, 'rejected', { endedAt: at.toISOString() });
}

export function withdraw(request: RequestState, at: Date): DecidedRequest {
  assertOpen(request, at);
  return end(request, 'withdrawn', { endedAt: at.toISOString() });
}

function assertNotAuthor({ id, author }: RequestState, actor: ChangeAuthor, what: string): void {
  if (!isSamePerson(author, actor)) return;
  const message = `${actor.name} made the change request ${id}, so somebody else must ${what} it.`;
  throw new FlagsError('own_change_request', message);
}

interface Application {
  /** null if nothing was left to change. */
  readonly changeSet: string | null;
  /** When the set is committed: ISO 8601. */
  readonly endedAt: string;
  readonly by: ChangeAuthor;
}

export function apply(request: RequestState, { changeSet, endedAt, by }: Application, now: Date): DecidedRequest {
  assertOpen(request, now);
  const lateBy = request.at === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(request.at));
  return end({ ...request, appliedBy: by }, 'applied', { endedAt, changeSet, lateBy });
}

export function fail(request: RequestState, failure: Refusal, at: Date): DecidedRequest {
  return end(request, 'failed', { endedAt: at.toISOString(), failure });
}

/** Records that a request has expired. Undefined if it has not, or if it has ended already. */
export function expire(request: RequestState, now: Date): DecidedRequest | undefined {
  if (!isOpen(request.state) || statusAt(request, now) !== 'expired') return undefined;
  return end(request, 'expired', { endedAt: request.notAfter ?? request.expiresAt });
}

function decide(
  request: RequestState,
  decision: RequestDecision,
  changed: Partial<RequestState> & { readonly state: OpenStatus },
): DecidedRequest {
  const next = { ...request, ...changed };
  const data = { ...tell(next, changed.state), decision };
  return { next, event: { type: 'change-request-decided', data, before: stateBefore(request) } };
}

function end(
  request: RequestState,
  state: Exclude<ChangeRequestStatus, OpenStatus>,
  ended: Partial<Pick<RequestState, 'endedAt' | 'changeSet' | 'lateBy' | 'failure'>>,
): DecidedRequest {
  const next = { ...request, state, ...ended };
  const { endedAt, changeSet, lateBy, failure } = next;
  const data = { ...tell(next, state), endedAt, changeSet, lateBy, failure };
  return { next, event: { type: 'change-request-ended', data, before: stateBefore(request) } };
}

function stateBefore({ id, state, at }: RequestState) {
  return { id, state: state as OpenStatus, at };
}

/** Returns the data of an event. An event names one project, so several projects are part of its data. */
function tell<State extends ChangeRequestStatus>(request: RequestState, state: State) {
  const { id, author, changes, flags, environments, at, projects } = request;
  const ops = [...new Set(changes.map((change) => `${Object(change).op}`))].slice(0, FLAGS_IN_EVENTS);
  const about = { flags: flags.slice(0, FLAGS_IN_EVENTS), flagCount: flags.length, environments };
  return { id, state, author: author.name, ops, ...about, at, ...(projects.length > 1 && { projects }) };
}
