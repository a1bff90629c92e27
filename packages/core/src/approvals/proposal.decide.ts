import { FlagsError } from '../errors.js';
import type { ChangeAuthor, ScheduleEnd } from '../schedules/schedule.js';
import { assertPerson, isSamePerson } from './people.js';
import {
  isOpen,
  type NeededApproval,
  type OpenStatus,
  type ProposalEvent,
  type ProposalState,
  type ProposalStatus,
  type StoredApproval,
} from './proposal.js';

/** A proposal after a decision, with the event of the decision. */
export interface Decided {
  readonly next: ProposalState;
  readonly event: ProposalEvent;
}

/** A repeated id of the same author returns the proposal as it is. Throws `id_taken` for another one. */
export function assertRepeated(
  existing: ProposalState,
  { author, hash }: Pick<ProposalState, 'author' | 'hash'>,
): void {
  if (existing.hash === hash && isSamePerson(existing.author, author)) return;
  const message = `The id ${existing.id} belongs to a proposal of another author, or with other changes. Choose a new id.`;
  throw new FlagsError('id_taken', message);
}

export function createdEvent(proposal: ProposalState): ProposalEvent {
  const { id, state } = proposal;
  const data = { id, state: state as OpenStatus, ...spannedBy(proposal) };
  return { type: 'proposal-created', data, before: null };
}

/** The project of an event has no room for several. */
function spannedBy({ projects }: ProposalState): Partial<Pick<ProposalState, 'projects'>> {
  return projects.length > 1 ? { projects } : {};
}

/** Returns the state for readers: `lapsed` from the time on at which the proposal lapses. */
export function stateAt({ state, expiresAt }: Pick<ProposalState, 'state' | 'expiresAt'>, now: Date): ProposalStatus {
  return isOpen(state) && Date.parse(expiresAt) <= now.getTime() ? 'lapsed' : state;
}

/** Throws `proposal_lapsed` or `proposal_not_open` for a proposal that has ended. */
export function assertNotEnded(proposal: ProposalState, now: Date): void {
  const state = stateAt(proposal, now);
  if (isOpen(state)) return;
  const { id, expiresAt } = proposal;
  if (state === 'lapsed') {
    const why = isOpen(proposal.state) ? `was open until ${expiresAt}` : 'failed or expired at its time';
    throw new FlagsError('proposal_lapsed', `The proposal ${id} ${why}, so it has lapsed; make it again.`);
  }
  const advice = state === 'applied' ? 'undo its change set instead' : 'make a new one';
  throw new FlagsError('proposal_not_open', `The proposal ${id} is ${state}, so it cannot be changed; ${advice}.`);
}

/** A person's approval of what a proposal would do now. */
interface NewApproval extends Pick<StoredApproval, 'at' | 'reason'> {
  readonly actor: ChangeAuthor;
  /** Undefined: it needs no approval. */
  readonly needed: NeededApproval | undefined;
}

/** Undefined if the person has approved the same before. Throws `forbidden` for tokens, and `own_proposal`. */
export function approve(
  proposal: ProposalState,
  { actor, at, reason, needed }: NewApproval,
  now: Date,
): Decided | undefined {
  assertNotEnded(proposal, now);
  assertPerson(actor, 'approve proposals');
  if (isSamePerson(proposal.author, actor)) {
    throw new FlagsError(
      'own_proposal',
      `${actor.name} made the proposal ${proposal.id}, so somebody else must approve it.`,
    );
  }
  const digest = needed?.digest ?? null;
  const isOwn = (one: StoredApproval) => isSamePerson(one.actor, actor);
  if (proposal.approvals.some((one) => isOwn(one) && one.digest === digest)) return undefined;
  const approvals = [...proposal.approvals.filter((one) => !isOwn(one)), { actor, at, reason, digest }];
  const { required = 0, environments = [], projects = [] } = needed ?? {};
  const isEnough = countCurrent(approvals, digest) >= required;
  const state = proposal.state === 'scheduled' ? proposal.state : isEnough ? 'approved' : 'open';
  return decide(proposal, {
    state,
    approvals,
    required,
    environments: [...new Set([...proposal.environments, ...environments])],
    projects: [...new Set([...proposal.projects, ...projects])],
  });
}

