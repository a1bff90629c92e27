import type { ChangeContext } from '../base/common.types.js';
import { invalidInput } from '../base/validator.js';
import type { ProposableChange } from '../changesets/change-sets.operations.js';
import type { ChangeEngine, SetApproval, SetContext } from '../changesets/engine.js';
import { assertRevision } from '../changesets/refusals.js';
import { ChangesHash } from '../changesets/repetition.js';
import { cannotBeRepeated, toContext } from '../changesets/run-operation.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import { authorOf, type PreparedChange, type UnitOfWork } from '../engine/engine.js';
import { cancelSchedule } from '../schedules/schedule.decide.js';
import type { ChangeAuthor } from '../schedules/schedule.js';
import { scheduleDocuments } from '../schedules/schedule.kind.js';
import { addSchedule } from '../schedules/schedules.operations.js';
import type { ApplyProposalOptions, DecisionContext, Proposal, ProposalRef } from './approval.types.js';
import { assertPerson } from './people.js';
import * as rules from './proposal.decide.js';
import type { NeededApproval, ProposalState } from './proposal.js';
import { proposalDocuments } from './proposal.kind.js';
import { validateApplyOptions } from './proposal.schema.js';
import { findNeeded, findProposal, getProposal, prepareProposed, toProposal } from './proposals.operations.js';

const { kind: KIND } = proposalDocuments;

export async function approveProposal(
  engine: ChangeEngine,
  ref: ProposalRef,
  context: DecisionContext = {},
): Promise<Proposal> {
  const { state } = await findProposal(engine.read, ref.proposal);
  rules.assertNotEnded(state, engine.now());
  const needed = await findNeeded(engine, state);
  const { reason = null } = context;
  const now = engine.now();
  const decide = (proposal: ProposalState, actor: ChangeAuthor) =>
    rules.approve(proposal, { actor, at: now.toISOString(), reason, needed }, now);
  return decideOn(engine, ref, { op: 'approveProposal', decide, context, needed });
}

export function rejectProposal(engine: ChangeEngine, ref: ProposalRef, context?: DecisionContext): Promise<Proposal> {
  const decide = (proposal: ProposalState, actor: ChangeAuthor) => {
    assertPerson(actor, 'reject proposals');
    return rules.close(proposal, 'rejected', engine.now());
  };
  return decideOn(engine, ref, { op: 'rejectProposal', decide, context });
}

export function withdrawProposal(engine: ChangeEngine, ref: ProposalRef, context?: DecisionContext): Promise<Proposal> {
  const decide = (proposal: ProposalState) => rules.close(proposal, 'withdrawn', engine.now());
  return decideOn(engine, ref, { op: 'withdrawProposal', decide, context });
}

interface Decision {
  readonly op: string;
  /** Undefined: there is nothing to do. */
  readonly decide: (proposal: ProposalState, actor: ChangeAuthor) => rules.Decided | undefined;
  readonly context: DecisionContext | undefined;
  /** What the proposal would need now. */
  readonly needed?: NeededApproval | undefined;
}

async function decideOn(
  engine: ChangeEngine,
  { proposal: id }: ProposalRef,
  { op, decide, context = {}, needed }: Decision,
): Promise<Proposal> {
  if ('id' in context && context.id !== undefined) throw cannotBeRepeated(op);
  const change: PreparedChange = {
    subject: { kind: KIND, id },
    op,
    ifRevision: context.ifRevision,
    async decide(unit, by) {
      const { state } = await findProposal(unit.read, id);
      const decided = decide(state, authorOf(by));
      if (!decided) return;
      await write(unit, decided);
      if (decided.event.type === 'proposal-ended') await cancelScheduleOf(unit, state, engine.now());
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], toContext(context, undefined));
  return toProposal(await findProposal(documents.read, id), engine.now(), needed);
}

/** The event does not have all of a proposal, so the document is put before it. */
export async function write(unit: UnitOfWork, { next, event }: rules.Decided): Promise<void> {
  await unit.put(proposalDocuments, next.id, next);
  await unit.apply(proposalDocuments, next.id, [event]);
}

async function cancelScheduleOf(unit: UnitOfWork, { state, schedule }: ProposalState, now: Date): Promise<void> {
  if (state !== 'scheduled' || schedule === null) return;
  const found = await unit.read(scheduleDocuments, schedule);
  if (found) await unit.apply(scheduleDocuments, schedule, cancelSchedule(found.state, now.toISOString()));
}

