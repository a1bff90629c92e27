import { isSameJson } from '@flags/core/admin';
import type { Change, FlagDetail, FlagEnvironment, Strategy, Variant } from '../api/types.js';

/** Metadata that `updateFlag` changes. */
const METADATA = ['description', 'type', 'stale', 'impressionData', 'owner', 'labels'] as const;

/** Returns the changes of an edit, with the revision that the user has seen. Dependencies are not part of an edit. */
export function changesBetween(before: FlagDetail, edited: FlagDetail, revision: number): readonly Change[] {
  const after = { ...edited, owner: edited.owner?.trim() || null };
  const ref = { project: before.project, flag: before.name };
  const changes: Omit<Change, 'ifRevision'>[] = [];
  const changed = METADATA.filter((name) => !isSameJson(before[name] ?? null, after[name] ?? null));
  if (changed.length > 0) {
    changes.push({ op: 'updateFlag', ref, input: Object.fromEntries(changed.map((name) => [name, after[name]])) });
  }
  for (const environment of after.environments) {
    const former = before.environments.find(({ name }) => name === environment.name);
    if (former === undefined || isSameJson(former, environment)) continue;
    changes.push(environmentChange(ref, former, environment));
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

function environmentChange(ref: Ref, before: FlagEnvironment, after: FlagEnvironment): Omit<Change, 'ifRevision'> {
  const at = { ...ref, environment: after.name };
  if (isSameJson(before.strategies, after.strategies)) return { op: after.enabled ? 'enable' : 'disable', ref: at };
  return {
    op: 'configureEnvironment',
    ref: at,
    input: { enabled: after.enabled, strategies: after.strategies.map(strategyInput) },
  };
}

/** Omits `sortOrder`: the list is in evaluation order, and the numbers of an earlier order would contradict it. */
function strategyInput({ sortOrder: _sortOrder, ...strategy }: Strategy): object {
  return strategy;
}

function variantInput({ overrides = [], payload, ...variant }: Variant): object {
  return { ...variant, ...(payload && { payload }), ...(overrides.length > 0 && { overrides }) };
}
