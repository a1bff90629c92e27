import { v7 as timeOrderedId } from 'uuid';
import type { ListPage, PageQuery } from '../base/common.types.js';
import { LIMITS } from '../base/limits.js';
import { pageBounds, takePage } from '../base/pages.js';
import { invalidInput } from '../base/validator.js';
import type { ProposableChange } from '../changesets/change-sets.operations.js';
import { prepareAll } from '../changesets/change-sets.operations.js';
import type { ChangeEngine, SharedEngine } from '../changesets/engine.js';
import { PROPOSAL_OPERATIONS } from '../changesets/operations.js';
import { documentTooLarge } from '../changesets/refusals.js';
import { hashOf, readChangeSetId, withDerivedIds } from '../changesets/repetition.js';
import { toContext } from '../changesets/run-operation.js';
import { authorOf, type PreparedChange } from '../engine/engine.js';
import { FlagsError, isFlagsError } from '../errors.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { copyChanges } from '../schedules/schedules.operations.js';
import { scopeOf } from '../schedules/scope.js';
import type { DocumentReader, Read, Versioned } from '../storage/documents.js';
import { listSummaries, type StoredSummary } from '../storage/summaries.js';
import type {
  ListedProposal,
  NewProposal,
  Proposal,
  ProposalOptions,
  ProposalQuery,
  ProposalRef,
} from './approval.types.js';
import * as rules from './proposal.decide.js';
import {
  isOpen,
  type NeededApproval,
  type ProposalState,
  type ProposalSummary,
  type StoredApproval,
} from './proposal.js';
import { ENDED, OPEN, proposalDocuments } from './proposal.kind.js';
import { readProposalOptions, validateProposalQuery } from './proposal.schema.js';

const { kind: KIND } = proposalDocuments;

export async function createProposal(
  engine: ChangeEngine,
  proposal: NewProposal<string>,
  options: ProposalOptions,
): Promise<Proposal> {
  const given = readProposal(engine, proposal, options);
  const { actor, reason } = options;
  const context = toContext({ actor, reason }, undefined);
  const isRepeated = options.id !== undefined && (await engine.read(proposalDocuments, given.id)) !== undefined;
  const planned = isRepeated ? undefined : await planProposal(engine, given);
  const change: PreparedChange = {
    subject: { kind: KIND, id: given.id },
    op: 'createProposal',
    async decide(unit, by) {
      const author = authorOf(by);
      const existing = await unit.read(proposalDocuments, given.id);
      if (existing) return rules.assertRepeated(existing.state, { ...given, author });
      if (!planned) throw proposalNotFound(given.id);
      const created: ProposalState = { ...planned, author };
      // The event does not have the changes, so it cannot create the document.
      await unit.put(proposalDocuments, given.id, created);
      await unit.apply(proposalDocuments, given.id, [rules.createdEvent(created)]);
    },
    result: () => undefined,
  };
  const { documents = engine } = await engine.run([change], context);
  if (isRepeated) return getProposal(engine, { proposal: given.id });
  // A new proposal has no approvals that could have lapsed.
  return toProposal(await findProposal(documents.read, given.id), engine.now());
}

type GivenProposal = Pick<ProposalState, 'id' | 'changes' | 'reason' | 'expiresAt' | 'createdAt' | 'hash'>;

/** Validates what does not depend on stored state, and copies the changes: the caller may change them afterwards. */
function readProposal(engine: ChangeEngine, proposal: NewProposal<string>, options: ProposalOptions): GivenProposal {
  const now = engine.now();
  const texts = readProposalOptions(options, now);
  const id =
    options.id === undefined ? timeOrderedId({ msecs: Math.max(0, now.getTime()) }) : readChangeSetId(options.id);
  const { changes: given } = Object(proposal) as NewProposal<string>;
  const changes = copyChanges(given);
  const hash = hashOf([changes, options.expiresAt ?? null]);
  return { id, ...texts, changes, hash, createdAt: now.toISOString() };
}

/** Plans the changes as `plan` does, so that they are refused now if they would be refused now. */
async function planProposal(engine: ChangeEngine, given: GivenProposal): Promise<Omit<ProposalState, 'author'>> {
  const bytes = Buffer.byteLength(JSON.stringify(given.changes));
  if (bytes > LIMITS.documentBytes) throw documentTooLarge({ kind: KIND, id: given.id }, bytes, undefined);
  const decided = await engine.plan(await prepareProposed(engine, given));
  const needed = await engine.gate.findNeeded(decided);
  await assertRoom(engine, bytes);
  const scope = scopeOf(given.changes as readonly ProposableChange[], decided);
  const { required = 0, environments = [], projects = [] } = needed ?? {};
  return {
    v: 1,
    state: needed ? 'open' : 'approved',
    ...given,
    ...scope,
    projects: [...new Set([...scope.projects, ...projects])],
    environments: [...new Set([...scope.environments, ...environments])],
    required,
    approvals: [],
    bytes,
    schedule: null,
    changeSet: null,
    endedAt: null,
  };
}

/** Prepares what a proposal does. New ids follow from that of the proposal, so that they are fixed when it is made. */
export async function prepareProposed<E extends SharedEngine>(
  engine: E,
  { id, changes }: Pick<GivenProposal, 'id' | 'changes'>,
): Promise<readonly PreparedChange[]> {
  const operations = PROPOSAL_OPERATIONS;
  return prepareAll(withDerivedIds(engine, id), changes as readonly ProposableChange[], { operations });
}

