import { deepFreeze } from '../base/json.js';
import type { Versioned } from '../changesets/documents.js';
import { audienceOf, rolloutOf } from '../evaluation/audience.js';
import { dependenciesOf, type EnvironmentState, environmentOf, type FlagState } from '../flags/flag.js';
import type { EnvironmentOverview, FlagOverview } from '../flags/flag-search.types.js';
import type { Settings } from '../flags.js';
import { createNameOrder } from './environment-view.js';

/** A flag as lists across projects read it, from memory. */
export type IndexedFlag = Omit<FlagOverview, 'lastSeenAt'>;

/** Creates the frozen index entry of a flag, with these environments in this order. */
function toIndexedFlag(
  flag: FlagState,
  {
    revision,
    environments,
  }: { readonly revision: number; readonly environments: readonly { readonly name: string }[] },
): IndexedFlag {
  const { name, project, description, type, stale, archived, createdAt, labels, owner } = flag;
  return deepFreeze({
    name,
    project,
    description,
    type,
    stale,
    archived,
    labels,
    owner,
    revision,
    createdAt,
    environments: environments.map((environment) => toOverview(flag, environment.name)),
  });
}

function toOverview(flag: FlagState, environment: string): EnvironmentOverview {
  // Opening must not fail on a document that somebody else has written to the storage without its lists.
  const { variants = [] } = flag;
  const { name, enabled, strategies } = environmentOf(flag, environment);
  return {
    name,
    enabled,
    strategyCount: strategies.length,
    rollout: strategies.reduce((most, strategy) => Math.max(most, shareOf(strategy)), 0),
    hasVariants: variants.length > 0 || strategies.some(({ variants = [] }) => variants.length > 0),
    audience: audienceOf(strategies),
    offBecauseOf: null,
  };
}

/** Returns the percentage of users that a strategy admits; a strategy without a percentage admits all. */
function shareOf(strategy: EnvironmentState['strategies'][number]): number {
  return strategy.disabled ? 0 : (rolloutOf(strategy) ?? 100);
}

/** All flags, archived ones too, as lists across projects read them. It holds no strategies of archived flags. */
export interface FlagIndex {
  /** Applies the state of a flag at a revision; undefined after its deletion. */
  update(name: string, state: FlagState | undefined, revision: number): void;
  /** Returns a frozen list in name order (code points). Later changes create another list. */
  list(): readonly IndexedFlag[];
  /** Whether any flag that is not archived depends on another. */
  hasDependencies(): boolean;
}

/** @param findLive returns the flag that evaluation holds, unless it is archived */
export function createFlagIndex(
  { environments }: Pick<Settings, 'environments'>,
  findLive: (name: string) => Versioned<FlagState> | undefined,
): FlagIndex {
  const flags = new Map<string, IndexedFlag>();
  const dependent = new Set<string>();
  // Their entries are made for the next list, because not every change has one.
  const changed = new Set<string>();
  const order = createNameOrder(
    () => [...flags.values()],
    (name) => flags.get(name),
  );

  function enter(name: string, { state, revision }: Versioned<FlagState>): void {
    flags.set(name, toIndexedFlag(state, { revision, environments }));
  }

  return {
    update(name, state, revision) {
      dependent.delete(name);
      if (state && !state.archived) {
        changed.add(name);
        if (dependenciesOf(state).length > 0) dependent.add(name);
      } else {
        changed.delete(name);
        if (state) enter(name, { state, revision });
        else flags.delete(name);
      }
      order.changed(name);
    },
    list() {
      for (const name of changed) {
        const live = findLive(name);
        if (live) enter(name, live);
      }
      changed.clear();
      return order.list();
    },
    hasDependencies: () => dependent.size > 0,
  };
}