export async function applyProposal(
  engine: ChangeEngine,
  { proposal: id }: ProposalRef,
  options: ApplyProposalOptions = {},
  context: Omit<ChangeContext, 'bypassApproval'> = {},
): Promise<Proposal> {
  const { at, notAfter } = validateApplyOptions(options);
  if (at === undefined && notAfter !== undefined) {
    throw invalidInput([{ message: 'needs a time, at, as well', path: '/notAfter' }]);
  }
  const { state } = await findProposal(engine.read, id);
  return at === undefined ? applyNow(engine, state, context) : applyAt(engine, state, { at, notAfter, context });
}

/** Applies a proposal, and ends it, in one commit. */
async function applyNow(engine: ChangeEngine, proposal: ProposalState, by: ChangeContext): Promise<Proposal> {
  const { id, reason } = proposal;
  // Before its changes are decided, which may be impossible by now. A repeated request finds an applied one.
  if (proposal.state !== 'applied') rules.assertNotEnded(proposal, engine.now());
  let approval: SetApproval = () => false;
  // Members by name: a proposal cannot be applied with a bypass.
  const named = { ...(by.actor !== undefined && { actor: by.actor }), reason: by.reason ?? reason };
  const hash = hashOfApplication(id, by);
  const attributed = toContext({ ...named, id: by.id }, hash);
  const applying = {
    approval: (needed) => approval(needed),
    async conclude(unit, set) {
      const state = await findApplicable(engine, unit, { id, context: by });
      approval = rules.approvalOf(state);
      unit.begin({ op: 'applyProposal' });
      const hasEffect = unit.events.length > 0;
      await write(unit, rules.applied(state, hasEffect ? set.id : null, set.at));
    },
  } satisfies Pick<SetContext, 'approval' | 'conclude'>;
  const changes = await prepareProposed(engine, proposal);
  const context = { ...attributed, origin: `${KIND}/${id}`, ...applying };
  const { documents = engine } = await engine.run(changes, context);
  return toProposal(await findProposal(documents.read, id), engine.now());
}

function hashOfApplication(id: string, context: ChangeContext): ChangesHash | undefined {
  if (context.id === undefined) return undefined;
  const hash = new ChangesHash();
  hash.addValue(['applyProposal', id]);
  return hash;
}

async function findApplicable(
  { now }: Pick<ChangeEngine, 'now'>,
  unit: ChangeSetUnit,
  { id, context: { ifRevision } }: { readonly id: string; readonly context: ChangeContext },
): Promise<ProposalState> {
  if (ifRevision !== undefined) await assertRevision(unit, { subject: { kind: KIND, id } }, ifRevision);
  const { state } = await findProposal(unit.read, id);
  rules.assertApplicable(state, now());
  return state;
}

interface Later {
  readonly at: string;
  readonly notAfter: string | undefined;
  readonly context: ChangeContext;
}

/** Makes the schedule that will apply a proposal. */
async function applyAt(
  engine: ChangeEngine,
  proposal: ProposalState,
  { at, notAfter, context: { id: schedule, actor, reason, ifRevision } }: Later,
): Promise<Proposal> {
  const { id, changes, expiresAt } = proposal;
  const isRepeated = schedule !== undefined && proposal.schedule === schedule.toLowerCase();
  if (!isRepeated) rules.assertApplicable(proposal, engine.now());
  if (Date.parse(at) > Date.parse(expiresAt)) {
    throw invalidInput([{ message: `must not be after ${expiresAt}, when the proposal lapses`, path: '/at' }]);
  }
  const options = { at, notAfter, id: schedule, actor, reason: reason ?? proposal.reason };
  let needed: NeededApproval | undefined;
  const { documents } = await addSchedule(engine, changes as readonly ProposableChange[], options, {
    id,
    approval(found) {
      needed = found;
      return rules.approvalOf(proposal)(found);
    },
    expected: { revisionOf: { kind: KIND, id }, ifRevision },
    async schedule(unit, made) {
      const { state } = await findProposal(unit.read, id);
      rules.assertApplicable(state, engine.now());
      await write(unit, rules.scheduled(state, made));
    },
  });
  if (isRepeated) return getProposal(engine, { proposal: id });
  return toProposal(await findProposal(documents.read, id), engine.now(), needed);
}
