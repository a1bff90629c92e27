import type { DomainEvent } from '../../base/domain-event.js';
import { type ChangedPart, type EventDescriptions, type Kind, memberParts } from '../../kernel/kind.js';
import type { ApprovalPolicy } from './policy.js';

/** A new policy replaces the whole old one. */
export type ApprovalPolicyEvent = DomainEvent<'approval-policy-updated', ApprovalPolicy, ApprovalPolicy>;

const policyEvents: EventDescriptions<ApprovalPolicyEvent, never> = {
  'approval-policy-updated': { parts: (event): readonly ChangedPart[] => memberParts(event), isWhole: true },
};

/**
 * One document, without a history: an undo never restores it. It is in memory, so that a change of a flag finds an empty
 * policy without a read.
 *
 * Commits lock documents in the order of their kinds. Nearly all of them check this one, so its kind comes after those of
 * flags and segments: a storage that orders events by the first lock of their commit, as PostgreSQL, would otherwise put an
 * archived flag before a clone that had locked it first.
 */
export const policyDocuments: Kind<ApprovalPolicy, ApprovalPolicyEvent, never> = {
  kind: 'settings',
  events: policyEvents,
  smaller: 'name fewer environments',
  isInProjects: false,
  cannotUndo: 'the approval policy, which cannot be undone; set the earlier policy.',
  evolve: (_, { data }) => data,
  parentOf: () => null,
  projectOf: () => null,
  summarize: () => null,
  isInMemory: true,
};
