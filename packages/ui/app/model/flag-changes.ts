import { isSameJson } from '@flags/core/admin';
import type { Change, FlagDetail, FlagEnvironment, FlagMembers, Strategy, Variant } from '../api/types.js';

/** The members that `updateFlag` changes. */
const MEMBERS: Readonly<Record<keyof FlagMembers, true>> = {
  description: true,
  type: true,
  stale: true,
  impressionData: true,
  owner: true,
  labels: true,
};
const MEMBER_NAMES = Object.keys(MEMBERS) as readonly (keyof FlagMembers)[];

type NewChange = Omit<Change, 'ifRevision'>;

interface Options {
  /** Whether to leave the order of strategies as it is. */
  readonly keepsOrder?: boolean;
}

/**
 * Returns the changes of an edit, with the revision that the user has seen. Equal parts are not changed, so that a
 * rollout of another strategy continues. Dependencies are not part of an edit.
 */
export function changesBetween(
  before: FlagDetail,
  edited: FlagDetail,
  revision: number,
  options: Options = {},
): readonly Change[] {
  const after = { ...edited, owner: edited.owner?.trim() || null };
  const ref = { project: before.project, flag: before.name };
  const changes: NewChange[] = [];
  const changed = MEMBER_NAMES.filter((name) => !isSameJson(before[name] ?? null, after[name] ?? null));
  if (changed.length > 0) {
    changes.push({ op: 'updateFlag', ref, input: Object.fromEntries(changed.map((name) => [name, after[name]])) });
  }
  for (const environment of after.environments) {
    const former = before.environments.find(({ name }) => name === environment.name);
    if (former !== undefined) changes.push(...environmentChanges(ref, former, environment, options));
  }
  if (!isSameJson(before.variants ?? [], after.variants ?? [])) {
    changes.push({ op: 'setVariants', ref, input: (after.variants ?? []).map(variantInput) });
  }
  // The first change increments the revision, so only this change can expect the revision that the user has seen.
  return changes.map((change, index) => (index === 0 ? { ...change, ifRevision: revision } : change));
}

interface Ref {
  readonly project: string;
  readonly flag: string;
  readonly [name: string]: string;
}

function environmentChanges(
  ref: Ref,
  before: FlagEnvironment,
  after: FlagEnvironment,
  { keepsOrder = false }: Options,
): readonly NewChange[] {
  const at = { ...ref, environment: after.name };
  if (!keepsOrder && isReordered(before, after)) {
    const strategies = after.strategies.map(({ sortOrder: _former, ...strategy }) => strategyInput(strategy));
    return [{ op: 'configureEnvironment', ref: at, input: { enabled: after.enabled, strategies } }];
  }
  const find = ({ strategies }: FlagEnvironment, id: Strategy['id']) => strategies.find((one) => one.id === id);
  const updated = after.strategies.flatMap((strategy): NewChange[] => {
    const former = find(before, strategy.id);
    const input = strategyInput(strategy);
    if (former === undefined || isSameJson(strategyInput(former), input)) return [];
    const { id: _id, ...replacement } = input;
    return [{ op: 'updateStrategy', ref: { ...at, strategy: `${strategy.id}` }, input: replacement }];
  });
  const added = after.strategies
    .filter(({ id }) => find(before, id) === undefined)
    .map(({ id: _id, sortOrder: _former, ...strategy }) => ({
      op: 'addStrategy' as const,
      ref: at,
      input: strategyInput(strategy),
    }));
  const removed = before.strategies
    .filter(({ id }) => find(after, id) === undefined)
    .map(({ id }) => ({ op: 'removeStrategy' as const, ref: { ...at, strategy: `${id}` } }));
  // Without a strategy in between, the flag would be off.
  const replaced = removed.length < before.strategies.length ? [...removed, ...added] : [...added, ...removed];
  return [
    ...(before.enabled && !after.enabled ? [{ op: 'disable' as const, ref: at }] : []),
    ...updated,
    ...replaced,
    ...(after.enabled && !before.enabled ? [{ op: 'enable' as const, ref: at }] : []),
  ];
}

/** Whether kept strategies have another order, or a new one is not the last. */
function isReordered(before: FlagEnvironment, after: FlagEnvironment): boolean {
  const former = before.strategies.map(({ id }) => id);
  const latter = after.strategies.map(({ id }) => id);
  const isKept = (id: Strategy['id']) => former.includes(id);
  const kept = former.filter((id) => latter.includes(id));
  return !isSameJson(latter.slice(0, kept.length), kept) || latter.slice(kept.length).some(isKept);
}

/** The members that callers may set: a rollout has operations of its own. */
function strategyInput({ rollout: _rollout, ...strategy }: Strategy): Omit<Strategy, 'rollout'> {
  return strategy;
}

/** Returns the state that an edit begins with. An edit does not change the progress of rollouts. */
export function editableFlag(detail: FlagDetail): FlagDetail {
  return {
    ...detail,
    // Variants that are absent merge like an empty list.
    variants: detail.variants ?? [],
    environments: detail.environments.map((one) => ({ ...one, strategies: one.strategies.map(strategyInput) })),
  };
}

function variantInput({ overrides = [], payload, ...variant }: Variant): object {
  return { ...variant, ...(payload && { payload }), ...(overrides.length > 0 && { overrides }) };
}