/** Ends a proposal by a person. Undefined if the person's decision is made already. */
export function close(proposal: ProposalState, state: 'rejected' | 'withdrawn', at: Date): Decided | undefined {
  if (proposal.state === state) return undefined;
  assertNotEnded(proposal, at);
  return end(proposal, state, { endedAt: at.toISOString(), changeSet: null });
}

/** Throws unless the proposal may be applied now: it has not ended, and no schedule will apply it. */
export function assertApplicable(proposal: ProposalState, now: Date): void {
  assertNotEnded(proposal, now);
  if (proposal.state !== 'scheduled') return;
  const message = `The proposal ${proposal.id} is scheduled; cancel the schedule ${proposal.schedule} first.`;
  throw new FlagsError('proposal_not_open', message);
}

export function applied(proposal: ProposalState, changeSet: string | null, endedAt: string): Decided {
  return end(proposal, 'applied', { endedAt, changeSet });
}

export function scheduled(proposal: ProposalState, schedule: string): Decided {
  return decide(proposal, { state: 'scheduled', schedule });
}

/** What becomes of a proposal when its schedule ends. */
export function afterSchedule(proposal: ProposalState, { state, endedAt, changeSet = null }: ScheduleEnd): Decided {
  if (state === 'applied') return applied(proposal, changeSet, endedAt);
  if (state === 'cancelled') return decide(proposal, { state: 'approved' });
  return end(proposal, 'lapsed', { endedAt, changeSet: null });
}

/** Whether a proposal has lapsed, and its end is to be recorded. */
export function isOverdue(proposal: Pick<ProposalState, 'state' | 'expiresAt'>, now: Date): boolean {
  // The schedule of a proposal ends before the proposal lapses.
  return proposal.state !== 'scheduled' && isOpen(proposal.state) && stateAt(proposal, now) === 'lapsed';
}

/** Undefined if another process has recorded the end. */
export function lapse(proposal: ProposalState, now: Date): Decided | undefined {
  if (!isOverdue(proposal, now)) return undefined;
  return end(proposal, 'lapsed', { endedAt: proposal.expiresAt, changeSet: null });
}

function decide(proposal: ProposalState, changed: Partial<ProposalState> & { readonly state: OpenStatus }): Decided {
  const next = { ...proposal, ...changed };
  const { id, state } = proposal;
  const data = { id, state: changed.state, ...spannedBy(next) };
  return { next, event: { type: 'proposal-decided', data, before: { id, state: state as OpenStatus } } };
}

function end(
  proposal: ProposalState,
  state: Exclude<ProposalStatus, OpenStatus>,
  ending: Pick<ProposalState, 'changeSet'> & { readonly endedAt: string },
): Decided {
  const before = { id: proposal.id, state: proposal.state as OpenStatus };
  const data = { id: proposal.id, state, ...spannedBy(proposal), ...ending };
  return { next: { ...proposal, state, ...ending }, event: { type: 'proposal-ended', data, before } };
}

function countCurrent(approvals: readonly StoredApproval[], digest: string | null): number {
  return approvals.filter((one) => one.digest === digest).length;
}

/** Returns the approval of a proposal, for the gate. It throws `approval_required` or `proposal_lapsed`. */
export function approvalOf({ id, approvals }: ProposalState): (needed: NeededApproval) => boolean {
  return ({ required, digest }) => {
    const current = countCurrent(approvals, digest);
    if (current >= required) return true;
    const count = `${required} ${required === 1 ? 'approval' : 'approvals'}`;
    if (approvals.length === current) {
      throw new FlagsError('approval_required', `The proposal ${id} needs ${count}, and has ${current}.`);
    }
    const message = `The proposal ${id} would now do something else than what was approved, so its approvals have lapsed. It needs ${count} of what it would do now.`;
    throw new FlagsError('proposal_lapsed', message);
  };
}
