import type { ReviewScope } from '@flags/core/admin';
import type { Plan } from '../api/types.js';
import { productionFirst } from './environments.js';

/** The effect of a plan on one flag in one environment. */
export type PlannedEffect = Plan['effects'][number];

/** What clients notice, as a table: each flag and each environment is named once. */
interface EffectTable {
  /** The columns: production first. */
  readonly environments: readonly string[];
  readonly rows: readonly EffectRow[];
}

interface EffectRow {
  readonly flag: string;
  /** The effects by environment. An environment in which clients notice nothing has none. */
  readonly effects: ReadonlyMap<string, PlannedEffect>;
}

/** The words for an effect in a cell. Their columns and rows name the environment and the flag. */
const WORDS: Readonly<Record<`${PlannedEffect['before']} ${PlannedEffect['after']}`, string>> = {
  'absent absent': '',
  'absent off': '',
  'absent on': 'new, on',
  'off on': 'off → on',
  'on off': 'on → off',
  'on absent': 'on → gone',
  'off absent': 'off → gone',
  'on on': 'on, changes',
  'off off': 'off, payloads change',
};

/** Describes what clients notice of one flag in one environment; empty if it is a new flag that is off. */
export function effectText({ before, after }: Pick<PlannedEffect, 'before' | 'after'>): string {
  return WORDS[`${before} ${after}`];
}

/**
 * Arranges effects by flag, in the order of their names, and by environment.
 *
 * @param changed the names of all changed flags: those without an effect have a row, too
 */
export function effectTable(
  effects: readonly PlannedEffect[],
  changed: readonly string[],
  scope: ReviewScope,
): EffectTable {
  const noticed = effects.filter((effect) => effectText(effect) !== '');
  const rows = new Map(changed.map((flag) => [flag, new Map<string, PlannedEffect>()]));
  for (const effect of noticed) {
    const row = rows.get(effect.flag) ?? new Map<string, PlannedEffect>();
    rows.set(effect.flag, row.set(effect.environment, effect));
  }
  const environments = new Set(noticed.map(({ environment }) => environment));
  return {
    environments: productionFirst(environments, scope),
    rows: [...rows.keys()].sort().map((flag) => ({ flag, effects: rows.get(flag) ?? new Map() })),
  };
}
