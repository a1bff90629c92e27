import { compareCodePoints } from '../../base/collections.js';
import { FlagsError } from '../../base/errors.js';
import type { DecidedSet, Rules } from '../../kernel/changes/change-engine.js';
import type { GatedEffect, NeededApproval } from '../../kernel/changes/change-set.types.js';
import type { ChangeSetUnit } from '../../kernel/changes/unit-of-work.js';
import type { Engine } from '../../kernel/engine.js';
import { digestEffects, type EffectReplica, findEffects, type PlannedState } from '../environments/effects.js';
import type { FlagEffect } from '../flags/effect.decide.js';
import { type FlagEvent, isVisible } from '../flags/flag.kind.js';
import { isFreeOfApproval } from '../flags/review.js';
import {
  APPROVAL_POLICY,
  type ApprovalPolicy,
  EMPTY_POLICY,
  loweredEnvironments,
  protectedEnvironments,
} from './policy.js';
import { policyDocuments } from './policy.kind.js';
import { POLICY_KEY } from './policy.operations.js';

/** Refreshes until the replica has every visible event. A storage may hold events back for a moment. */
const REFRESHES = 5;
/** The most events beyond the position of the replica that one read returns. */
const BEYOND = 100;

interface GateEngine extends Pick<Engine, 'storage' | 'memory'> {
  readonly replica: EffectReplica;
}

/** The approval rules, which also describe the effect of a set. */
export interface DescribingGate extends Rules {
  /** Returns what a decided set does in protected environments, and the approval that it needs. */
  readonly describe: (decided: DecidedSet) => Promise<GatedEffect>;
}

/**
 * Creates the gate that every change set passes before its commit. It computes effects on the replica, so every set that
 * clients could see raises the revision of a policy that is not empty: a set that comes in between makes the commit
 * conflict.
 */
export function createApprovalGate(engine: GateEngine): DescribingGate {
  const { storage, memory } = engine;

  /** Brings the replica to a state that contains every set before the revision of the policy that was read. */
  async function refresh(): Promise<void> {
    for (let attempt = 1; attempt <= REFRESHES; attempt++) {
      const status = await memory.refresh();
      if (status.state === 'stale') throw status.error;
      if (await hasFollowed()) return;
    }
    const message = 'The storage holds back events of other changes, so their effects are not known yet; try again.';
    throw new FlagsError('storage_busy', message);
  }

  /** Whether the replica has all flags and segments of the events that are visible now. */
  async function hasFollowed(): Promise<boolean> {
    const after = memory.position();
    const range = { limit: BEYOND, withoutData: true, ...(after !== undefined && { after }) } as const;
    const { events } = await storage.events({ order: 'newest-first', ...range });
    const isMissed = events.some(({ subject, revision }) => isVisible(subject) && memory.isNewer(subject, revision));
    return !isMissed && events.length < BEYOND;
  }

  /** Returns what a set does in protected environments; undefined if it can do nothing there. */
  async function findGuarded(decided: DecidedSet): Promise<GuardedChange | undefined> {
    const { unit } = decided;
    if (!mayNeedApproval(unit)) return undefined;
    const policy = await policyOf(unit);
    const next = unit.written(policyDocuments).get(APPROVAL_POLICY);
    if (isEmpty(policy) && !next) return undefined;
    const lowered = next ? loweredEnvironments(policy, next) : {};
    const environments = protectedEnvironments(policy);
    const states = statesOf(decided);
    const steps = stepsToApprove(unit).filter(({ environment }) => environments.includes(environment));
    let found: readonly FlagEffect[] = [];
    if (environments.length > 0 && states.length > 0) {
      await refresh();
      const scope = { environments: [...environments].sort(compareCodePoints), describesPlans: true };
      found = await findEffects(engine.replica, states, scope);
    }
    const isSeen = (ref: FlagPlace) => found.some((effect) => isSamePlace(effect, ref));
    const effects = [...found, ...steps.filter((ref) => !isSeen(ref)).map(toEffect)];
    const guarded = effects.filter(
      (effect) => !isFreeOfApproval(effect) || steps.some((ref) => isSamePlace(effect, ref)),
    );
    return { policy, next, lowered, states, steps, effects, guarded };
  }

  return {
    isActive: () => !isEmpty((memory.get(POLICY_KEY)?.state ?? EMPTY_POLICY) as ApprovalPolicy),
    async enter(unit, isFirst) {
      if (!isGuarded(unit)) return;
      const known = isFirst ? memory.get(POLICY_KEY) : undefined;
      if (known && isEmpty(known.state as ApprovalPolicy)) unit.assume(POLICY_KEY, known);
      else if (!isEmpty(await policyOf(unit))) await unit.touch(policyDocuments, APPROVAL_POLICY);
    },
    async assertApproved(decided, { bypass }) {
      const change = await findGuarded(decided);
      const approval = change && approvalOf(change);
      if (!approval) return false;
      if (bypass !== undefined) return true;
      const lack = decided.approval?.({ effect: await digestOf(engine.replica, change), approval });
      if (decided.approval && lack === undefined) return false;
      throw approvalRequired(change, lack);
    },
    async findApproval(decided) {
      const change = await findGuarded(decided);
      return (change && approvalOf(change)) ?? null;
    },
    async describe(decided) {
      const change = await findGuarded(decided);
      return { effect: await digestOf(engine.replica, change), approval: (change && approvalOf(change)) ?? null };
    },
  };
}

