import { findEffects, isVisible, type PlannedState } from '../changesets/effects.js';
import type { ApprovalGate, DecidedSet } from '../changesets/engine.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import { FlagsError } from '../errors.js';
import type { FlagEffect } from '../flags/effect.decide.js';
import type { Replica } from '../replica/replica.js';
import type { FlagsStorage } from '../storage/port.js';
import { APPROVAL_POLICY, type ApprovalPolicy, EMPTY_POLICY, loweredBy, protectedBy } from './policy.js';
import { policyDocuments } from './policy.kind.js';
import { POLICY_KEY } from './policy.operations.js';

/** Refreshes until the replica has every visible event. A storage may hold events back for a moment. */
const REFRESHES = 5;
/** Events beyond the replica that one read looks through. */
const BEYOND = 100;

interface GateOptions {
  readonly storage: Pick<FlagsStorage, 'events'>;
  readonly replica: Pick<Replica, 'documents' | 'poller'>;
}

/**
 * Creates the gate that every change set passes before its commit. It computes effects on the replica, so every set that
 * clients could see raises the revision of a policy that is not empty: a set that comes in between makes the commit
 * conflict.
 */
export function createApprovalGate({ storage, replica }: GateOptions): ApprovalGate {
  const { documents, poller } = replica;

  /** Brings the replica to a state that contains every set before the revision of the policy that was read. */
  async function refresh(): Promise<void> {
    for (let attempt = 1; attempt <= REFRESHES; attempt++) {
      const status = await poller.refresh();
      if (status.state === 'stale') throw status.error;
      if (await hasFollowed()) return;
    }
    const message = 'The storage holds back events of other changes, so their effects are not known yet; try again.';
    throw new FlagsError('storage_busy', message);
  }

  /** Whether the replica has all flags and segments of the events that are visible now. */
  async function hasFollowed(): Promise<boolean> {
    const after = poller.position();
    const range = { limit: BEYOND, withoutData: true, ...(after !== undefined && { after }) } as const;
    const { events } = await storage.events({ order: 'newest-first', ...range });
    const isMissed = events.some(({ subject, revision }) => isVisible(subject) && documents.isNewer(subject, revision));
    return !isMissed && events.length < BEYOND;
  }

  async function effectsIn(environments: readonly string[], decided: DecidedSet): Promise<readonly FlagEffect[]> {
    if (environments.length === 0) return [];
    const states = statesOf(decided);
    if (states.length === 0) return [];
    await refresh();
    return (await findEffects(replica, states, environments)).filter((effect) => !isFree(effect));
  }

  return {
    isActive: () => !isEmpty((documents.get(POLICY_KEY)?.state ?? EMPTY_POLICY) as ApprovalPolicy),
    async enter(unit, isFirst) {
      if (!unit.hasWritten(isVisible)) return;
      const known = isFirst ? documents.get(POLICY_KEY) : undefined;
      if (known && isEmpty(known.state as ApprovalPolicy)) unit.assume(POLICY_KEY, known);
      else if (!isEmpty(await policyOf(unit))) await unit.touch(policyDocuments, APPROVAL_POLICY);
    },
    async assertApproved(decided, { bypass }) {
      const { unit } = decided;
      const lowersPolicy = unit.hasWritten(({ kind }) => kind === policyDocuments.kind);
      if (bypass !== undefined || (!lowersPolicy && !unit.hasWritten(isVisible))) return;
      const policy = await policyOf(unit);
      const next = unit.written(policyDocuments).get(APPROVAL_POLICY);
      const lowered = next ? Object.keys(loweredBy(policy, next)) : [];
      const effects = await effectsIn(protectedBy(policy), decided);
      if (lowered.length > 0 || effects.length > 0) throw approvalRequired(lowered, effects);
    },
  };
}

/** Returns the policy before the set. */
async function policyOf(unit: ChangeSetUnit): Promise<ApprovalPolicy> {
  return ((await unit.stored(POLICY_KEY))?.state as ApprovalPolicy | undefined) ?? EMPTY_POLICY;
}

function isEmpty(policy: ApprovalPolicy): boolean {
  return protectedBy(policy).length === 0;
}

function statesOf({ writes }: DecidedSet): readonly PlannedState[] {
  return writes
    .filter(({ write }) => isVisible(write.key) && !('touch' in write))
    .map(({ write: { key }, found, next }) => ({ ...key, before: found?.state ?? null, after: next ?? null }));
}

/** Switching a flag off needs no approval. */
function isFree({ before, after }: FlagEffect): boolean {
  return after === 'off' && before !== 'off';
}

/** The message names environments only: callers may not be allowed to read each flag. */
function approvalRequired(lowered: readonly string[], effects: readonly FlagEffect[]): FlagsError {
  const environments = [...new Set([...lowered, ...effects.map(({ environment }) => environment)])];
  const message = `The change needs approval in ${environments.join(', ')}; propose it, or bypass the approval with a reason.`;
  return new FlagsError('approval_required', message, [
    ...lowered.map((environment) => {
      return { message: `${environment} would need fewer approvals`, path: `/environments/${toPointer(environment)}` };
    }),
    ...effects.map(({ project, flag, environment, before, after }) => {
      const path = `/environments/${[environment, project, flag].map(toPointer).join('/')}`;
      return { message: `${flag} in ${project} goes from ${before} to ${after} in ${environment}`, path };
    }),
  ]);
}

function toPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
