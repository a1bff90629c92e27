import { type ChangedPart, type EventDescriptions, type Kind, memberParts } from '../engine/kind.js';
import { isOpen, type ProposalEvent, type ProposalState, type ProposalSummary } from './proposal.js';

/** The parents of proposals: a poll reads only the open ones. */
export const [OPEN, ENDED] = ['open', 'ended'] as const;

/** A proposal is put before its event, because the event does not have all of it. */
function evolveProposal(proposal: ProposalState | undefined, { data }: ProposalEvent): ProposalState | undefined {
  return proposal && { ...proposal, state: data.state };
}

function withoutChanges({ v: _v, changes: _changes, hash: _hash, ...summary }: ProposalState) {
  return summary satisfies ProposalSummary;
}

/** The projects do not change. */
function proposalParts(event: ProposalEvent): readonly ChangedPart[] {
  return memberParts(event, (name) => name !== 'projects');
}

const proposalEvents: EventDescriptions<ProposalEvent> = {
  'proposal-created': { parts: proposalParts, spans: true },
  'proposal-decided': { parts: proposalParts, spans: true, shrinks: true },
  'proposal-ended': { parts: proposalParts, spans: true, shrinks: true },
};

/** Without a history: an undo never restores a proposal. */
export const proposalDocuments: Kind<ProposalState, ProposalEvent> = {
  kind: 'proposal',
  events: proposalEvents,
  smaller: 'propose fewer changes at once',
  cannotUndo: 'proposals, which cannot be undone; withdraw the proposal, or make another one.',
  evolve: evolveProposal,
  parentOf: ({ state }) => (isOpen(state) ? OPEN : ENDED),
  projectOf: ({ projects }) => (projects.length === 1 ? (projects[0] ?? null) : null),
  summarize: withoutChanges,
};