/** What a set does in protected environments. */
interface GuardedChange {
  readonly policy: ApprovalPolicy;
  /** The policy that it sets. */
  readonly next: ApprovalPolicy | undefined;
  /** The environments that lose approvals. */
  readonly lowered: ApprovalPolicy['environments'];
  readonly states: readonly PlannedState[];
  readonly steps: readonly ApprovedStep[];
  readonly effects: readonly FlagEffect[];
  /** The effects that need approval. */
  readonly guarded: readonly FlagEffect[];
}

/** Returns the approval that a change needs; undefined if it needs none. */
function approvalOf({ policy, lowered, guarded }: GuardedChange): NeededApproval | undefined {
  const environments = new Set([...Object.keys(lowered), ...guarded.map(({ environment }) => environment)]);
  if (environments.size === 0) return undefined;
  const counts = [...environments].map((name) => policy.environments[name]?.required ?? 0);
  return { required: Math.max(...counts), environments: [...environments].sort(compareCodePoints) };
}

/** Returns the SHA-256 of the effects of a change in protected environments: that of an empty list if it has none. */
function digestOf(replica: EffectReplica, change: GuardedChange | undefined): Promise<string> {
  if (!change) return digestEffects(replica, [], []);
  const { next, lowered, states, steps, effects } = change;
  const lowers = Object.keys(lowered).length > 0;
  return digestEffects(replica, states, effects, [...steps, ...(lowers ? [{ policy: { lowered, next } }] : [])]);
}

type FlagPlace = Pick<FlagEffect, 'project' | 'flag' | 'environment'>;

function isSamePlace(one: FlagPlace, other: FlagPlace): boolean {
  return one.flag === other.flag && one.project === other.project && one.environment === other.environment;
}

/** A step of a rollout that needs approval, even if clients see no difference now. */
interface ApprovedStep extends FlagPlace {
  readonly strategy: string;
  /** The index of the step that the set reaches. */
  readonly step: number;
  readonly percentage: number | null;
}

/**
 * Returns the steps of a set that need approval: the start of a rollout, because all its steps are approved with it, and a
 * step before its hold is over.
 */
function stepsToApprove({ events }: ChangeSetUnit): readonly ApprovedStep[] {
  return events.flatMap(({ subject, project, event }) => {
    const { type, environment, data, before } = event as FlagEvent & { readonly environment?: string };
    const isStart = type === 'rollout-started';
    const isEarly = (type === 'rollout-stepped' || type === 'rollout-ended') && data.early;
    if (!(isStart || isEarly) || environment === undefined) return [];
    const place = { project: project ?? '', flag: subject.id, environment, strategy: data.strategy };
    const { step, steps } = data.rollout ?? { step: before?.rollout.steps.length ?? 0, steps: [] };
    return [{ ...place, step, percentage: steps[step]?.percentage ?? null }];
  });
}

function toEffect({ project, flag, environment }: FlagPlace): FlagEffect {
  return { project, flag, environment, before: 'on', after: 'on', changed: true };
}

/** Whether clients may see the set: now, or in later steps of a rollout. */
function isGuarded(unit: ChangeSetUnit): boolean {
  return unit.hasWritten(isVisible);
}

function mayNeedApproval(unit: ChangeSetUnit): boolean {
  return isGuarded(unit) || unit.hasWritten(({ kind }) => kind === policyDocuments.kind);
}

/** Returns the policy before the set. */
async function policyOf(unit: ChangeSetUnit): Promise<ApprovalPolicy> {
  return ((await unit.stored(POLICY_KEY))?.state as ApprovalPolicy | undefined) ?? EMPTY_POLICY;
}

function isEmpty({ environments }: ApprovalPolicy): boolean {
  return Object.keys(environments).length === 0;
}

function statesOf({ writes }: DecidedSet): readonly PlannedState[] {
  return writes
    .filter(({ write }) => isVisible(write.key) && !('touch' in write))
    .map(({ write: { key }, found, next }) => ({ ...key, before: found?.state ?? null, after: next ?? null }));
}

/**
 * The message names environments only: callers may not be allowed to read each flag.
 *
 * @param lack why a change request lacks the approval
 */
function approvalRequired(
  { lowered: policies, guarded: effects }: GuardedChange,
  lack: string | undefined,
): FlagsError {
  const lowered = Object.keys(policies);
  const environments = [...new Set([...lowered, ...effects.map(({ environment }) => environment)])];
  const message = `The change needs approval in ${environments.join(', ')}; request the change, or bypass the approval with a reason.`;
  return new FlagsError('approval_required', lack ?? message, [
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