async function assertRoom(engine: ChangeEngine, bytes: number): Promise<void> {
  let [count, total] = [1, bytes];
  const now = engine.now();
  for await (const { summary } of listProposalSummaries(engine, OPEN)) {
    if (rules.stateAt(summary, now) === 'lapsed') continue;
    count += 1;
    total += summary.bytes;
  }
  if (count <= LIMITS.openProposals && total <= LIMITS.openProposalBytes) return;
  const message = `would be one too many: at most ${LIMITS.openProposals} proposals may be open, and ${LIMITS.openProposalBytes} bytes of changes. Apply or withdraw some`;
  throw invalidInput([{ message, path: '' }]);
}

/** Resolves to a proposal. Rejects with `proposal_not_found`. */
export async function findProposal(read: Read, id: string): Promise<Versioned<ProposalState>> {
  const found = await read(proposalDocuments, id);
  if (found) return found;
  throw proposalNotFound(id);
}

/** Returns the error for a proposal that does not exist, and for one that the caller may not read. */
export function proposalNotFound(id: string): FlagsError {
  return new FlagsError('proposal_not_found', `There is no proposal ${id}; list the proposals for existing ids.`);
}

export async function getProposal(engine: ChangeEngine, { proposal }: ProposalRef): Promise<Proposal> {
  const found = await findProposal(engine.read, proposal);
  const now = engine.now();
  if (!isOpen(rules.stateAt(found.state, now))) return toProposal(found, now);
  return toProposal(found, now, await findNeeded(engine, found.state).catch(whenRefused));
}

/**
 * Returns the approval that a proposal needs now; undefined if it needs none. Rejects if its changes would be refused.
 * Nobody's permission is asked: a reader need not be permitted to apply it.
 */
export async function findNeeded(engine: ChangeEngine, proposal: ProposalState): Promise<NeededApproval | undefined> {
  const prepared = await prepareProposed(engine, proposal);
  return engine.gate.findNeeded(await engine.writer.plan(prepared, { actor: proposal.author.name }));
}

/**
 * Returns a proposal with which of its approvals hold.
 *
 * @param needed what an open proposal would need now, or that its changes would be refused; undefined: no approval
 */
export function toProposal(
  { state: proposal, revision }: Versioned<ProposalState>,
  now: Date,
  needed?: NeededApproval | 'refused',
): Proposal {
  const listed = toListed(proposal, revision, now);
  const isCurrent = ({ digest }: StoredApproval) =>
    isOpen(listed.state) ? needed !== 'refused' && digest === (needed?.digest ?? null) : listed.state === 'applied';
  const approvals = proposal.approvals.map((one) => ({ ...withoutDigest(one), current: isCurrent(one) }));
  const required = typeof needed === 'object' ? needed.required : proposal.required;
  return { ...listed, changes: proposal.changes as Proposal['changes'], required, approvals };
}

function whenRefused(error: unknown): 'refused' {
  if (isFlagsError(error)) return 'refused';
  throw error;
}

function withoutDigest({ actor, at, reason }: StoredApproval) {
  return { actor, at, reason };
}

/** Members by name: they are part of the public API. */
function toListed(summary: ProposalSummary, revision: number, now: Date): ListedProposal {
  const { id, author, createdAt, reason, required, projects, flags, environments } = summary;
  const { expiresAt, schedule, changeSet, endedAt } = summary;
  const state = rules.stateAt(summary, now);
  const approvals = summary.approvals.map(withoutDigest);
  const subject = { author, createdAt, reason, required, approvals, projects, flags, environments };
  return { id, state, ...subject, expiresAt, schedule, changeSet, endedAt, revision };
}

/** Decides whether the caller may read a proposal. */
export type CanReadProposal = (proposal: ListedProposal) => Promise<boolean>;

export async function listProposals(
  engine: ChangeEngine,
  query: ProposalQuery = {},
  { page, canRead }: { readonly page?: PageQuery | undefined; readonly canRead?: CanReadProposal } = {},
): Promise<ListPage<ListedProposal>> {
  const selected = validateProposalQuery(query);
  const bounds = pageBounds(page);
  return takePage(select(engine, selected, { after: bounds.after, canRead }), bounds, {
    cursorOf: ({ id }) => id,
    sizeOf: (proposal) => JSON.stringify(proposal).length,
  });
}

async function* select(
  engine: ChangeEngine,
  { state, project, flag }: ProposalQuery,
  { after, canRead }: { readonly after: string | undefined; readonly canRead: CanReadProposal | undefined },
): AsyncGenerator<ListedProposal> {
  // One whose time has passed is still among the open ones.
  const parent = state === undefined || state === 'lapsed' ? undefined : isOpen(state) ? OPEN : ENDED;
  const stored = engine.memory.statesOf(flagDocuments);
  const now = engine.now();
  for await (const { summary, revision } of listProposalSummaries(engine, parent, after)) {
    const listed = toListed(summary, revision, now);
    if (state !== undefined && listed.state !== state) continue;
    if (flag !== undefined && !summary.flags.some((one) => one.flag === flag)) continue;
    const isIn = (one: string) =>
      summary.projects.includes(one) || summary.flags.some((of) => stored.get(of.flag)?.project === one);
    if (project !== undefined && !isIn(project)) continue;
    if (!canRead || (await canRead(listed))) yield listed;
  }
}

/** Reads the summaries of proposals by id, never their changes. */
export function listProposalSummaries(
  reader: Pick<DocumentReader, 'list'>,
  parent?: typeof OPEN | typeof ENDED,
  after?: string,
): AsyncGenerator<StoredSummary<ProposalSummary>> {
  return listSummaries(reader, { kind: KIND, parent, after });
}
