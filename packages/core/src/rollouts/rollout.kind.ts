import { type EventDescriptions, type Kind, memberParts } from '../engine/kind.js';
import type { RolloutEvent, RolloutState, RolloutSummary } from './rollout.js';

/** The parents of rollouts: a poll reads only the open ones. */
export const [OPEN, ENDED] = ['open', 'ended'] as const;

/** A new rollout is put, because its event does not have all of it. */
function evolveRollout(rollout: RolloutState | undefined, event: RolloutEvent): RolloutState | undefined {
  return rollout && event.type !== 'rollout-started' ? { ...rollout, ...event.data } : rollout;
}

function toSummary({ v: _v, original: _original, hash: _hash, ...summary }: RolloutState) {
  return summary satisfies RolloutSummary;
}

const rolloutEvents: EventDescriptions<RolloutEvent> = {
  'rollout-started': { parts: memberParts },
  'rollout-stepped': { parts: memberParts, shrinks: true },
  'rollout-updated': { parts: memberParts, shrinks: true },
  'rollout-ended': { parts: memberParts, shrinks: true },
};

/** Without a history: an undo never restores a rollout. */
export const rolloutDocuments: Kind<RolloutState, RolloutEvent> = {
  kind: 'rollout',
  events: rolloutEvents,
  smaller: 'start it with a shorter reason and fewer steps',
  cannotUndo: 'rollouts, which cannot be undone; stop the rollout, or start another one.',
  evolve: evolveRollout,
  parentOf: ({ endedAt }) => (endedAt === null ? OPEN : ENDED),
  projectOf: ({ ref }) => ref.project,
  summarize: toSummary,
};
